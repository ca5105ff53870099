#include "admin-cgi/access/session.h"

#include <stdlib.h>
#include <string.h>

#include "admin-cgi/access/csrf.h"
#include "admin-cgi/web/answer.h"
#include "common/base/clock.h"
#include "common/crypto/jwt.h"
#include "common/store/acl.h"
#include "common/store/session.h"

static const char proof_cookie[] = "tg_session", refresh_cookie[] = "tg_refresh";

static const int64_t second_us = 1000000;

enum {
    PROOF_S = 15 * 60,
    IDLE_S = 30 * 60,
    LIFE_S = 12 * 60 * 60,
    GRACE_S = 30, /* requests of one page that come together */
    TOUCH_S = 60,
    SECRET_HEX = 64
};

static enum tg_class ended(struct web_page *page)
{
    return tg_fail(&page->err, TG_CLASS_AUTH, "session_ended", "the session has ended");
}

static void derive(const struct web_page *page, const char *what, uint8_t key[TG_KEY_BYTES])
{
    tg_hmac(page->site->secrets.session_key, what, strlen(what), key);
}

/* The secret behind <secret>. */
static void next_secret(const struct web_page *page, const char *secret, char ret[SECRET_HEX + 1])
{
    uint8_t key[TG_KEY_BYTES], hash[TG_HMAC_BYTES];

    derive(page, "refresh", key);
    tg_hmac(key, secret, strlen(secret), hash);
    tg_hex(hash, sizeof hash, ret);
    tg_wipe(key, sizeof key);
}

static enum tg_class set_cookies(struct web_page *page, const char *secret)
{
    struct tg_jwt claims = {.user_id = page->who.user_id,
                            .session_id = page->who.session_id,
                            .authver = page->who.authver,
                            .expires_unix_s = tg_unix_us() / second_us + PROOF_S};
    uint8_t key[TG_KEY_BYTES];
    struct tg_buf proof;
    enum tg_class class;

    tg_buf_init(&proof, 0);
    derive(page, "jwt", key);
    class = tg_jwt_make(key, &claims, &proof, &page->err);
    tg_wipe(key, sizeof key);
    if (class == TG_OK) {
        web_cookie_set(&page->head, page->request, proof_cookie, proof.data, PROOF_S);
        web_cookie_set(&page->head, page->request, refresh_cookie,
                       tg_arena_printf(page->arena, "%lld.%s", (long long)page->who.session_id,
                                       secret),
                       LIFE_S);
    }
    tg_buf_done(&proof);
    return class;
}

static void take_cookies(struct web_page *page)
{
    web_cookie_set(&page->head, page->request, proof_cookie, "", 0);
    web_cookie_set(&page->head, page->request, refresh_cookie, "", 0);
}

enum tg_class access_who_fill(struct web_page *page, const struct tg_person *person)
{
    struct tg_acl_grant *grants = NULL;
    size_t count = 0;
    enum tg_class class =
        tg_store_acl(page->main_db, page->arena, person->id, &grants, &count);

    if (class != TG_OK) {
        page->err = *tg_db_error(page->main_db);
        return class;
    }
    page->who.user_id = person->id;
    page->who.username = person->username;
    page->who.role_name = person->role;
    page->who.role = access_role_of(person->role);
    page->who.group_name = person->group_name;
    page->who.zone = person->time_zone[0] != '\0' ? person->time_zone : "UTC";
    page->who.authver = person->authver;
    page->who.grants = grants;
    page->who.grant_count = count;
    page->actor.user_id = person->id;
    page->actor.address = page->request->address;
    return TG_OK;
}

/* The rows behind a proof or a refresh token: do they still stand? *ret NULL: no. */
static enum tg_class find_session(struct web_page *page, int64_t id, struct tg_session **ret,
                                  struct tg_person **ret_person)
{
    enum tg_class class = web_main(page);
    int64_t now = tg_unix_us();

    *ret_person = NULL;
    if (class == TG_OK)
        class = tg_store_session_find(page->main_db, page->arena, id, ret, &page->err);
    if (class != TG_OK || *ret == NULL)
        return class;
    class = tg_store_person(page->main_db, page->arena, (*ret)->user_id, ret_person, &page->err);
    if (class == TG_OK &&
        (*ret_person == NULL || (*ret_person)->status != TG_STATUS_ENABLED ||
         (*ret_person)->authver != (*ret)->authver ||
         now - (*ret)->last_seen_unix_us > (int64_t)IDLE_S * second_us))
        *ret = NULL;
    return class;
}

static enum tg_class enter(struct web_page *page, const struct tg_session *session,
                           const struct tg_person *person)
{
    enum tg_class class = access_who_fill(page, person);

    if (class != TG_OK)
        return class;
    page->who.session_id = session->id;
    access_csrf_of_session(page, page->who.csrf);
    if (tg_unix_us() - session->last_seen_unix_us > TOUCH_S * second_us)
        return tg_store_session_touch(page->main_db, session->id, &page->err);
    return TG_OK;
}

/* --- The proof --- */

static enum tg_class read_proof(struct web_page *page, bool *ret_entered)
{
    const char *text = web_cookie(page->request, proof_cookie);
    struct tg_session *session = NULL;
    struct tg_person *person = NULL;
    struct tg_jwt claims;
    uint8_t key[TG_KEY_BYTES];
    bool good;
    enum tg_class class;

