/* The credential cache over a real Redis and a real MariaDB: what it keeps, for how long, and that
 * a change holds for the very next look. */
#include "tests/unit/unit.h"

#include "common/base/clock.h"
#include "common/credential/cache.h"
#include "common/credential/form.h"
#include "common/credential/scripts.h"
#include "tests/unit/lib/redis.h"
#include "tests/unit/lib/schema.h"

#include <stdio.h>
#include <stdlib.h>

#define HMAC "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define OTHER "ff112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define ENTRY "tg:{" HMAC "}:cred"
#define FENCE "tg:{" HMAC "}:fence"

enum { WAIT_US = 5000000 };

static struct test_redis *redis;
static struct test_mariadb *mariadb;
static struct tg_kv_pool *kv;
static struct tg_db_pool *db;
static struct tg_arena *arena;

static struct tg_credential *look(const char *hmac)
{
    const struct tg_credential_source source = {
        .kv = kv, .main_db = db, .deadline_at_us = tg_now_us() + WAIT_US};
    struct tg_credential *credential = NULL;
    struct tg_error err;

    assert_int_equal(tg_credential_get(&source, arena, hmac, &credential, &err), TG_OK);
    return credential;
}

static void set_status(const char *status)
{
    char sql[128];

    snprintf(sql, sizeof sql, "UPDATE tokens SET status = '%s' WHERE id = 7", status);
    test_mariadb_sql(mariadb, "main", sql);
}

static int fresh(void **state)
{
    (void)state;
    test_redis_say(redis, "DEL", ENTRY, FENCE, NULL);
    set_status("enabled");
    return 0;
}

static void a_credential_survives_its_text(void **state)
{
    static const char *const models[] = {"m-\"quoted\"", "m-\xe2\x82\xac"};
    struct tg_cidr ranges[2];
    struct tg_credential whole = {.token_id = INT64_C(9007199254740993),
                                  .user_id = 2,
                                  .token_name = "n\n",
                                  .team = "t",
                                  .token_status = TG_STATUS_REVOKED,
                                  .user_status = TG_STATUS_DISABLED,
                                  .user_is_admin = true,
                                  .expires_unix_us = 5,
                                  .user_group = "g",
                                  .group_name = "",
                                  .unlimited = true,
                                  .authver = 9,
                                  .models_limited = true,
                                  .models = models,
                                  .model_count = 2,
                                  .addresses = ranges,
                                  .address_count = 2,
                                  .loss_policy = "strict",
                                  .stream_mode = "",
                                  .funding = "0"};
    struct tg_credential *back;
    struct tg_buf text;

    (void)state;
    assert_true(tg_cidr_parse("10.0.0.0/8", &ranges[0]));
    assert_true(tg_cidr_parse("2001:db8::/32", &ranges[1]));
    tg_buf_init(&text, 0);
    tg_credential_write(&whole, &text);
    assert_int_equal(tg_credential_read(text.data, text.len, arena, &back, NULL), TG_OK);
    assert_int_equal(back->token_id, whole.token_id);
    assert_string_equal(back->token_name, "n\n");
    assert_int_equal(back->token_status, TG_STATUS_REVOKED);
    assert_int_equal(back->user_status, TG_STATUS_DISABLED);
    assert_true(back->user_is_admin && back->unlimited && back->models_limited);
    assert_int_equal(back->authver, 9);
    assert_string_equal(back->models[0], models[0]);
    assert_string_equal(back->models[1], models[1]);
    assert_memory_equal(back->addresses, ranges, sizeof ranges);
    assert_string_equal(back->loss_policy, "strict");

    /* A text of another version is no credential. */
    assert_int_equal(tg_credential_read("{}", 2, arena, &back, NULL), TG_CLASS_INVALID);
    assert_int_equal(tg_credential_read("nul", 3, arena, &back, NULL), TG_CLASS_INVALID);
    assert_int_equal(tg_credential_read("null", 4, arena, &back, NULL), TG_OK);
    assert_null(back);
    tg_buf_done(&text);
}

static void a_known_token_is_kept_for_a_minute(void **state)
{
    struct tg_credential *credential = look(HMAC);
    long ttl;

    (void)state;
    assert_non_null(credential);
    assert_int_equal(credential->token_id, 7);
    ttl = strtol(test_redis_say(redis, "PTTL", ENTRY, NULL), NULL, 10);
    assert_in_range(ttl, 30000, 60000);
    /* MySQL is not asked again. */
    set_status("revoked");
    assert_int_equal(look(HMAC)->token_status, TG_STATUS_ENABLED);
}

static void an_unknown_token_is_kept_for_seconds(void **state)
{
    long ttl;

    (void)state;
    assert_null(look(OTHER));
    assert_string_equal(test_redis_say(redis, "GET", "tg:{" OTHER "}:cred", NULL), "null");
    ttl = strtol(test_redis_say(redis, "PTTL", "tg:{" OTHER "}:cred", NULL), NULL, 10);
    assert_in_range(ttl, 1, 5000);
    assert_null(look(OTHER));
}

