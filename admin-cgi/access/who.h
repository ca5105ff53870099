/* who - who is asking, and what that one may do.
 *
 * The order of a decision: root may; a permission that is not in the table is refused; an explicit
 * denial of the user; an explicit grant; the role. A personal access token only narrows: its
 * owner must have the permission, and the token the scope.
 *
 * Threads  one.  Blocks  no.
 */
#ifndef TOLLGATE_ACCESS_WHO_H
#define TOLLGATE_ACCESS_WHO_H

#include "common/base/base.h"
#include "common/store/acl.h"

enum access_permission {
    ACCESS_NOBODY, /* it is not even asked who it is (style sheets) */
    ACCESS_PUBLIC, /* nobody needs to be logged in */
#define PERMISSION(id, word, role, meaning) ACCESS_##id,
#include "admin-cgi/access/permissions.def"
#undef PERMISSION
    ACCESS__COUNT
};
enum access_role { ACCESS_ROLE_NONE, ACCESS_ROLE_USER, ACCESS_ROLE_ADMIN, ACCESS_ROLE_ROOT };

struct access_who {
    int64_t user_id; /* 0: nobody */
    const char *username, *role_name, *group_name, *zone;
    enum access_role role;
    int64_t authver;
    int64_t session_id;  /* 0: no session */
    int64_t pat_id;      /* 0: no personal access token */
    const char *scopes;  /* of that token, words with one blank between */
    const struct tg_acl_grant *grants;
    size_t grant_count;
    char csrf[65]; /* token for forms, "" for a PAT */
};

const char *access_permission_word(enum access_permission permission) must_check;
const char *access_permission_meaning(enum access_permission permission) must_check;
/* The least role that has it by default. */
enum access_role access_permission_role(enum access_permission permission) must_check;
/* ACCESS__COUNT when there is none of that word. */
enum access_permission access_permission_find(const char *word) must_check non_null(1);
enum access_role access_role_of(const char *name) must_check non_null(1);

/* The order above. ACCESS_NOBODY and ACCESS_PUBLIC are always granted. */
bool access_may(const struct access_who *who, enum access_permission permission) must_check
    non_null(1);
/* Has the token the scope? True without a token. "*" asks for none; NULL is for sessions only. */
bool access_scope_ok(const struct access_who *who, const char *scope) must_check non_null(1);

#endif
