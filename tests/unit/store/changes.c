/* Changes of users, tokens, channels, groups, prices; their audit rows. */
#include "tests/unit/store/console.h"

#include <pthread.h>
#include <stdio.h>

#include "common/base/clock.h"
#include "common/store/channel.h"
#include "common/store/channel_change.h"
#include "common/store/master_key.h"
#include "common/store/group.h"
#include "common/store/person.h"
#include "common/store/price.h"
#include "common/store/routing.h"
#include "common/store/token.h"
#include "common/store/token_change.h"

static struct tg_person *person(struct house *house, int64_t id)
{
    struct tg_person *got;

    assert_int_equal(tg_store_person(house->db, house->arena, id, &got, &house->err), TG_OK);
    return got;
}

void a_person_is_found_by_id_and_name(void **state)
{
    struct house *house = *state;
    int64_t id = house_user(house, "alice");
    struct tg_person *got;

    assert_int_equal(tg_store_person_named(house->db, house->arena, "ALICE", &got, &house->err),
                     TG_OK);
    assert_int_equal(got->id, id);
    assert_string_equal(got->username, "alice");
    assert_string_equal(got->role, "user");
    assert_int_equal(got->status, TG_STATUS_ENABLED);
    assert_null(got->password_hash);
    assert_null(person(house, id + 1));
    assert_int_equal(tg_store_person_named(house->db, house->arena, "bob", &got, &house->err),
                     TG_OK);
    assert_null(got);
}

void a_changed_person_raises_authver(void **state)
{
    struct house *house = *state;
    int64_t id = house_user(house, "alice");
    const struct tg_person_change wish = {.id = id,
                                          .role = "admin",
                                          .team = "blue",
                                          .password_hash = "$argon2id$secret"};
    struct tg_person *got;
    struct tg_entry entry;

    assert_int_equal(
        tg_store_person_change(house->db, &house->actor, &wish, &entry, &house->err), TG_OK);
    assert_int_equal(entry.kind, TG_ENTRY_ADJUST);
    assert_int_equal(entry.user_id, id);
    assert_int_equal(entry.authver, 2);
    assert_int_equal(entry.token_unlimited, -1);
    got = person(house, id);
    assert_string_equal(got->role, "admin");
    assert_string_equal(got->team, "blue");
    assert_string_equal(got->group_name, "default");
    assert_string_equal(got->password_hash, "$argon2id$secret");
    assert_int_equal(got->authver, 2);
    assert_int_equal(test_number(house->db, "SELECT COUNT(*) FROM adjustments WHERE authver = 2"),
                     1);
    assert_string_equal(
        test_text(house->db, "SELECT before_json FROM audit_log WHERE action = 'user.change'"),
        "{\"role\":\"user\",\"team\":\"\"}");
    assert_string_equal(
        test_text(house->db, "SELECT after_json FROM audit_log WHERE action = 'user.change'"),
        "{\"role\":\"admin\",\"team\":\"blue\",\"password\":\"changed\"}");
}

void bad_changes_of_a_person_leave_nothing_behind(void **state)
{
    struct house *house = *state;
    int64_t id = house_user(house, "alice");
    const struct {
        struct tg_person_change wish;
        const char *code;
    } cases[] = {
        {{.id = id, .role = "king"}, "invalid_role"},
        {{.id = id, .status = "asleep"}, "invalid_status"},
        {{.id = id, .group_name = "nowhere"}, "group_not_found"},
        {{.id = id, .team = "a\nb"}, "invalid_name"},
        {{.id = id + 1, .role = "user"}, "user_not_found"},
    };
    struct tg_entry entry = {.authver = -7};

    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        assert_int_not_equal(tg_store_person_change(house->db, &house->actor, &cases[i].wish,
                                                    &entry, &house->err),
                             TG_OK);
        assert_string_equal(house->err.code, cases[i].code);
    }
    assert_int_equal(entry.authver, -7);
    assert_int_equal(person(house, id)->authver, 1);
    assert_int_equal(test_number(house->db, "SELECT COUNT(*) FROM adjustments"), 0);
}

