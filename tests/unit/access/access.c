/* Who is let in: carriers of a token, the client's address, and the checks of a credential. */
#include "tests/unit/unit.h"

#include "fcgi-app/access/access.h"
#include "fcgi-app/access/carrier.h"
#include "fcgi-app/pool/intake.h"

#define A "sk-tgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
#define B "sk-tgBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB"
#define C "sk-tgCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCC"

static struct tg_arena *arena;

static void each_carrier_is_read_in_its_order(void **state)
{
    static const struct {
        struct tg_carriers from; /* x-api-key, x-goog-api-key, query, authorization, mj */
        const char *token;       /* NULL: none is found */
        int64_t pin;
    } cases[] = {
        {{NULL, NULL, "", "Bearer " A, NULL}, A, 0},
        {{NULL, NULL, "", "bearer " A, NULL}, A, 0},
        {{NULL, NULL, "", "BEARER \t " A " ", NULL}, A, 0},
        {{NULL, NULL, "", A, NULL}, A, 0},
        {{A, NULL, "", NULL, NULL}, A, 0},
        {{NULL, A, "", NULL, NULL}, A, 0},
        {{NULL, NULL, "key=" A, NULL, NULL}, A, 0},
        {{NULL, NULL, "alt=sse&key=" A "&x=1", NULL, NULL}, A, 0},
        {{NULL, NULL, "key=%73k-tgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", NULL, NULL}, A, 0},
        {{NULL, NULL, "monkey=" A, NULL, NULL}, NULL, 0},
        {{NULL, NULL, "", NULL, A}, A, 0},
        {{NULL, NULL, "", "", A}, A, 0},
        {{NULL, NULL, "", "Bearer", "Bearer " A}, A, 0},
        {{NULL, NULL, "", "midjourney-proxy", A}, A, 0},
        {{NULL, NULL, "", "Bearer midjourney-proxy", A}, A, 0},
        {{NULL, NULL, "", "Bearer wrong", A}, NULL, 0},
        /* precedence */
        {{A, B, "key=" C, B, C}, A, 0},
        {{NULL, A, "key=" B, B, C}, A, 0},
        {{NULL, NULL, "key=" A, B, C}, A, 0},
        {{NULL, NULL, "", A, B}, A, 0},
        /* another vendor's key beside ours */
        {{"sk-ant-api03-foreign", NULL, "", "Bearer " A, NULL}, A, 0},
        {{"", "", "key=", "Bearer " A, NULL}, A, 0},
        /* the pin */
        {{NULL, NULL, "", "Bearer " A "-17", NULL}, A, 17},
        {{A "-9007199254740993", NULL, "", NULL, NULL}, A, INT64_C(9007199254740993)},
        {{NULL, NULL, "", A "-", NULL}, NULL, 0},
        {{NULL, NULL, "", A "-1x", NULL}, NULL, 0},
        {{NULL, NULL, "", A "-1-2", NULL}, NULL, 0},
        {{NULL, NULL, "", A "-9999999999999999999", NULL}, NULL, 0},
        /* nothing of ours */
        {{NULL, NULL, "", NULL, NULL}, NULL, 0},
        {{NULL, NULL, "", "Basic dXNlcjpwYXNz", NULL}, NULL, 0},
        {{NULL, NULL, "", A "x", NULL}, NULL, 0},
        {{NULL, NULL, "", "sk-tgAAA", NULL}, NULL, 0},
        {{"\x7f\xff", NULL, "", NULL, NULL}, NULL, 0},
        {{"-", "--", "", "sk-", NULL}, NULL, 0},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        struct tg_carried carried = {0};
        bool found = tg_carrier_token(arena, &cases[i].from, &carried);

        assert_int_equal(found, cases[i].token != NULL);
        if (!found)
            continue;
        assert_int_equal(carried.token.len, strlen(A));
        assert_memory_equal(carried.token.ptr, cases[i].token, carried.token.len);
        assert_int_equal(carried.pinned_channel_id, cases[i].pin);
    }
}

static void paths_are_decoded_once(void **state)
{
    static const struct {
        const char *text, *decoded;
    } cases[] = {
        {"/v1/models/a%2Fb", "/v1/models/a/b"}, {"/%2561", "/%61"}, {"/%00x", "/%00x"},
        {"/%zz%4", "/%zz%4"},                   {"/%E2%82%AC", "/\xe2\x82\xac"},
        {"", ""},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++)
        assert_string_equal(tg_intake_decode(arena, cases[i].text, strlen(cases[i].text)),
                            cases[i].decoded);
}

