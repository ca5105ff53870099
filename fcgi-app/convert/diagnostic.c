#include "fcgi-app/convert/diagnostic.h"

#include <stdio.h>
#include <string.h>

static const char *const severity_names[] = {"info", "warn", "error", "fatal"};
static const char *const policy_names[TG_LOSS__COUNT] = {"allow", "safe", "strict"};

const char *tg_severity_name(enum tg_severity severity)
{
    return severity_names[severity];
}

const char *tg_loss_policy_name(enum tg_loss_policy policy)
{
    return policy_names[policy];
}

bool tg_loss_policy_parse(const char *text, enum tg_loss_policy *ret)
{
    for (int i = 0; i < TG_LOSS__COUNT; i++)
        if (strcmp(text, policy_names[i]) == 0) {
            *ret = (enum tg_loss_policy)i;
            return true;
        }
    return false;
}

static bool is_known(const struct tg_diagnostics *list, const char *code, const char *path)
{
    for (size_t i = 0; i < list->kept_count; i++)
        if (strcmp(list->kept[i].code, code) == 0 && strcmp(list->kept[i].path, path) == 0)
            return true;
    return false;
}

/* NULL: the list is full of what is as bad or worse. */
static struct tg_diagnostic *place_for(struct tg_diagnostics *list, enum tg_severity severity)
{
    if (list->kept_count < TG_DIAGNOSTICS_KEPT)
        return &list->kept[list->kept_count++];
    for (size_t i = 0; i < TG_DIAGNOSTICS_KEPT; i++)
        if (list->kept[i].severity < severity)
            return &list->kept[i];
    return NULL;
}

void tg_diagnose(struct tg_diagnostics *list, enum tg_severity severity, const char *code,
                 const char *path, const char *detail)
{
    char short_path[TG_DIAGNOSTIC_PATH];
    struct tg_diagnostic *place;

    snprintf(short_path, sizeof short_path, "%s", path);
    if (is_known(list, code, short_path))
        return;
    list->count++;
    place = place_for(list, severity);
    if (place == NULL)
        return;
    place->code = code;
    place->severity = severity;
    memcpy(place->path, short_path, sizeof short_path);
    snprintf(place->detail, sizeof place->detail, "%s", detail);
}

static bool is_refused(const struct tg_diagnostic *diagnostic, enum tg_loss_policy policy)
{
    static const enum tg_severity from[TG_LOSS__COUNT] = {
        [TG_LOSS_ALLOW] = TG_SEVERITY_FATAL,
        [TG_LOSS_SAFE] = TG_SEVERITY_ERROR,
        [TG_LOSS_STRICT] = TG_SEVERITY_WARN,
    };

    return diagnostic->severity >= from[policy] ||
           (policy == TG_LOSS_STRICT && strcmp(diagnostic->code, "PARAM_UNKNOWN") == 0);
}

const struct tg_diagnostic *tg_diagnostics_refused(const struct tg_diagnostics *list,
                                                   enum tg_loss_policy policy)
{
    for (size_t i = 0; i < list->kept_count; i++)
        if (is_refused(&list->kept[i], policy))
            return &list->kept[i];
    return NULL;
}

void tg_diagnose_key(struct tg_diagnostics *list, const struct tg_known_keys *keys,
                     const char *key)
{
    for (size_t i = 0; i < keys->lost_count; i++)
        if (strcmp(keys->lost[i].key, key) == 0) {
            tg_diagnose(list, keys->lost[i].severity, keys->lost[i].code, key, "");
            return;
        }
    for (size_t i = 0; i < keys->known_count; i++)
        if (strcmp(keys->known[i], key) == 0)
            return;
    tg_diagnose(list, TG_SEVERITY_INFO, "PARAM_UNKNOWN", key, "");
}

enum tg_class tg_diagnostics_check(const struct tg_diagnostics *list, enum tg_loss_policy policy,
                                   struct tg_error *err)
{
    const struct tg_diagnostic *refused = tg_diagnostics_refused(list, policy);
    const char *why;

    if (refused == NULL)
        return TG_OK;
    why = refused->detail[0] != '\0' ? refused->detail : refused->code;
    if (refused->severity == TG_SEVERITY_FATAL)
        tg_fail(err, TG_CLASS_INVALID, "invalid_request", "%s: %s", refused->path, why);
    else
        tg_fail(err, TG_CLASS_INVALID, "conversion_loss",
                "%s: %s (%s, not representable on the selected upstream)", refused->path, why,
                refused->code);
    if (err != NULL)
        snprintf(err->param, sizeof err->param, "%.*s", (int)sizeof err->param - 1, refused->path);
    return TG_CLASS_INVALID;
}

void tg_diagnostics_write(const struct tg_diagnostics *list, struct tg_json_writer *out)
{
    tg_json_begin_array(out);
    for (size_t i = 0; i < list->kept_count; i++) {
        const struct tg_diagnostic *one = &list->kept[i];

        tg_json_begin_object(out);
        tg_json_put_str(out, "code", one->code);
        tg_json_put_str(out, "severity", tg_severity_name(one->severity));
        tg_json_put_str(out, "path", one->path);
        if (one->detail[0] != '\0')
            tg_json_put_str(out, "detail", one->detail);
        tg_json_end_object(out);
    }
    tg_json_end_array(out);
}
