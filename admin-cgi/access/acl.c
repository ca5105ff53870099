#include "admin-cgi/access/who.h"

#include <string.h>

static const struct permission {
    const char *word;
    enum access_role role;
    const char *meaning;
} permissions[ACCESS__COUNT] = {
    [ACCESS_NOBODY] = {"", ACCESS_ROLE_NONE, ""},
    [ACCESS_PUBLIC] = {"", ACCESS_ROLE_NONE, ""},
#define PERMISSION(id, word, role, meaning) [ACCESS_##id] = {word, ACCESS_ROLE_##role, meaning},
#include "admin-cgi/access/permissions.def"
#undef PERMISSION
};

const char *access_permission_word(enum access_permission permission)
{
    return permissions[permission].word;
}

const char *access_permission_meaning(enum access_permission permission)
{
    return permissions[permission].meaning;
}

enum access_role access_permission_role(enum access_permission permission)
{
    return permissions[permission].role;
}

enum access_permission access_permission_find(const char *word)
{
    for (size_t i = ACCESS_PUBLIC + 1; i < ACCESS__COUNT; i++)
        if (strcmp(permissions[i].word, word) == 0)
            return (enum access_permission)i;
    return ACCESS__COUNT;
}

enum access_role access_role_of(const char *name)
{
    return strcmp(name, "root") == 0    ? ACCESS_ROLE_ROOT
           : strcmp(name, "admin") == 0 ? ACCESS_ROLE_ADMIN
           : strcmp(name, "user") == 0  ? ACCESS_ROLE_USER
                                        : ACCESS_ROLE_NONE;
}

/* A denial counts for more than a grant of the same permission. */
static enum tg_acl_effect effect_of(const struct access_who *who, const char *word)
{
    enum tg_acl_effect effect = TG_ACL_NONE;

    for (size_t i = 0; i < who->grant_count; i++) {
        if (strcmp(who->grants[i].permission, word) != 0)
            continue;
        if (who->grants[i].effect == TG_ACL_DENY)
            return TG_ACL_DENY;
        effect = who->grants[i].effect;
    }
    return effect;
}

bool access_may(const struct access_who *who, enum access_permission permission)
{
    if (permission == ACCESS_NOBODY || permission == ACCESS_PUBLIC)
        return true;
    if (who->user_id == 0 || who->role == ACCESS_ROLE_NONE)
        return false;
    if (who->role == ACCESS_ROLE_ROOT)
        return true;
    if ((int)permission < 0 || permission >= ACCESS__COUNT)
        return false;
    switch (effect_of(who, permissions[permission].word)) {
    case TG_ACL_DENY:
        return false;
    case TG_ACL_ALLOW:
        return true;
    case TG_ACL_NONE:
        break;
    }
    return who->role >= permissions[permission].role;
}

bool access_scope_ok(const struct access_who *who, const char *scope)
{
    const char *at = who->scopes;
    size_t len;

    if (who->pat_id == 0)
        return true;
    if (scope == NULL || *scope == '\0')
        return false;
    if (strcmp(scope, "*") == 0)
        return true;
    for (; at != NULL && *at != '\0'; at += len + (at[len] == ' ')) {
        len = strcspn(at, " ");
        if (strlen(scope) == len && memcmp(scope, at, len) == 0)
            return true;
    }
    return false;
}
