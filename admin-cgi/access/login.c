#include "admin-cgi/access/login.h"

#include <string.h>

#include "admin-cgi/access/slot.h"
#include "common/base/clock.h"
#include "common/store/login_attempt.h"
#include "common/store/person.h"

/* argon2id of random bytes that nobody has, with the parameters of tg_password_hash. */
static const char nobody[] =
    "$argon2id$v=19$m=65536,t=2,p=1$EXlwEjIp2NJYMsdIeeKnnQ$"
    "neT/SNKj6hyjfoBIb4LDDDqGiB132oPnBJaDOSAZ6V8";

static const int64_t window_us = INT64_C(3600000000), second_us = 1000000;

enum {
    OF_ACCOUNT_MOST = 20,
    OF_BOTH_MOST = 10,
    OF_ADDRESS_MOST = 60,
    FREE_ATTEMPTS = 5,
    WAIT_MOST_S = 60
};

static int64_t wait_us(int64_t attempts)
{
    int64_t over = attempts - FREE_ATTEMPTS;

    if (over < 0)
        return 0;
    return over >= 6 ? WAIT_MOST_S * second_us : (INT64_C(1) << over) * second_us;
}

static enum tg_class check_counts(struct web_page *page, const struct tg_login_attempt *attempt)
{
    struct tg_login_attempt_counts counts;
    enum tg_class class = tg_store_login_attempts(page->main_db, attempt, window_us, &counts,
                                                  &page->err);

    if (class != TG_OK)
        return class;
    if (counts.of_account >= OF_ACCOUNT_MOST || counts.of_both >= OF_BOTH_MOST ||
        counts.of_address >= OF_ADDRESS_MOST ||
        tg_unix_us() - counts.last_unix_us < wait_us(counts.of_account))
        return tg_fail(&page->err, TG_CLASS_LIMIT, "too_many_attempts",
                       "too many failed attempts; wait a while and try again");
    return TG_OK;
}

static enum tg_class verify(struct web_page *page, const char *password, const char *hash,
                            bool *ret)
{
    int slot;
    enum tg_class class =
        access_slot_enter(page->arena, web_templates_folder(page->site->templates), &slot,
                          &page->err);

    if (class != TG_OK)
        return class;
    *ret = tg_password_ok(password, hash);
    access_slot_leave(slot);
    return TG_OK;
}

static enum tg_class wrong(struct web_page *page)
{
    return tg_fail(&page->err, TG_CLASS_AUTH, "wrong_login", "name or password is wrong");
}

/* The failure is counted before the hash is computed, and forgotten when it was none: of many
 * that come together each sees those before it. */
static enum tg_class attempt_login(struct web_page *page, const struct tg_login_attempt *attempt,
                                   const char *password, const struct tg_person *person)
{
    bool known = person != NULL && person->password_hash != NULL, right = false;
    enum tg_class class = check_counts(page, attempt);

    if (class == TG_OK)
        class = tg_store_login_attempt_add(page->main_db, attempt, &page->err);
    if (class == TG_OK)
        class = verify(page, password, known ? person->password_hash : nobody, &right);
    if (class != TG_OK)
        return class;
    if (!known || !right || person->status != TG_STATUS_ENABLED)
        return wrong(page);
    return tg_store_login_attempt_clear(page->main_db, attempt, &page->err);
}

enum tg_class access_login(struct web_page *page, const char *username, const char *password,
                           struct tg_person **ret)
{
    const struct tg_login_attempt attempt = {username, page->request->address};
    enum tg_class class = web_main(page);

    if (class == TG_OK)
        class = tg_store_person_named(page->main_db, page->arena, username, ret, &page->err);
    return class == TG_OK ? attempt_login(page, &attempt, password, *ret) : class;
}

enum tg_class access_password_again(struct web_page *page, const char *password)
{
    const struct tg_login_attempt attempt = {page->who.username, page->request->address};
    struct tg_person *person = NULL;
    enum tg_class class = web_main(page);

    if (class == TG_OK)
        class = tg_store_person(page->main_db, page->arena, page->who.user_id, &person,
                                &page->err);
    return class == TG_OK ? attempt_login(page, &attempt, password, person) : class;
}

enum tg_class access_password_hash(struct web_page *page, const char *password,
                                   struct tg_buf *ret)
{
    int slot;
    enum tg_class class =
        access_slot_enter(page->arena, web_templates_folder(page->site->templates), &slot,
                          &page->err);

    if (class != TG_OK)
        return class;
    class = tg_password_hash(password, ret, &page->err);
    access_slot_leave(slot);
    return class;
}
