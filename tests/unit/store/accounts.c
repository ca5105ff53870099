/* Users, tokens, credits, balances, options. */
#include "tests/unit/store/house.h"

#include <stdio.h>

#include "common/base/money.h"
#include "common/store/balance.h"
#include "common/store/credential.h"
#include "common/store/credit.h"
#include "common/store/option.h"
#include "common/store/token.h"
#include "common/store/user.h"

static const char fingerprint[] =
    "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

void users_have_one_name_whatever_its_case(void **state)
{
    struct house *house = *state;
    const struct tg_user_new again = {.username = "ALICE", .role = "user", .group_name = "default"};
    int64_t id = house_user(house, "alice"), found = 0;

    assert_int_equal(tg_store_user_add(house->db, &house->actor, &again, &found, &house->err),
                     TG_CLASS_CONFLICT);
    assert_string_equal(house->err.code, "user_exists");
    assert_int_equal(tg_store_user_id(house->db, "alice", &found, &house->err), TG_OK);
    assert_int_equal(found, id);
    assert_int_equal(tg_store_user_id(house->db, "bob", &found, &house->err), TG_CLASS_NOT_FOUND);
    assert_string_equal(house->err.code, "user_not_found");
}

void bad_users_leave_nothing_behind(void **state)
{
    static const struct {
        struct tg_user_new user;
        const char *code;
    } cases[] = {
        {{"", "user", "default", NULL}, "invalid_name"},
        {{"a b", "user", "default", NULL}, "invalid_name"},
        {{"a'b", "user", "default", NULL}, "invalid_name"},
        {{"alice", "king", "default", NULL}, "invalid_role"},
        {{"alice", "user", "nowhere", NULL}, "group_not_found"},
    };
    struct house *house = *state;
    int64_t id = -7;

    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        assert_int_not_equal(
            tg_store_user_add(house->db, &house->actor, &cases[i].user, &id, &house->err), TG_OK);
        assert_string_equal(house->err.code, cases[i].code);
    }
    assert_int_equal(id, -7);
    assert_int_equal(test_number(house->db, "SELECT COUNT(*) FROM users"), 0);
    assert_int_equal(test_number(house->db, "SELECT COUNT(*) FROM audit_log"), 0);
}

static int64_t add_token(struct house *house, const struct tg_token_new *token)
{
    int64_t id = 0;
    enum tg_class class =
        tg_store_token_add(house->db, &house->actor, token, &id, &house->err);

    assert_string_equal(class == TG_OK ? "" : house->err.message, "");
    return id;
}

static struct tg_token_new plain_token(int64_t user_id)
{
    return (struct tg_token_new){.user_id = user_id,
                                 .name = "default",
                                 .group_name = "",
                                 .key_hmac = fingerprint,
                                 .hint = "wxyz",
                                 .unlimited = true};
}

static struct tg_credential *credential(struct house *house, const char *hmac)
{
    struct tg_credential *got = NULL;

    assert_int_equal(tg_store_credential(house->db, house->arena, hmac, &got, &house->err), TG_OK);
    return got;
}

void a_token_is_found_by_its_fingerprint(void **state)
{
    static const char *const models[] = {"gpt-a", "claude-opus-4-8[1m]"};
    static const char *const addresses[] = {"10.0.0.0/8", "::1"};
    struct house *house = *state;
    int64_t user_id = house_user(house, "alice");
    struct tg_token_new token = plain_token(user_id);
    struct tg_credential *got;
    struct tg_address inside, outside;
    int64_t id;

    token.unlimited = false;
    token.remain_quota = 12;
    token.group_name = "vip";
    token.expires_unix_us = INT64_C(1801353600123456);
    token.models = models;
    token.model_count = 2;
    token.addresses = addresses;
    token.address_count = 2;
    assert_int_equal(tg_store_token_add(house->db, &house->actor, &token, &id, &house->err),
                     TG_CLASS_FORBIDDEN);
    assert_string_equal(house->err.code, "group_not_allowed");
    test_mariadb_sql(house->server, "main",
                     "INSERT INTO group_access (user_group, used_group, allowed) VALUES "
                     "('default', 'vip', 1)");
    id = add_token(house, &token);
    got = credential(house, fingerprint);
    assert_non_null(got);
    assert_int_equal(got->token_id, id);
    assert_int_equal(got->user_id, user_id);
    assert_int_equal(got->token_status, TG_STATUS_ENABLED);
    assert_int_equal(got->user_status, TG_STATUS_ENABLED);
    assert_false(got->user_is_admin);
    assert_false(got->unlimited);
    assert_true(got->expires_unix_us == token.expires_unix_us);
    assert_string_equal(got->user_group, "default");
    assert_string_equal(got->group_name, "vip");
    assert_int_equal(got->authver, 1);
    assert_true(got->models_limited);
    assert_int_equal(got->model_count, 2);
    assert_string_equal(got->models[1], "claude-opus-4-8[1m]");
    assert_int_equal(got->address_count, 2);
    assert_true(tg_address_parse("10.1.2.3", &inside));
    assert_true(tg_address_parse("11.1.2.3", &outside));
    assert_true(tg_cidrs_match(got->addresses, 2, &inside));
    assert_false(tg_cidrs_match(got->addresses, 2, &outside));
    assert_int_equal(test_number(house->db, "SELECT remain_quota FROM tokens"), 12);
}