void the_last_root_stays(void **state)
{
    struct house *house = *state;
    int64_t id = house_user(house, "alice"), other = house_user(house, "bob");
    struct tg_person_change wish = {.id = id, .role = "root"};
    struct tg_entry entry;

    assert_int_equal(
        tg_store_person_change(house->db, &house->actor, &wish, &entry, &house->err), TG_OK);
    wish.role = "admin";
    assert_int_equal(tg_store_person_change(house->db, &house->actor, &wish, &entry, &house->err),
                     TG_CLASS_CONFLICT);
    assert_string_equal(house->err.code, "last_root");
    wish = (struct tg_person_change){.id = id, .status = "disabled"};
    assert_int_equal(tg_store_person_change(house->db, &house->actor, &wish, &entry, &house->err),
                     TG_CLASS_CONFLICT);
    wish = (struct tg_person_change){.id = other, .role = "root"};
    assert_int_equal(
        tg_store_person_change(house->db, &house->actor, &wish, &entry, &house->err), TG_OK);
    wish = (struct tg_person_change){.id = id, .status = "disabled"};
    assert_int_equal(
        tg_store_person_change(house->db, &house->actor, &wish, &entry, &house->err), TG_OK);
}

static int64_t house_token(struct house *house, int64_t user_id)
{
    const struct tg_token_new token = {.user_id = user_id,
                                       .name = "default",
                                       .group_name = "",
                                       .key_hmac = "00112233445566778899aabbccddeeff"
                                                   "00112233445566778899aabbccddeeff",
                                       .hint = "wxyz",
                                       .remain_quota = 100};
    int64_t id = 0;

    assert_int_equal(tg_store_token_add(house->db, &house->actor, &token, &id, &house->err), TG_OK);
    return id;
}

void a_changed_token_is_told_as_a_difference(void **state)
{
    static const char *const models[] = {"gpt-a"}, *const addresses[] = {"10.0.0.0/8"};
    struct house *house = *state;
    int64_t user_id = house_user(house, "alice"), id = house_token(house, user_id);
    struct tg_token_change wish = {.id = id,
                                   .user_id = user_id,
                                   .parts = TG_TOKEN_NAME | TG_TOKEN_MODELS | TG_TOKEN_ADDRESSES |
                                            TG_TOKEN_EXPIRES | TG_TOKEN_LIMIT,
                                   .name = "new",
                                   .models = models,
                                   .model_count = 1,
                                   .addresses = addresses,
                                   .address_count = 1,
                                   .expires_unix_us = INT64_C(1801353600000000),
                                   .remain_quota = 250};
    struct tg_entry entry;
    int64_t owner;

    assert_int_equal(
        tg_store_token_change(house->db, &house->actor, &wish, &entry, &house->err), TG_OK);
    assert_int_equal(entry.token_id, id);
    assert_int_equal(entry.token_delta_quota, 150);
    assert_int_equal(entry.token_unlimited, 0);
    assert_int_equal(entry.authver, 2);
    assert_string_equal(test_text(house->db, "SELECT CONCAT(name, ' ', model_limits, ' ', "
                                             "allow_addresses, ' ', expires_at, ' ', "
                                             "remain_quota) FROM tokens"),
                        "new [\"gpt-a\"] [\"10.0.0.0/8\"] 2027-01-31 00:00:00.000000 100");
    wish = (struct tg_token_change){
        .id = id, .parts = TG_TOKEN_MODELS | TG_TOKEN_ADDRESSES | TG_TOKEN_EXPIRES};
    assert_int_equal(
        tg_store_token_change(house->db, &house->actor, &wish, &entry, &house->err), TG_OK);
    assert_int_equal(entry.token_id, 0); /* the limit is left alone */
    assert_int_equal(entry.token_unlimited, -1);
    assert_int_equal(test_number(house->db, "SELECT COUNT(*) FROM tokens WHERE model_limits IS "
                                            "NULL AND allow_addresses IS NULL AND expires_at IS "
                                            "NULL AND name = 'new'"),
                     1);
    wish = (struct tg_token_change){.id = id, .parts = TG_TOKEN_LIMIT, .unlimited = true};
    assert_int_equal(
        tg_store_token_change(house->db, &house->actor, &wish, &entry, &house->err), TG_OK);
    assert_int_equal(entry.token_unlimited, 1);
    assert_int_equal(entry.token_delta_quota, 0);
    assert_int_equal(tg_store_token_owner(house->db, id, &owner, &house->err), TG_OK);
    assert_int_equal(owner, user_id);
}

