/* Sessions, access tokens, login attempts, grants. */
#include "tests/unit/store/console.h"

#include <stdio.h>

#include "common/base/clock.h"
#include "common/store/acl.h"
#include "common/store/login_attempt.h"
#include "common/store/pat.h"
#include "common/store/session.h"

static const int64_t hour_us = INT64_C(3600) * 1000000;
static const char first_hash[] = "11112222333344445555666677778888"
                                 "11112222333344445555666677778888";
static const char second_hash[] = "aaaabbbbccccddddeeeeffff00001111"
                                  "aaaabbbbccccddddeeeeffff00001111";

static int64_t open_session(struct house *house, int64_t user_id, int64_t life_us)
{
    const struct tg_session_new session = {.user_id = user_id,
                                           .authver = 1,
                                           .refresh_hash = first_hash,
                                           .device = "Mozilla/5.0 \xff\n(script)",
                                           .address = "192.0.2.7",
                                           .expires_unix_us = tg_unix_us() + life_us};
    int64_t id = 0;

    assert_int_equal(tg_store_session_add(house->db, &session, &id, &house->err), TG_OK);
    assert_true(id > 0);
    return id;
}

static struct tg_session *find(struct house *house, int64_t id)
{
    struct tg_session *session;

    assert_int_equal(tg_store_session_find(house->db, house->arena, id, &session, &house->err),
                     TG_OK);
    return session;
}

void a_session_is_rotated_by_the_first_who_comes(void **state)
{
    struct house *house = *state;
    int64_t id = open_session(house, house_user(house, "alice"), hour_us);
    const struct tg_session_rotation rotation = {id, first_hash, second_hash, "192.0.2.8"};
    struct tg_session *session = find(house, id);

    assert_non_null(session);
    assert_string_equal(session->refresh_hash, first_hash);
    assert_string_equal(session->previous_hash, "");
    assert_string_equal(session->device, "Mozilla/5.0 ?" "?(script)");
    assert_int_equal(session->generation, 0);
    assert_int_equal(session->rotated_unix_us, 0);
    assert_int_equal(tg_store_session_rotate(house->db, &rotation, &house->err), TG_OK);
    assert_int_equal(tg_store_session_rotate(house->db, &rotation, &house->err),
                     TG_CLASS_CONFLICT);
    assert_string_equal(house->err.code, "session_rotated");
    session = find(house, id);
    assert_string_equal(session->refresh_hash, second_hash);
    assert_string_equal(session->previous_hash, first_hash);
    assert_string_equal(session->address, "192.0.2.8");
    assert_int_equal(session->generation, 1);
    assert_true(session->rotated_unix_us > tg_unix_us() - hour_us);
    assert_int_equal(tg_store_session_touch(house->db, id, &house->err), TG_OK);
    assert_true(find(house, id)->last_seen_unix_us >= session->last_seen_unix_us);
}

void an_expired_session_is_gone(void **state)
{
    struct house *house = *state;
    int64_t user_id = house_user(house, "alice");
    int64_t id = open_session(house, user_id, -hour_us);
    const struct tg_session_rotation rotation = {id, first_hash, second_hash, ""};
    struct tg_session *list;
    size_t count;

    assert_null(find(house, id));
    assert_int_equal(tg_store_session_rotate(house->db, &rotation, &house->err),
                     TG_CLASS_CONFLICT);
    assert_int_equal(tg_store_sessions(house->db, house->arena, user_id, &list, &count), TG_OK);
    assert_int_equal(count, 0);
    open_session(house, user_id, hour_us); /* takes the old row away */
    assert_int_equal(test_number(house->db, "SELECT COUNT(*) FROM console_sessions"), 1);
}

static size_t session_count(struct house *house, int64_t user_id)
{
    struct tg_session *list;
    size_t count;

    assert_int_equal(tg_store_sessions(house->db, house->arena, user_id, &list, &count), TG_OK);
    return count;
}