static void forwarded_addresses_are_believed_from_the_right_only(void **state)
{
    static const struct {
        const char *remote, *forwarded, *address;
    } cases[] = {
        {"192.0.2.1", NULL, "192.0.2.1"},
        {"192.0.2.1", "10.0.0.1", "192.0.2.1"}, /* no proxy of ours */
        {"10.1.1.1", NULL, "10.1.1.1"},
        {"10.1.1.1", "192.0.2.7", "192.0.2.7"},
        {"10.1.1.1", "203.0.113.9, 192.0.2.7", "192.0.2.7"},
        {"10.1.1.1", "203.0.113.9,192.0.2.7,  10.2.2.2 ", "192.0.2.7"},
        {"10.1.1.1", "127.0.0.1, 2001:db8::1", "2001:db8::1"},
        {"10.1.1.1", "192.0.2.7, unknown", "10.1.1.1"},
        {"10.1.1.1", "192.0.2.7, unknown, 10.3.3.3", "10.3.3.3"},
        {"10.1.1.1", "10.3.3.3, 10.4.4.4", "10.3.3.3"},
        {"10.1.1.1", ", ,", "10.1.1.1"},
        {"unix:", "192.0.2.7", ""},
        {NULL, "192.0.2.7", ""},
    };
    struct tg_cidr *proxies;
    size_t count;

    (void)state;
    assert_int_equal(tg_cidrs_parse(arena, "10.0.0.0/8", &proxies, &count, NULL), TG_OK);
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        const struct tg_intake_address from = {cases[i].remote, cases[i].forwarded, proxies, count};
        struct tg_address address;

        assert_string_equal(tg_intake_address(arena, &from, &address), cases[i].address);
    }
}

static struct tg_credential usual(void)
{
    return (struct tg_credential){.token_id = 1,
                                  .user_id = 1,
                                  .user_group = "default",
                                  .group_name = "",
                                  .expires_unix_us = 1000};
}

static void check(const struct tg_credential *credential, const char *address, const char *code,
                  enum tg_class class)
{
    struct tg_address parsed;
    const struct tg_visit visit = {.address = &parsed, .unix_us = 999};
    struct tg_error err = {0};

    assert_true(tg_address_parse(address, &parsed));
    assert_int_equal(tg_access_check(credential, &visit, &err), class);
    assert_string_equal(err.code, code);
    assert_null(strstr(err.message, "hmac"));
}

static void a_credential_is_checked_in_order(void **state)
{
    struct tg_credential credential = usual();
    struct tg_cidr *ranges;

    (void)state;
    check(&credential, "192.0.2.1", "", TG_OK);
    credential.token_status = TG_STATUS_REVOKED;
    check(&credential, "192.0.2.1", "token_revoked", TG_CLASS_AUTH);
    credential.token_status = TG_STATUS_DISABLED;
    check(&credential, "192.0.2.1", "token_revoked", TG_CLASS_AUTH);
    credential.token_status = TG_STATUS_DELETED;
    check(&credential, "192.0.2.1", "token_revoked", TG_CLASS_AUTH);

    credential = usual();
    credential.expires_unix_us = 999; /* now */
    check(&credential, "192.0.2.1", "token_expired", TG_CLASS_AUTH);
    credential.expires_unix_us = 0;
    check(&credential, "192.0.2.1", "", TG_OK);

    credential = usual();
    assert_int_equal(tg_cidrs_parse(arena, "10.0.0.0/8, 2001:db8::/32", &ranges,
                                    &credential.address_count, NULL),
                     TG_OK);
    credential.addresses = ranges;
    check(&credential, "10.255.0.1", "", TG_OK);
    check(&credential, "::ffff:10.0.0.1", "", TG_OK);
    check(&credential, "2001:db8::1", "", TG_OK);
    check(&credential, "11.0.0.1", "access_denied", TG_CLASS_FORBIDDEN);

    credential = usual();
    credential.user_status = TG_STATUS_DISABLED;
    check(&credential, "192.0.2.1", "access_denied", TG_CLASS_FORBIDDEN);
    credential.expires_unix_us = 1; /* what is said of the token comes first */
    check(&credential, "192.0.2.1", "token_expired", TG_CLASS_AUTH);
}

static void only_administrators_pin_a_channel(void **state)
{
    struct tg_credential credential = usual();
    struct tg_address address = {{0}};
    const struct tg_visit visit = {.address = &address, .pinned_channel_id = 7};
    struct tg_error err;

    (void)state;
    assert_int_equal(tg_access_check(&credential, &visit, &err), TG_CLASS_FORBIDDEN);
    credential.user_is_admin = true;
    assert_int_equal(tg_access_check(&credential, &visit, &err), TG_OK);
}

static void a_model_list_restricts_and_an_empty_one_allows_nothing(void **state)
{
    static const char *const models[] = {"m-a", "m-b"};
    struct tg_credential credential = usual();

    (void)state;
    assert_true(tg_access_model_allowed(&credential, "anything"));
    credential.models_limited = true;
    assert_false(tg_access_model_allowed(&credential, "m-a"));
    credential.models = models;
    credential.model_count = 2;
    assert_true(tg_access_model_allowed(&credential, "m-b"));
    assert_false(tg_access_model_allowed(&credential, "m-c"));
    assert_false(tg_access_model_allowed(&credential, "m-"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_carrier_is_read_in_its_order),
        cmocka_unit_test(paths_are_decoded_once),
        cmocka_unit_test(forwarded_addresses_are_believed_from_the_right_only),
        cmocka_unit_test(a_credential_is_checked_in_order),
        cmocka_unit_test(only_administrators_pin_a_channel),
        cmocka_unit_test(a_model_list_restricts_and_an_empty_one_allows_nothing),
    };
    int failed;

    arena = tg_arena_new();
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    tg_arena_free(arena);
    return failed;
}