void bad_changes_of_a_token_leave_nothing_behind(void **state)
{
    static const char *const bad_models[] = {"a b"}, *const bad_addresses[] = {"10.0.0.0/99"};
    struct house *house = *state;
    int64_t user_id = house_user(house, "alice"), id = house_token(house, user_id);
    const struct {
        struct tg_token_change wish;
        const char *code;
    } cases[] = {
        {{.id = id + 1}, "token_not_found"},
        {{.id = id, .user_id = user_id + 1}, "token_not_found"},
        {{.id = id, .parts = TG_TOKEN_NAME, .name = ""}, "invalid_name"},
        {{.id = id, .parts = TG_TOKEN_STATUS, .status = "lost"}, "invalid_status"},
        {{.id = id, .parts = TG_TOKEN_GROUP, .group_name = "nowhere"}, "group_not_found"},
        {{.id = id, .parts = TG_TOKEN_LIMIT, .remain_quota = -1}, "invalid_limit"},
        {{.id = id, .parts = TG_TOKEN_MODELS, .models = bad_models, .model_count = 1},
         "invalid_model"},
        {{.id = id, .parts = TG_TOKEN_ADDRESSES, .addresses = bad_addresses, .address_count = 1},
         "invalid_address"},
    };
    struct tg_token_change revoke = {.id = id, .parts = TG_TOKEN_STATUS, .status = "revoked"};
    struct tg_entry entry;

    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        assert_int_not_equal(tg_store_token_change(house->db, &house->actor, &cases[i].wish,
                                                   &entry, &house->err),
                             TG_OK);
        assert_string_equal(house->err.code, cases[i].code);
    }
    assert_int_equal(test_number(house->db, "SELECT authver FROM users"), 1);
    assert_int_equal(
        tg_store_token_change(house->db, &house->actor, &revoke, &entry, &house->err), TG_OK);
    revoke.status = "enabled";
    assert_int_equal(tg_store_token_change(house->db, &house->actor, &revoke, &entry, &house->err),
                     TG_CLASS_CONFLICT);
    assert_string_equal(house->err.code, "token_revoked");
    assert_string_equal(test_text(house->db, "SELECT status FROM tokens"), "revoked");
}

void a_changed_channel_has_new_abilities(void **state)
{
    static const char *const models[] = {"gpt-b", "gpt-c"};
    const int64_t priority = 9;
    struct house *house = *state;
    int64_t id = house_channel(house, "one");
    struct tg_channel_change wish = {.id = id,
                                     .name = "two",
                                     .models = models,
                                     .model_count = 2,
                                     .priority = &priority,
                                     .proxy = "http://me:pw@proxy",
                                     .model_mapping = "",
                                     .auto_disable = 0};

    assert_int_equal(tg_store_channel_change(house->db, &house->actor, &wish, &house->err), TG_OK);
    assert_string_equal(
        test_text(house->db,
                  "SELECT GROUP_CONCAT(CONCAT(group_name, '/', model, '/', priority, '/', weight)"
                  " ORDER BY group_name, model) FROM abilities"),
        "default/gpt-b/9/3,default/gpt-c/9/3,vip/gpt-b/9/3,vip/gpt-c/9/3");
    assert_int_equal(test_number(house->db, "SELECT COUNT(*) FROM channels WHERE name = 'two' AND "
                                            "model_mapping IS NULL AND auto_disable = 0 AND "
                                            "organisation = 'org'"),
                     1);
    assert_int_equal(test_number(house->db, "SELECT version FROM routing_version"), 3);
    /* passwords of proxies are in no audit row */
    assert_int_equal(test_number(house->db, "SELECT COUNT(*) FROM audit_log WHERE after_json LIKE "
                                            "'%me:pw%'"),
                     0);
    assert_int_equal(test_number(house->db, "SELECT COUNT(*) FROM audit_log WHERE action = "
                                            "'channel.change' AND before_json LIKE '%\"one\"%' "
                                            "AND after_json LIKE '%\"two\"%'"),
                     1);
    wish = (struct tg_channel_change){.id = id, .status = "disabled", .auto_disable = -1};
    assert_int_equal(tg_store_channel_change(house->db, &house->actor, &wish, &house->err), TG_OK);
    assert_int_equal(test_number(house->db, "SELECT COUNT(*) FROM abilities WHERE enabled = 1"), 0);
}

void bad_changes_of_a_channel_leave_nothing_behind(void **state)
{
    static const char *const bad_models[] = {"a b"};
    const int64_t bad_weight = -1;
    struct house *house = *state;
    int64_t id = house_channel(house, "one");
    const struct {
        struct tg_channel_change wish;
        const char *code;
    } cases[] = {
        {{.id = id + 99, .name = "x"}, "channel_not_found"},
        {{.id = id, .name = ""}, "invalid_name"},
        {{.id = id, .name = "taken"}, "channel_exists"},
        {{.id = id, .base_url = "ftp://x"}, "invalid_url"},
        {{.id = id, .status = "asleep"}, "invalid_status"},
        {{.id = id, .model_mapping = "[1]"}, "invalid_json"},
        {{.id = id, .model_mapping = "{\"a\":1}"}, "invalid_json"},
        {{.id = id, .models = bad_models, .model_count = 1}, "invalid_model"},
        {{.id = id, .weight = &bad_weight}, "invalid_weight"},
        {{.id = id, .bill = "never"}, "invalid_bill"},
    };

    house_channel(house, "taken");
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        assert_int_not_equal(
            tg_store_channel_change(house->db, &house->actor, &cases[i].wish, &house->err), TG_OK);
        assert_string_equal(house->err.code, cases[i].code);
    }
    assert_int_equal(test_number(house->db, "SELECT version FROM routing_version"), 3);
}