void sessions_are_ended_one_by_one_and_together(void **state)
{
    struct house *house = *state;
    int64_t alice = house_user(house, "alice"), bob = house_user(house, "bob");
    int64_t first = open_session(house, alice, hour_us), keep = open_session(house, alice, hour_us);
    struct tg_session_end end = {.user_id = bob, .id = first};

    open_session(house, alice, hour_us);
    open_session(house, bob, hour_us);
    /* nobody ends somebody else's */
    assert_int_equal(tg_store_session_end(house->db, &house->actor, &end, &house->err),
                     TG_CLASS_NOT_FOUND);
    assert_int_equal(session_count(house, alice), 3);
    end.user_id = alice;
    assert_int_equal(tg_store_session_end(house->db, &house->actor, &end, &house->err), TG_OK);
    assert_int_equal(session_count(house, alice), 2);
    end = (struct tg_session_end){.user_id = alice, .but_id = keep};
    assert_int_equal(tg_store_session_end(house->db, &house->actor, &end, &house->err), TG_OK);
    assert_int_equal(session_count(house, alice), 1);
    assert_non_null(find(house, keep));
    end.but_id = 0;
    assert_int_equal(tg_store_session_end(house->db, &house->actor, &end, &house->err), TG_OK);
    assert_int_equal(session_count(house, alice), 0);
    assert_int_equal(session_count(house, bob), 1);
    assert_int_equal(
        test_number(house->db, "SELECT COUNT(*) FROM audit_log WHERE action = 'session.end'"), 3);
}

static int64_t make_pat(struct house *house, int64_t user_id, int64_t expires_unix_us)
{
    const struct tg_pat_new pat = {.user_id = user_id,
                                   .authver = 3,
                                   .name = "deploy",
                                   .scopes = "users:read tokens:write",
                                   .fingerprint = first_hash,
                                   .hint = "wxyz",
                                   .expires_unix_us = expires_unix_us};
    int64_t id = 0;

    assert_int_equal(tg_store_pat_add(house->db, &house->actor, &pat, &id, &house->err), TG_OK);
    return id;
}

static struct tg_pat *find_pat(struct house *house)
{
    struct tg_pat *pat;

    assert_int_equal(
        tg_store_pat_find(house->db, house->arena, first_hash, &pat, &house->err), TG_OK);
    return pat;
}

void a_pat_works_until_it_is_revoked(void **state)
{
    struct house *house = *state;
    int64_t alice = house_user(house, "alice"), bob = house_user(house, "bob");
    int64_t id = make_pat(house, alice, 0);
    struct tg_pat *pat = find_pat(house), *list;
    size_t count;

    assert_int_equal(pat->user_id, alice);
    assert_int_equal(pat->authver, 3);
    assert_string_equal(pat->scopes, "users:read tokens:write");
    assert_int_equal(pat->last_used_unix_us, 0);
    assert_int_equal(tg_store_pat_touch(house->db, id, "192.0.2.7", &house->err), TG_OK);
    assert_true(find_pat(house)->last_used_unix_us > 0);
    assert_string_equal(find_pat(house)->last_address, "192.0.2.7");
    assert_int_equal(tg_store_pat_revoke(house->db, &house->actor, bob, id, &house->err),
                     TG_CLASS_NOT_FOUND);
    assert_non_null(find_pat(house));
    assert_int_equal(tg_store_pat_revoke(house->db, &house->actor, alice, id, &house->err), TG_OK);
    assert_null(find_pat(house));
    assert_int_equal(tg_store_pats(house->db, house->arena, alice, &list, &count), TG_OK);
    assert_int_equal(count, 0);
    assert_int_equal(test_number(house->db, "SELECT COUNT(*) FROM audit_log WHERE after_json LIKE "
                                            "'%1111222233334444%'"),
                     0);
}

void an_expired_pat_does_not_work(void **state)
{
    struct house *house = *state;

    make_pat(house, house_user(house, "alice"), tg_unix_us() - hour_us);
    assert_null(find_pat(house));
}

