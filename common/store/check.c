#include "common/store/check.h"

#include "common/store/credential.h"

#include <stdio.h>
#include <string.h>

static enum tg_class refuse(struct tg_error *err, const char *what, const char *rule)
{
    tg_fail(err, TG_CLASS_INVALID, "invalid_name", "%s: %s", what, rule);
    if (err != NULL)
        snprintf(err->param, sizeof err->param, "%s", what);
    return TG_CLASS_INVALID;
}

enum tg_class tg_check_name(const char *what, const char *name, struct tg_error *err)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-@+";
    size_t len = strlen(name);

    if (len == 0 || len > 64 || strspn(name, allowed) != len)
        return refuse(err, what, "a name is 1 to 64 letters, digits and . _ - @ +");
    return TG_OK;
}

enum tg_class tg_check_group(const char *name, struct tg_error *err)
{
    if (strcmp(name, TG_GROUP_AUTO) == 0)
        return refuse(err, "group",
                      "no group is named \"auto\": a token's word for several of them");
    return tg_check_name("group", name, err);
}

enum tg_class tg_check_label(const char *what, const char *label, struct tg_error *err)
{
    size_t characters = 0;

    for (const char *at = label; *at != '\0'; at++) {
        if ((unsigned char)*at < 0x20 || *at == 0x7f)
            return refuse(err, what, "control characters are not allowed");
        characters += ((unsigned char)*at & 0xc0) != 0x80;
    }
    if (characters == 0 || characters > 64)
        return refuse(err, what, "1 to 64 characters");
    return TG_OK;
}

enum tg_class tg_check_model(const char *model, struct tg_error *err)
{
    size_t len = strlen(model);

    for (const char *at = model; *at != '\0'; at++)
        if (*at <= 0x20 || *at >= 0x7f || strchr(",\"'`", *at) != NULL)
            len = 0;
    if (len > 0 && len <= 191)
        return TG_OK;
    tg_fail(err, TG_CLASS_INVALID, "invalid_model",
            "a model name is 1 to 191 printable ASCII characters but blank, comma and quotes");
    if (err != NULL)
        snprintf(err->param, sizeof err->param, "model");
    return TG_CLASS_INVALID;
}

enum tg_class tg_check_loss_policy(const char *text, struct tg_error *err)
{
    static const char *const policies[] = {"", "allow", "safe", "strict"};

    for (size_t i = 0; i < TG_COUNT_OF(policies); i++)
        if (strcmp(text, policies[i]) == 0)
            return TG_OK;
    tg_fail(err, TG_CLASS_INVALID, "invalid_loss_policy", "a loss policy is allow, safe or strict");
    if (err != NULL)
        snprintf(err->param, sizeof err->param, "loss_policy");
    return TG_CLASS_INVALID;
}

enum tg_class tg_check_ratio(const char *text, struct tg_error *err)
{
    size_t whole = strspn(text, "0123456789"), places = 0;

    if (text[whole] == '.')
        places = strspn(text + whole + 1, "0123456789");
    if (whole > 0 && whole <= 6 && (text[whole] != '.' || places > 0) && places <= 10 &&
        text[whole + (places != 0 ? places + 1 : 0)] == '\0')
        return TG_OK;
    tg_fail(err, TG_CLASS_INVALID, "invalid_ratio",
            "a ratio is a decimal number from 0 to 999999 with at most 10 places");
    if (err != NULL)
        snprintf(err->param, sizeof err->param, "ratio");
    return TG_CLASS_INVALID;
}