void a_token_without_limits_allows_all(void **state)
{
    struct house *house = *state;
    struct tg_token_new token = plain_token(house_user(house, "alice"));
    struct tg_credential *got;
    char other[sizeof fingerprint];

    add_token(house, &token);
    got = credential(house, fingerprint);
    assert_false(got->models_limited);
    assert_int_equal(got->address_count, 0);
    assert_int_equal(got->expires_unix_us, 0);
    assert_true(got->unlimited);
    assert_string_equal(got->group_name, "");
    memcpy(other, fingerprint, sizeof other);
    other[63] = '0';
    assert_null(credential(house, other));

    /* an empty list allows nothing, which is not the same as no list */
    token.models = (const char *const[]){NULL};
    token.key_hmac = other;
    add_token(house, &token);
    got = credential(house, other);
    assert_true(got->models_limited);
    assert_int_equal(got->model_count, 0);
}

void a_limit_that_cannot_be_read_is_an_error(void **state)
{
    static const char *const broken[] = {
        "UPDATE tokens SET model_limits = '{}'",
        "UPDATE tokens SET model_limits = '[1]'",
        "UPDATE tokens SET model_limits = NULL, allow_addresses = '[\"10.0.0.0/99\"]'",
    };
    struct house *house = *state;
    struct tg_token_new token = plain_token(house_user(house, "alice"));
    struct tg_credential *got = NULL;

    add_token(house, &token);
    for (size_t i = 0; i < TG_COUNT_OF(broken); i++) {
        test_mariadb_sql(house->server, "main", broken[i]);
        assert_int_equal(
            tg_store_credential(house->db, house->arena, fingerprint, &got, &house->err),
            TG_CLASS_INTERNAL);
        assert_null(got);
    }
}

void a_revoked_token_says_so(void **state)
{
    struct house *house = *state;
    struct tg_token_new token = plain_token(house_user(house, "alice"));
    int64_t id = add_token(house, &token);
    char hmac[TG_HMAC_HEX];
    const char **hmacs;
    struct tg_entry entry;
    size_t count;

    assert_int_equal(tg_store_token_hmac(house->db, id, hmac, &house->err), TG_OK);
    assert_string_equal(hmac, fingerprint);
    assert_int_equal(
        tg_store_user_token_hmacs(house->db, token.user_id, house->arena, &hmacs, &count), TG_OK);
    assert_int_equal(count, 1);
    assert_string_equal(hmacs[0], fingerprint);
    assert_int_equal(tg_store_token_revoke(house->db, &house->actor, id, &entry, &house->err),
                     TG_OK);
    assert_int_equal(credential(house, fingerprint)->token_status, TG_STATUS_REVOKED);
    assert_int_equal(credential(house, fingerprint)->authver, 2);
    assert_int_equal(entry.kind, TG_ENTRY_ADJUST);
    assert_int_equal(entry.user_id, token.user_id);
    assert_int_equal(entry.authver, 2);
    assert_int_equal(test_number(house->db, "SELECT authver FROM adjustments"), 2);
    assert_int_equal(
        tg_store_token_revoke(house->db, &house->actor, id + 1, &entry, &house->err),
        TG_CLASS_NOT_FOUND);
    assert_string_equal(house->err.code, "token_not_found");
    assert_int_equal(tg_store_token_hmac(house->db, id + 1, hmac, &house->err),
                     TG_CLASS_NOT_FOUND);
}

void balances_come_with_their_epoch(void **state)
{
    struct house *house = *state;
    int64_t alice = house_user(house, "alice"), bob = house_user(house, "bob");
    struct tg_token_new token = plain_token(alice);
    int64_t id = add_token(house, &token);
    struct tg_cursor cursors[TG_SHARDS];
    struct tg_balance got;

    test_mariadb_sql(house->server, "main",
                     "UPDATE users SET quota = 9000000000000000, authver = 4 WHERE username = "
                     "'alice'; UPDATE ledger_cursor SET epoch = shard + 100, run_id = 'r'");
    assert_int_equal(tg_store_balance(house->db, alice, id, 0, &got), TG_OK);
    assert_int_equal(got.epoch, alice % TG_SHARDS + 100);
    assert_true(got.user_known && got.token_known && !got.plan_known);
    assert_true(got.user_quota == TG_QUOTA_MAX);
    assert_int_equal(got.user_authver, 4);
    assert_true(got.token_unlimited);
    /* somebody else's token is none of this account */
    assert_int_equal(tg_store_balance(house->db, bob, id, 0, &got), TG_OK);
    assert_true(got.user_known && !got.token_known);
    assert_int_equal(tg_store_balance(house->db, bob + 1, 0, 0, &got), TG_OK);
    assert_false(got.user_known);
    assert_int_equal(tg_store_cursors(house->db, cursors, &house->err), TG_OK);
    for (int i = 0; i < TG_SHARDS; i++) {
        assert_int_equal(cursors[i].epoch, i + 100);
        assert_string_equal(cursors[i].run_id, "r");
        assert_string_equal(cursors[i].stream_id, "0-0");
    }
    test_mariadb_sql(house->server, "main", "UPDATE ledger_cursor SET epoch = 0, run_id = ''");
}

