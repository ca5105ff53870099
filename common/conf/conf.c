#include "common/conf/conf.h"

#include "common/base/arena.h"
#include "common/base/memory.h"
#include "common/conf/file.h"
#include "common/conf/value.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct value {
    const char *text;
    int64_t number;
    enum tg_conf_source source;
};

struct tg_conf {
    struct tg_arena *arena;
    struct value values[TG_OPTION__COUNT];
    enum tg_conf_source source; /* that is being read */
};

const char *tg_conf_default_path(void)
{
    const char *path = getenv("TOLLGATE_CONF");

    return path != NULL && *path != '\0' ? path : TG_SYSCONFDIR "/tollgate/tollgate.conf";
}

/* A tg_conf_take_fn. The value is not repeated in messages: it may be anything. */
static enum tg_class take(void *context, enum tg_option_id id, const char *text, const char *where,
                          struct tg_error *err)
{
    struct tg_conf *conf = context;
    char why[TG_VALUE_WHY];
    int64_t number;

    if (!tg_option_value(id, text, &number, why))
        return tg_fail(err, TG_CLASS_CONFIG, "conf_value", "%s: %s %s", where, tg_options[id].name,
                       why);
    conf->values[id] = (struct value){.text = tg_arena_strdup(conf->arena, text),
                                      .number = number,
                                      .source = conf->source};
    return TG_OK;
}

static void take_defaults(struct tg_conf *conf)
{
    struct tg_error err;

    conf->source = TG_CONF_FROM_DEFAULT;
    for (int i = 0; i < TG_OPTION__COUNT; i++)
        tg_assert(take(conf, (enum tg_option_id)i, tg_options[i].fallback, "default", &err) ==
                  TG_OK);
}

static enum tg_class take_environment(struct tg_conf *conf, struct tg_error *err)
{
    enum tg_class class = TG_OK;
    char name[80];

    conf->source = TG_CONF_FROM_ENVIRONMENT;
    for (int i = 0; i < TG_OPTION__COUNT && class == TG_OK; i++) {
        const char *text;

        snprintf(name, sizeof name, "TOLLGATE_%s", tg_options[i].name);
        for (char *at = name; *at != '\0'; at++)
            *at = *at == '.' ? '_' : (char)toupper((unsigned char)*at);
        text = getenv(name);
        if (text != NULL)
            class = take(conf, (enum tg_option_id)i, text, name, err);
    }
    return class;
}

static enum tg_class find_overlaid(const struct tg_conf_overlay *overlay, enum tg_option_id *ret,
                                   struct tg_error *err)
{
    if (!tg_option_find(overlay->name, strlen(overlay->name), ret))
        return tg_fail(err, TG_CLASS_CONFIG, "conf_unknown", "options table: unknown option %.100s",
                       overlay->name);
    if ((tg_options[*ret].flags & TG_OPTION_DATABASE) == 0)
        return tg_fail(err, TG_CLASS_CONFIG, "conf_unknown",
                       "options table: %s is set in the conf file only", tg_options[*ret].name);
    return TG_OK;
}

enum tg_class tg_conf_check_overlay(const struct tg_conf_overlay *overlay, struct tg_error *err)
{
    char why[TG_VALUE_WHY];
    enum tg_option_id id;
    int64_t number;
    enum tg_class class = find_overlaid(overlay, &id, err);

    if (class == TG_OK && !tg_option_value(id, overlay->value, &number, why))
        class = tg_fail(err, TG_CLASS_CONFIG, "conf_value", "options table: %s %s",
                        tg_options[id].name, why);
    return class;
}

static enum tg_class take_overlay(struct tg_conf *conf, const struct tg_conf_overlay *overlay,
                                  size_t count, struct tg_error *err)
{
    enum tg_class class = TG_OK;
    enum tg_option_id id;

    conf->source = TG_CONF_FROM_DATABASE;
    for (size_t i = 0; i < count && class == TG_OK; i++) {
        class = find_overlaid(&overlay[i], &id, err);
        if (class == TG_OK)
            class = take(conf, id, overlay[i].value, "options table", err);
    }
    return class;
}

/* A deposit that is renewed later than it ends would lapse in every long request. */
static enum tg_class check_together(const struct tg_conf *conf, struct tg_error *err)
{
    if (tg_conf_int(conf, TG_OPTION_HOLD_RENEW) < tg_conf_int(conf, TG_OPTION_HOLD_LEASE))
        return TG_OK;
    return tg_fail(err, TG_CLASS_CONFIG, "conf_value",
                   "hold.renew must be shorter than hold.lease");
}

enum tg_class tg_conf_load(const char *path, const struct tg_conf_overlay *overlay, size_t count,
                           struct tg_conf **ret, struct tg_error *err)
{
    struct tg_conf *conf = tg_calloc(1, sizeof *conf);
    enum tg_class class;

    conf->arena = tg_arena_new();
    take_defaults(conf);
    class = take_environment(conf, err);
    conf->source = TG_CONF_FROM_FILE;
    if (class == TG_OK)
        class = tg_conf_read(path, take, conf, err);
    if (class == TG_OK)
        class = take_overlay(conf, overlay, count, err);
    if (class == TG_OK)
        class = check_together(conf, err);
    if (class == TG_OK)
        *ret = conf;
    else
        tg_conf_free(conf);
    return class;
}

void tg_conf_free(struct tg_conf *conf)
{
    if (conf == NULL)
        return;
    tg_arena_free(conf->arena);
    free(conf);
}

static bool has_number(enum tg_option_type type)
{
    return type == TG_OPTION_INT_TYPE || type == TG_OPTION_DURATION_TYPE ||
           type == TG_OPTION_SIZE_TYPE || type == TG_OPTION_USD_TYPE;
}

const char *tg_conf_text(const struct tg_conf *conf, enum tg_option_id id)
{
    tg_assert(!has_number(tg_options[id].type) && tg_options[id].type != TG_OPTION_BOOL_TYPE);
    return conf->values[id].text;
}

int64_t tg_conf_int(const struct tg_conf *conf, enum tg_option_id id)
{
    tg_assert(has_number(tg_options[id].type));
    return conf->values[id].number;
}

bool tg_conf_bool(const struct tg_conf *conf, enum tg_option_id id)
{
    tg_assert(tg_options[id].type == TG_OPTION_BOOL_TYPE);
    return conf->values[id].number != 0;
}

enum tg_conf_source tg_conf_source(const struct tg_conf *conf, enum tg_option_id id)
{
    return conf->values[id].source;
}

const char *tg_conf_shown(const struct tg_conf *conf, enum tg_option_id id)
{
    return conf->values[id].text;
}
