/* person - what the pages of users and of one's own account share.
 *
 * Threads  one.  Blocks  on the stores.
 */
#ifndef TOLLGATE_PAGES_PERSON_H
#define TOLLGATE_PAGES_PERSON_H

#include "admin-cgi/web/page.h"

enum { PAGE_PASSWORD_LEAST = 10, PAGE_PASSWORD_MOST = 256 };

/* TG_CLASS_NOT_FOUND "user_not_found" when there is none. */
enum tg_class page_person_find(struct web_page *page, int64_t id, struct tg_person **ret)
    must_check non_null(1, 3);
/* The members of a user, into the document. */
void page_person_write(struct web_page *page, const struct tg_person *person) non_null(1, 2);
/* A moment as RFC 3339, null for 0. */
void page_put_time(struct tg_json_writer *out, const char *key, int64_t unix_us) non_null(1, 2);
/* Makes the change and says "pushed". */
enum tg_class page_person_change(struct web_page *page, const struct tg_person_change *wish)
    must_check non_null(1, 2);
/* Hashes the field "password" and puts it into the change. Owns: the arena. */
enum tg_class page_password_hash(struct web_page *page, const char *password, const char **ret)
    must_check non_null(1, 2, 3);
/* Choices of a field: the groups there are. */
enum tg_class page_put_groups(struct web_page *page, const char *name) must_check non_null(1, 2);

#endif