    if (text == NULL || *text == '\0')
        return TG_OK;
    derive(page, "jwt", key);
    good = tg_jwt_read(key, text, tg_unix_us() / second_us, &claims);
    tg_wipe(key, sizeof key);
    if (!good)
        return TG_OK;
    class = find_session(page, claims.session_id, &session, &person);
    if (class != TG_OK || session == NULL || person->id != claims.user_id ||
        person->authver != claims.authver)
        return class;
    *ret_entered = true;
    return enter(page, session, person);
}

/* --- The refresh token --- */

static bool hash_is(const char *secret, const char *hash)
{
    char hex[TG_HMAC_HEX];

    tg_sha256_hex(secret, strlen(secret), hex);
    return strlen(hash) == sizeof hex - 1 && tg_equal_constant_time(hex, hash, sizeof hex - 1);
}

static enum tg_class rotate(struct web_page *page, const struct tg_session *session,
                            const char *next)
{
    char hash[TG_HMAC_HEX];

    tg_sha256_hex(next, strlen(next), hash);
    return tg_store_session_rotate(page->main_db,
                                   &(struct tg_session_rotation){
                                       .id = session->id,
                                       .old_hash = session->refresh_hash,
                                       .new_hash = hash,
                                       .address = page->request->address},
                                   &page->err);
}

/* An old token: whoever shows it, somebody has copied it. */
static enum tg_class reused(struct web_page *page, const struct tg_session *session)
{
    const struct tg_actor actor = {session->user_id, page->request->address};
    enum tg_class class =
        tg_store_session_end(page->main_db, &actor,
                             &(struct tg_session_end){session->user_id, session->id, 0},
                             &page->err);

    take_cookies(page);
    if (class != TG_OK && class != TG_CLASS_NOT_FOUND)
        return class;
    return tg_fail(&page->err, TG_CLASS_AUTH, "session_reused",
                   "the session has ended: an old token of it was used");
}

static bool split(const char *text, int64_t *ret_id, const char **ret_secret)
{
    char *end;

    *ret_id = strtoll(text, &end, 10);
    *ret_secret = end + 1;
    return *ret_id > 0 && *end == '.' && strlen(end + 1) == SECRET_HEX;
}

static enum tg_class read_refresh(struct web_page *page, bool *ret_entered, bool again)
{
    const char *text = web_cookie(page->request, refresh_cookie), *secret;
    char next[SECRET_HEX + 1];
    struct tg_session *session = NULL;
    struct tg_person *person = NULL;
    int64_t id;
    enum tg_class class;

    if (text == NULL || !split(text, &id, &secret))
        return TG_OK;
    class = find_session(page, id, &session, &person);
    if (class != TG_OK)
        return class;
    if (session == NULL) {
        take_cookies(page);
        return ended(page);
    }
    next_secret(page, secret, next);
    if (hash_is(secret, session->refresh_hash)) {
        class = rotate(page, session, next);
        if (class == TG_CLASS_CONFLICT && !again) /* another of the same page was first */
            return read_refresh(page, ret_entered, true);
        if (class != TG_OK)
            return class;
    } else if (!hash_is(secret, session->previous_hash) || !hash_is(next, session->refresh_hash) ||
               tg_unix_us() - session->rotated_unix_us > GRACE_S * second_us) {
        return reused(page, session);
    }
    class = enter(page, session, person);
    *ret_entered = class == TG_OK;
    return class == TG_OK ? set_cookies(page, next) : class;
}

enum tg_class access_session_read(struct web_page *page)
{
    bool entered = false;
    enum tg_class class = read_proof(page, &entered);

    if (class == TG_OK && !entered)
        class = read_refresh(page, &entered, false);
    return class;
}

enum tg_class access_session_begin(struct web_page *page, const struct tg_person *person)
{
    char secret[SECRET_HEX + 1], hash[TG_HMAC_HEX];
    uint8_t bytes[SECRET_HEX / 2];
    struct tg_session_new session = {.user_id = person->id,
                                     .authver = person->authver,
                                     .refresh_hash = hash,
                                     .device = page->request->device,
                                     .address = page->request->address,
                                     .expires_unix_us =
                                         tg_unix_us() + (int64_t)LIFE_S * second_us};
    enum tg_class class;

    tg_random(bytes, sizeof bytes);
    tg_hex(bytes, sizeof bytes, secret);
    tg_sha256_hex(secret, SECRET_HEX, hash);
    class = access_who_fill(page, person);
    if (class == TG_OK)
        class = tg_store_session_add(page->main_db, &session, &page->who.session_id, &page->err);
    if (class == TG_OK) {
        access_csrf_of_session(page, page->who.csrf);
        class = set_cookies(page, secret);
    }
    tg_wipe(secret, sizeof secret);
    return class;
}

enum tg_class access_session_end(struct web_page *page)
{
    enum tg_class class = tg_store_session_end(
        page->main_db, &page->actor,
        &(struct tg_session_end){page->who.user_id, page->who.session_id, 0}, &page->err);

    take_cookies(page);
    return class == TG_CLASS_NOT_FOUND ? TG_OK : class;
}