void credits_wait_for_their_push(void **state)
{
    struct house *house = *state;
    const struct tg_credit_new credit = {.user_id = house_user(house, "alice"),
                                         .amount_quota = 2500000,
                                         .kind = "admin",
                                         .reason = "welcome"};
    struct tg_entry entry;

    assert_int_equal(
        tg_store_credit_add(house->db, &house->actor, &credit, &entry, &house->err), TG_OK);
    assert_int_equal(entry.kind, TG_ENTRY_CREDIT);
    assert_int_equal(entry.amount_quota, -2500000);
    assert_int_equal(entry.user_id, credit.user_id);
    assert_int_equal(test_number(house->db, "SELECT amount_quota FROM credits WHERE kind = 'admin' "
                                            "AND applied_at IS NULL AND LENGTH(entry_id) = 16"),
                     2500000);
    /* the balance is the applier's */
    assert_int_equal(test_number(house->db, "SELECT quota FROM users"), 0);
}

void bad_credits_leave_nothing_behind(void **state)
{
    struct house *house = *state;
    int64_t user_id = house_user(house, "alice");
    const struct {
        struct tg_credit_new credit;
        const char *code;
    } cases[] = {
        {{user_id, 0, "admin", ""}, "invalid_amount"},
        {{user_id, TG_QUOTA_MAX + 1, "admin", ""}, "invalid_amount"},
        {{user_id, -TG_QUOTA_MAX - 1, "admin", ""}, "invalid_amount"},
        {{user_id + 1, 1, "admin", ""}, "user_not_found"},
    };
    struct tg_entry entry;

    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        assert_int_not_equal(tg_store_credit_add(house->db, &house->actor, &cases[i].credit, &entry,
                                                 &house->err),
                             TG_OK);
        assert_string_equal(house->err.code, cases[i].code);
    }
    assert_int_equal(test_number(house->db, "SELECT COUNT(*) FROM credits"), 0);
}

void group_access_must_be_allowed(void **state)
{
    struct house *house = *state;
    bool allowed = true;

    test_mariadb_sql(house->server, "main",
                     "INSERT INTO group_access (user_group, used_group, allowed) VALUES "
                     "('default', 'vip', 1), ('default', 'dark', 0)");
    assert_int_equal(tg_store_group_allowed(house->db, "default", "vip", &allowed, &house->err),
                     TG_OK);
    assert_true(allowed);
    assert_int_equal(tg_store_group_allowed(house->db, "default", "dark", &allowed, &house->err),
                     TG_OK);
    assert_false(allowed);
    allowed = true;
    assert_int_equal(tg_store_group_allowed(house->db, "vip", "default", &allowed, &house->err),
                     TG_OK);
    assert_false(allowed);
}

void options_that_do_not_fit_are_not_stored(void **state)
{
    static const struct tg_conf_overlay cases[] = {
        {"no.such", "1"}, {"pool.workers", "3"}, {"retry.attempts", "many"}, {"body.limit", "1"}};
    struct house *house = *state;

    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        assert_int_equal(tg_store_option_set(house->db, &house->actor, cases[i].name,
                                             cases[i].value, &house->err),
                         TG_CLASS_INVALID);
        assert_string_equal(house->err.code, "invalid_option");
        assert_string_equal(house->err.param, cases[i].name);
    }
    assert_int_equal(test_number(house->db, "SELECT COUNT(*) FROM options"), 0);
    /* what another version left can be taken away */
    test_mariadb_sql(house->server, "main",
                     "INSERT INTO options (name, value) VALUES ('no.such', '1')");
    assert_int_equal(
        tg_store_option_set(house->db, &house->actor, "no.such", NULL, &house->err), TG_OK);
    assert_int_equal(test_number(house->db, "SELECT COUNT(*) FROM options"), 0);
    assert_string_equal(test_text(house->db, "SELECT before_json FROM audit_log"),
                        "{\"value\":\"1\"}");
}

void options_are_laid_over_the_conf(void **state)
{
    struct house *house = *state;
    struct tg_conf_overlay *list;
    size_t count;

    assert_int_equal(
        tg_store_option_set(house->db, &house->actor, "retry.attempts", "6", &house->err), TG_OK);
    assert_int_equal(
        tg_store_option_set(house->db, &house->actor, "retry.attempts", "7", &house->err), TG_OK);
    assert_int_equal(tg_store_options(house->db, house->arena, &list, &count, &house->err), TG_OK);
    assert_int_equal(count, 1);
    assert_string_equal(list[0].name, "retry.attempts");
    assert_string_equal(list[0].value, "7");
    assert_int_equal(
        tg_store_option_set(house->db, &house->actor, "retry.attempts", NULL, &house->err), TG_OK);
    assert_int_equal(tg_store_options(house->db, house->arena, &list, &count, &house->err), TG_OK);
    assert_int_equal(count, 0);
}
