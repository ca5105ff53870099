#include "common/conf/file.h"

#include "common/base/buf.h"
#include "common/conf/guard.h"

#include <inttypes.h>
#include <libconfig.h>
#include <stdio.h>
#include <string.h>

struct reader {
    const char *path;
    tg_conf_take_fn *take;
    void *context;
};

struct where {
    char text[300];
};

static struct where where_is(const struct reader *reader, const config_setting_t *setting)
{
    const char *file = config_setting_source_file(setting);
    struct where where;

    snprintf(where.text, sizeof where.text, "%s:%u", file != NULL ? file : reader->path,
             config_setting_source_line(setting));
    return where;
}

bool tg_option_find(const char *name, size_t len, enum tg_option_id *ret)
{
    for (int i = 0; i < TG_OPTION__COUNT; i++)
        if (strlen(tg_options[i].name) == len && memcmp(tg_options[i].name, name, len) == 0) {
            *ret = (enum tg_option_id)i;
            return true;
        }
    return false;
}

/* The setting as text; false when its type is not the option's. Never through libconfig's
 * conversions: they turn 1.5 into 1. */
static bool text_of(const struct tg_option *option, const config_setting_t *setting,
                    struct tg_buf *ret)
{
    int type = config_setting_type(setting);

    switch (option->type) {
    case TG_OPTION_INT_TYPE:
        if (type == CONFIG_TYPE_INT)
            tg_buf_printf(ret, "%d", config_setting_get_int(setting));
        else if (type == CONFIG_TYPE_INT64)
            tg_buf_printf(ret, "%lld", config_setting_get_int64(setting));
        else
            return false;
        return true;
    case TG_OPTION_BOOL_TYPE:
        if (type != CONFIG_TYPE_BOOL)
            return false;
        tg_buf_str(ret, config_setting_get_bool(setting) ? "true" : "false");
        return true;
    default:
        if (type != CONFIG_TYPE_STRING)
            return false;
        tg_buf_str(ret, config_setting_get_string(setting));
        return true;
    }
}

static const char *wanted(enum tg_option_type type)
{
    return type == TG_OPTION_INT_TYPE    ? "a whole number"
           : type == TG_OPTION_BOOL_TYPE ? "true or false"
                                         : "a text in quotes";
}

static enum tg_class read_setting(const struct reader *reader, const char *section,
                                  const config_setting_t *setting, struct tg_error *err)
{
    struct where where = where_is(reader, setting);
    enum tg_class class;
    enum tg_option_id id;
    struct tg_buf text;

    tg_buf_init(&text, 0);
    tg_buf_printf(&text, "%s.%s", section, config_setting_name(setting));
    if (!tg_option_find(text.data, text.len, &id)) {
        class = tg_fail(err, TG_CLASS_CONFIG, "conf_unknown", "%s: unknown option %.100s",
                        where.text, text.data);
    } else {
        tg_buf_reset(&text);
        class = text_of(&tg_options[id], setting, &text)
                    ? reader->take(reader->context, id, tg_buf_text(&text), where.text, err)
                    : tg_fail(err, TG_CLASS_CONFIG, "conf_type", "%s: %s must be %s", where.text,
                              tg_options[id].name, wanted(tg_options[id].type));
    }
    tg_buf_done(&text);
    return class;
}

static bool is_section(const char *name)
{
    size_t len = strlen(name);

    for (int i = 0; i < TG_OPTION__COUNT; i++)
        if (strncmp(tg_options[i].name, name, len) == 0 && tg_options[i].name[len] == '.')
            return true;
    return false;
}

static enum tg_class read_section(const struct reader *reader, const config_setting_t *section,
                                  struct tg_error *err)
{
    struct where where = where_is(reader, section);
    const char *name = config_setting_name(section);
    enum tg_class class = TG_OK;

    if (!is_section(name))
        return tg_fail(err, TG_CLASS_CONFIG, "conf_unknown", "%s: unknown section %.100s",
                       where.text, name);
    if (!config_setting_is_group(section))
        return tg_fail(err, TG_CLASS_CONFIG, "conf_type", "%s: %s must be a group { ... }",
                       where.text, name);
    for (int i = 0; i < config_setting_length(section) && class == TG_OK; i++)
        class = read_setting(reader, name, config_setting_get_elem(section, (unsigned)i), err);
    return class;
}

static enum tg_class read_tree(const struct reader *reader, config_t *config, struct tg_error *err)
{
    const config_setting_t *root = config_root_setting(config);
    enum tg_class class = TG_OK;

    for (int i = 0; i < config_setting_length(root) && class == TG_OK; i++)
        class = read_section(reader, config_setting_get_elem(root, (unsigned)i), err);
    return class;
}

static void set_folder(config_t *config, const char *path)
{
    const char *slash = strrchr(path, '/');
    struct tg_buf folder;

    tg_buf_init(&folder, 0);
    tg_buf_add(&folder, path, slash != NULL ? (size_t)(slash - path) : 0);
    config_set_include_dir(config, slash == path ? "/" : slash != NULL ? folder.data : ".");
    tg_buf_done(&folder);
}

enum tg_class tg_conf_read(const char *path, tg_conf_take_fn *take, void *context,
                           struct tg_error *err)
{
    const struct reader reader = {.path = path, .take = take, .context = context};
    enum tg_class class = tg_conf_guard(path, err);
    config_t config;

    if (class != TG_OK)
        return class;
    config_init(&config);
    set_folder(&config, path);
    if (config_read_file(&config, path) == CONFIG_TRUE) {
        class = read_tree(&reader, &config, err);
    } else {
        const char *file = config_error_file(&config);

        class = tg_fail(err, TG_CLASS_CONFIG, "conf_syntax", "%.300s:%d: %.100s",
                        file != NULL ? file : path, config_error_line(&config),
                        config_error_text(&config));
    }
    config_destroy(&config);
    return class;
}