void keys_are_added_replaced_and_switched(void **state)
{
    static const char *const texts[] = {"sk-second-0123456789abcd", "sk-third-0123456789efgh",
                                        "sk-second-0123456789abcd"};
    static const char shown[] =
        "SELECT GROUP_CONCAT(CONCAT(position, hint) ORDER BY position) FROM channel_keys";
    struct house *house = *state;
    int64_t channel_id = house_channel(house, "one"), id;
    bool same[3];
    struct tg_channel_keys_new keys = {.channel_id = channel_id,
                                       .keys = texts,
                                       .count = 3,
                                       .seal = {house->seal_public, 1, house->seal_private},
                                       .same = same};

    assert_int_equal(tg_store_channel_keys_add(house->db, &house->actor, &keys, &house->err),
                     TG_OK);
    assert_string_equal(test_text(house->db, shown), "06789,1abcd,2efgh");
    assert_true(!same[0] && !same[1] && same[2] && keys.same_count == 1);
    assert_int_equal(tg_store_channel_keys_add(house->db, &house->actor, &keys, &house->err),
                     TG_OK);
    assert_int_equal(keys.same_count, 3);
    assert_string_equal(test_text(house->db, shown), "06789,1abcd,2efgh");
    id = test_number(house->db, "SELECT id FROM channel_keys WHERE position = 1");
    assert_int_equal(
        tg_store_channel_key_set(house->db, &house->actor, id, "disabled", &house->err), TG_OK);
    assert_int_equal(test_number(house->db, "SELECT COUNT(*) FROM channel_keys WHERE "
                                            "state = 'active'"),
                     2);
    assert_int_equal(
        tg_store_channel_key_set(house->db, &house->actor, id, "deleted", &house->err), TG_OK);
    assert_int_equal(
        tg_store_channel_key_set(house->db, &house->actor, id, "active", &house->err),
        TG_CLASS_NOT_FOUND);
    keys.count = 1;
    keys.replace = true;
    assert_int_equal(tg_store_channel_keys_add(house->db, &house->actor, &keys, &house->err),
                     TG_OK);
    assert_string_equal(test_text(house->db, shown), "0abcd");
    keys.channel_id += 99;
    assert_int_equal(tg_store_channel_keys_add(house->db, &house->actor, &keys, &house->err),
                     TG_CLASS_NOT_FOUND);
    keys.channel_id -= 99;
    assert_int_equal(test_number(house->db, "SELECT COUNT(*) FROM channel_keys"), 1);
    assert_int_equal(test_number(house->db, "SELECT COUNT(*) FROM channel_keys WHERE sealed LIKE "
                                            "'%sk-second%' OR fingerprint LIKE '%sk-%'"),
                     0);
    assert_int_equal(test_number(house->db, "SELECT COUNT(*) FROM audit_log WHERE action LIKE "
                                            "'channel.key%'"),
                     5);
    /* Who seals with a master key that was changed since is refused. */
    assert_int_equal(tg_master_key_raise(house->db, &house->actor, 2, &house->err), TG_OK);
    assert_int_equal(tg_store_channel_keys_add(house->db, &house->actor, &keys, &house->err),
                     TG_CLASS_CONFLICT);
    assert_string_equal(house->err.code, "master_key_changed");
    assert_string_equal(test_text(house->db, shown), "0abcd");
    assert_int_equal(tg_db_run(house->db, "UPDATE master_key SET version = 1", NULL, 0, NULL),
                     TG_OK); /* for the others */
}