void scopes_are_plain_words(void **state)
{
    static const char *const bad[] = {"", " a", "a ", "a  b", "A", "a,b", "a\nb"};
    struct house *house = *state;
    struct tg_pat_new pat = {.user_id = 1, .name = "x", .fingerprint = first_hash, .hint = ""};
    int64_t id;

    for (size_t i = 0; i < TG_COUNT_OF(bad); i++) {
        pat.scopes = bad[i];
        assert_int_equal(tg_store_pat_add(house->db, &house->actor, &pat, &id, &house->err),
                         TG_CLASS_INVALID);
        assert_string_equal(house->err.code, "invalid_scopes");
    }
}

void attempts_are_counted_by_account_and_address(void **state)
{
    static const struct tg_login_attempt made[] = {
        {"alice", "192.0.2.1"}, {"Alice", "192.0.2.2"}, {"bob", "192.0.2.1"}, {"al\xff", "::1"}};
    struct house *house = *state;
    struct tg_login_attempt_counts counts;

    for (size_t i = 0; i < TG_COUNT_OF(made); i++)
        assert_int_equal(tg_store_login_attempt_add(house->db, &made[i], &house->err), TG_OK);
    assert_int_equal(
        tg_store_login_attempts(house->db, &made[0], hour_us, &counts, &house->err), TG_OK);
    assert_int_equal(counts.of_account, 2);
    assert_int_equal(counts.of_address, 2);
    assert_int_equal(counts.of_both, 1);
    assert_true(counts.last_unix_us > tg_unix_us() - hour_us);
    test_mariadb_sql(house->server, "main",
                     "UPDATE login_attempts SET at = NOW(6) - INTERVAL 2 HOUR WHERE "
                     "address = '192.0.2.2'");
    assert_int_equal(
        tg_store_login_attempts(house->db, &made[0], hour_us, &counts, &house->err), TG_OK);
    assert_int_equal(counts.of_account, 1);
    assert_int_equal(tg_store_login_attempt_clear(house->db, &made[0], &house->err), TG_OK);
    assert_int_equal(
        tg_store_login_attempts(house->db, &made[0], hour_us, &counts, &house->err), TG_OK);
    assert_int_equal(counts.of_account, 0);
    assert_int_equal(counts.of_address, 1); /* bob's */
    test_mariadb_sql(house->server, "main",
                     "UPDATE login_attempts SET at = NOW(6) - INTERVAL 2 DAY");
    assert_int_equal(tg_store_login_attempt_add(house->db, &made[0], &house->err), TG_OK);
    assert_int_equal(test_number(house->db, "SELECT COUNT(*) FROM login_attempts"), 1);
}

void grants_are_set_and_taken_away(void **state)
{
    struct house *house = *state;
    int64_t alice = house_user(house, "alice");
    struct tg_acl_grant grant = {"users:write", TG_ACL_DENY}, *list;
    size_t count;

    assert_int_equal(tg_store_acl_set(house->db, &house->actor, alice, &grant, &house->err), TG_OK);
    grant.effect = TG_ACL_ALLOW;
    assert_int_equal(tg_store_acl_set(house->db, &house->actor, alice, &grant, &house->err), TG_OK);
    assert_int_equal(tg_store_acl(house->db, house->arena, alice, &list, &count), TG_OK);
    assert_int_equal(count, 1);
    assert_string_equal(list[0].permission, "users:write");
    assert_int_equal(list[0].effect, TG_ACL_ALLOW);
    /* a word of a newer version denies */
    test_mariadb_sql(house->server, "main", "UPDATE acl_grants SET effect = 'maybe'");
    assert_int_equal(tg_store_acl(house->db, house->arena, alice, &list, &count), TG_OK);
    assert_int_equal(list[0].effect, TG_ACL_DENY);
    grant.effect = TG_ACL_NONE;
    assert_int_equal(tg_store_acl_set(house->db, &house->actor, alice, &grant, &house->err), TG_OK);
    assert_int_equal(tg_store_acl(house->db, house->arena, alice, &list, &count), TG_OK);
    assert_int_equal(count, 0);
    assert_int_equal(tg_store_acl_set(house->db, &house->actor, alice + 1, &grant, &house->err),
                     TG_CLASS_NOT_FOUND);
    grant.permission = "Users Write";
    assert_int_equal(tg_store_acl_set(house->db, &house->actor, alice, &grant, &house->err),
                     TG_CLASS_INVALID);
}