static void a_change_holds_for_the_very_next_look(void **state)
{
    (void)state;
    assert_int_equal(look(HMAC)->token_status, TG_STATUS_ENABLED);
    assert_int_equal(tg_credential_change_begin(kv, HMAC, NULL), TG_OK);
    assert_string_equal(test_redis_say(redis, "EXISTS", ENTRY, NULL), "0");
    /* What is read before the commit is used, but not kept. */
    assert_int_equal(look(HMAC)->token_status, TG_STATUS_ENABLED);
    assert_string_equal(test_redis_say(redis, "EXISTS", ENTRY, NULL), "0");
    set_status("revoked");
    assert_int_equal(tg_credential_change_end(kv, HMAC, NULL), TG_OK);
    assert_int_equal(look(HMAC)->token_status, TG_STATUS_REVOKED);
    /* Nor is anything kept while the fence stands: a look may have begun before the commit. */
    assert_string_equal(test_redis_say(redis, "EXISTS", ENTRY, NULL), "0");
    assert_in_range(strtol(test_redis_say(redis, "PTTL", FENCE, NULL), NULL, 10), 5000, 10000);
}

/* A fill that was stuck on its way for longer than a fence lives does not run. */
static void a_late_fill_is_refused(void **state)
{
    const struct tg_span args[] = {
        {ENTRY, strlen(ENTRY)}, {FENCE, strlen(FENCE)}, {"null", 4}, {"5000", 4}, {"1", 1}};
    const struct tg_kv_call call = {"{" HMAC "}", args, TG_COUNT_OF(args), tg_now_us() + WAIT_US};
    const struct tg_kv_reply *reply;
    struct tg_kv *one;
    int64_t kept;

    (void)state;
    assert_int_equal(tg_kv_acquire(kv, tg_now_us() + WAIT_US, &one, NULL), TG_OK);
    assert_int_equal(tg_kv_run(one, &tg_script_fill, &call, 2, &reply), TG_OK);
    assert_true(tg_kv_int(reply, &kept));
    assert_int_equal(kept, 0);
    tg_kv_release(one);
    assert_string_equal(test_redis_say(redis, "EXISTS", ENTRY, NULL), "0");
}

static void a_text_that_cannot_be_read_is_read_from_mysql(void **state)
{
    (void)state;
    test_redis_say(redis, "SET", ENTRY, "{\"token_id\":\"x\"}", NULL);
    assert_int_equal(look(HMAC)->token_id, 7);
}

static void without_redis_mysql_answers_and_changes_fail(void **state)
{
    struct tg_error err;

    (void)state;
    test_redis_kill(redis);
    assert_int_equal(look(HMAC)->token_id, 7);
    assert_null(look(OTHER));
    assert_int_equal(tg_credential_change_begin(kv, HMAC, &err), TG_CLASS_DOWN);
    test_redis_again(redis);
}

static void without_both_the_answer_is_down_never_unknown(void **state)
{
    struct tg_credential *credential = NULL;
    struct tg_credential_source source = {.kv = kv, .main_db = db};
    struct tg_error err;

    (void)state;
    test_redis_kill(redis);
    test_mariadb_kill(mariadb);
    source.deadline_at_us = tg_now_us() + WAIT_US;
    assert_int_equal(tg_credential_get(&source, arena, HMAC, &credential, &err), TG_CLASS_DOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_credential_survives_its_text),
        cmocka_unit_test_setup(a_known_token_is_kept_for_a_minute, fresh),
        cmocka_unit_test_setup(an_unknown_token_is_kept_for_seconds, fresh),
        cmocka_unit_test_setup(a_change_holds_for_the_very_next_look, fresh),
        cmocka_unit_test_setup(a_late_fill_is_refused, fresh),
        cmocka_unit_test_setup(a_text_that_cannot_be_read_is_read_from_mysql, fresh),
        cmocka_unit_test_setup(without_redis_mysql_answers_and_changes_fail, fresh),
        cmocka_unit_test(without_both_the_answer_is_down_never_unknown),
    };
    int failed;

    redis = test_redis_start();
    mariadb = test_mariadb_start();
    db = test_schema(mariadb, "main", "main", 2);
    kv = test_redis_pool(redis, 2);
    arena = tg_arena_new();
    test_mariadb_sql(mariadb, "main",
                     "INSERT INTO users (id, username) VALUES (3, 'u');"
                     "INSERT INTO tokens (id, key_hmac, user_id) VALUES (7, '" HMAC "', 3)");
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    tg_arena_free(arena);
    tg_kv_pool_free(kv);
    tg_db_pool_free(db);
    test_mariadb_stop(mariadb);
    test_redis_stop(redis);
    return failed;
}