void no_group_is_named_auto(void **state)
{
    static const char *const groups[] = {"default", "auto"};
    struct house *house = *state;
    const struct tg_group_change made = {.name = "auto", .ratio = "1"};
    const struct tg_group_change order = {.name = "vip", .ratio = "1", .order_mode = "dearest"};
    const struct tg_group_access access = {"default", "auto", true, ""};
    const struct tg_channel_change channel = {
        .id = house_channel(house, "one"), .groups = groups, .group_count = 2, .auto_disable = -1};

    assert_int_equal(tg_store_group_change(house->db, &house->actor, &made, &house->err),
                     TG_CLASS_INVALID);
    assert_non_null(strstr(house->err.message, "a token's word"));
    assert_int_equal(tg_store_group_access_set(house->db, &house->actor, &access, &house->err),
                     TG_CLASS_INVALID);
    assert_int_equal(tg_store_channel_change(house->db, &house->actor, &channel, &house->err),
                     TG_CLASS_INVALID);
    assert_string_equal(house->err.code, "invalid_name");
    assert_int_equal(tg_store_group_change(house->db, &house->actor, &order, &house->err),
                     TG_CLASS_INVALID);
    assert_string_equal(house->err.code, "invalid_order");
}

void groups_are_described_used_and_deleted(void **state)
{
    struct house *house = *state;
    struct tg_group_change wish = {.name = "vip", .ratio = "1.5"};
    struct tg_group_access access = {"default", "vip", true, "0.9"};
    const struct tg_group_access unknown = {"default", "nowhere", true, ""};

    assert_int_equal(tg_store_group_change(house->db, &house->actor, &wish, &house->err), TG_OK);
    wish = (struct tg_group_change){.name = "vip", .description = "those who pay"};
    assert_int_equal(tg_store_group_change(house->db, &house->actor, &wish, &house->err), TG_OK);
    assert_string_equal(test_text(house->db, "SELECT CONCAT(ratio, description) FROM `groups` "
                                             "WHERE name = 'vip'"),
                        "1.5000000000those who pay");
    assert_int_equal(tg_store_group_access_set(house->db, &house->actor, &access, &house->err),
                     TG_OK);
    assert_int_equal(tg_store_group_access_set(house->db, &house->actor, &unknown, &house->err),
                     TG_CLASS_NOT_FOUND);
    access.ratio = "-1";
    assert_int_equal(tg_store_group_access_set(house->db, &house->actor, &access, &house->err),
                     TG_CLASS_INVALID);
    house_user(house, "alice");
    assert_int_equal(tg_store_group_delete(house->db, &house->actor, "default", &house->err),
                     TG_CLASS_CONFLICT);
    assert_string_equal(house->err.code, "group_used");
    assert_int_equal(tg_store_group_access_delete(house->db, &house->actor, &access, &house->err),
                     TG_OK);
    assert_int_equal(tg_store_group_access_delete(house->db, &house->actor, &access, &house->err),
                     TG_CLASS_NOT_FOUND);
    assert_int_equal(tg_store_group_delete(house->db, &house->actor, "vip", &house->err), TG_OK);
    assert_int_equal(tg_store_group_delete(house->db, &house->actor, "vip", &house->err),
                     TG_CLASS_NOT_FOUND);
}

void a_price_is_deleted(void **state)
{
    struct house *house = *state;

    test_mariadb_sql(house->server, "main",
                     "INSERT INTO model_prices (model, form, input) VALUES ('gpt-a', 'token', 2)");
    assert_int_equal(tg_store_price_delete(house->db, &house->actor, "gpt-a", &house->err), TG_OK);
    assert_int_equal(tg_store_price_delete(house->db, &house->actor, "gpt-a", &house->err),
                     TG_CLASS_NOT_FOUND);
    assert_string_equal(house->err.code, "price_not_found");
    assert_int_equal(test_number(house->db, "SELECT version FROM routing_version"), 2);
}

/* ---- the chain ---- */

enum { WRITERS = 4, NOTES = 25 };

static void *write_notes(void *context)
{
    struct house *house = context;
    struct tg_db *db = test_take(house->pool);
    const struct tg_audit_note note = {
        .action = "test.note", .object_type = "test", .object_id = "1", .after_json = "{}"};
    struct tg_error err;

    for (int i = 0; i < NOTES; i++)
        if (tg_change_note(db, &house->actor, &note, &err) != TG_OK)
            i--; /* a deadlock is told, and repeated */
    tg_db_release(db);
    return NULL;
}

void the_chain_holds_when_many_write(void **state)
{
    struct house *house = *state;
    pthread_t writers[WRITERS];
    int64_t broken = 99;

    tg_db_release(house->db); /* the pool has as many as there are writers */
    for (int i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_create(&writers[i], NULL, write_notes, house), 0);
    for (int i = 0; i < WRITERS; i++)
        pthread_join(writers[i], NULL);
    house->db = test_take(house->pool);
    assert_int_equal(test_number(house->db, "SELECT COUNT(*) FROM audit_log"), WRITERS * NOTES);
    assert_int_equal(tg_change_chain_check(house->db, &broken, &house->err), TG_OK);
    assert_int_equal(broken, 0);
}
