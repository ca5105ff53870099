#include "common/store/group.h"

#include <stdio.h>
#include <string.h>

#include "common/store/check.h"

static bool is_ratio(const char *text)
{
    size_t whole = strspn(text, "0123456789"), places = 0;

    if (text[whole] == '.')
        places = strspn(text + whole + 1, "0123456789");
    if (whole == 0 || whole > 6 || (text[whole] == '.' && places == 0) || places > 10)
        return false;
    return text[whole + (places != 0 ? places + 1 : 0)] == '\0';
}

enum tg_class tg_store_group_set(struct tg_db *db, const struct tg_actor *actor, const char *name,
                                 const char *ratio, struct tg_error *err)
{
    char after[64];
    struct tg_change change;
    enum tg_class class = tg_check_name("group", name, err);

    if (class != TG_OK)
        return class;
    if (!is_ratio(ratio))
        return tg_fail(err, TG_CLASS_INVALID, "invalid_ratio",
                       "a ratio is a decimal number from 0 to 999999 with at most 10 places");
    snprintf(after, sizeof after, "{\"ratio\":\"%s\"}", ratio);
    tg_change_begin(&change, db, actor, err);
    tg_change_run(&change,
                  "INSERT INTO `groups` (name, ratio) VALUES (?, ?) "
                  "ON DUPLICATE KEY UPDATE ratio = ?",
                  (struct tg_db_value[]){TG_DB_S(name), TG_DB_S(ratio), TG_DB_S(ratio)}, 3);
    tg_change_routing(&change);
    tg_change_audit(&change, &(struct tg_audit_note){.action = "group.set",
                                                     .object_type = "group",
                                                     .object_id = name,
                                                     .after_json = after});
    return tg_change_end(&change);
}
