/* Signed calls of the console: right key, right channel, right time. */
#include "tests/unit/unit.h"

#include "fcgi-app/internal.h"

static const uint8_t key[TG_KEY_BYTES] = {1, 2, 3};

static void sign(const char *text, char hex[TG_HMAC_HEX])
{
    uint8_t digest[TG_HMAC_BYTES];

    tg_hmac(key, text, strlen(text), digest);
    tg_hex(digest, sizeof digest, hex);
}

static void only_the_signed_channel_and_time_pass(void **state)
{
    static const struct {
        const char *text, *time;
        int64_t channel_id, now_s;
        bool good;
    } cases[] = {
        {"channel-test:7:1000", "1000", 7, 1000, true},
        {"channel-test:7:1000", "1000", 7, 1060, true},
        {"channel-test:7:1000", "1000", 7, 940, true},
        {"channel-test:7:1000", "1000", 7, 1061, false},
        {"channel-test:7:1000", "1000", 7, 939, false},
        {"channel-test:7:1000", "1000", 8, 1000, false},
        {"channel-test:7:1000", "1001", 7, 1000, false},
        {"channel-test:7:1000", "", 7, 1000, false},
        {"channel-test:7:1000", "1000x", 7, 1000, false},
        {"channel-test:7:1000", "-1000", 7, 1000, false},
        {"channel-test:7:1000", "1000000000000000000000", 7, 1000, false},
        {"channel-tests:7:1000", "1000", 7, 1000, false},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        char hex[TG_HMAC_HEX];
        const struct tg_internal_call call = {.signature = hex,
                                              .time = cases[i].time,
                                              .channel_id = cases[i].channel_id,
                                              .now_s = cases[i].now_s};

        sign(cases[i].text, hex);
        assert_int_equal(tg_internal_signed(key, &call), cases[i].good);
    }
}

static void what_is_no_signature_is_refused(void **state)
{
    static const char *const signatures[] = {
        NULL, "", "00", "zz112233445566778899aabbccddeeff00112233445566778899aabbccddeeff",
        "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff00"};

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(signatures); i++) {
        const struct tg_internal_call call = {
            .signature = signatures[i], .time = "1000", .channel_id = 7, .now_s = 1000};

        assert_false(tg_internal_signed(key, &call));
    }
    {
        char hex[TG_HMAC_HEX];
        const struct tg_internal_call call = {.signature = hex, .channel_id = 7, .now_s = 1000};

        sign("channel-test:7:1000", hex);
        assert_false(tg_internal_signed(key, &call)); /* no time */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_signed_channel_and_time_pass),
        cmocka_unit_test(what_is_no_signature_is_refused),
    };

    if (tg_crypto_init(NULL) != TG_OK)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
