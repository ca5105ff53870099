/* Hashes against published vectors; tokens, passwords and sealed boxes by what they promise. */
#include "tests/unit/unit.h"

#include <stdio.h>

#include "common/crypto/crypto.h"

static int init(void **state)
{
    (void)state;
    return tg_crypto_init(NULL) == TG_OK ? 0 : -1;
}

/* RFC 4231 test case 1 with its key padded by zeros (HMAC pads a short key the same way), and a
 * text of zero bytes. */
static void hmac_agrees_with_the_rfc(void **state)
{
    uint8_t key[TG_KEY_BYTES] = {0}, hash[TG_HMAC_BYTES];
    char hex[TG_HMAC_HEX];

    (void)state;
    memset(key, 0x0b, 20);
    tg_hmac(key, "Hi There", 8, hash);
    tg_hex(hash, sizeof hash, hex);
    assert_string_equal(hex, "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    memset(key, 0, sizeof key);
    tg_hmac(key, "", 0, hash);
    tg_hex(hash, sizeof hash, hex);
    assert_string_equal(hex, "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
}

static void a_key_made_ready_gives_the_same_again_and_again(void **state)
{
    static const char text[] = "sk-tg0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefg "
                               "and a block of SHA-256 more, and what is left";
    uint8_t key[TG_KEY_BYTES], plain[TG_HMAC_BYTES], ready[TG_HMAC_BYTES];
    struct tg_hmac_key made;

    (void)state;
    tg_random(key, sizeof key);
    tg_hmac_key_init(key, &made);
    for (size_t len = 0; len < sizeof text; len++) {
        tg_hmac(key, text, len, plain);
        tg_hmac_with(&made, text, len, ready);
        assert_memory_equal(plain, ready, sizeof plain);
    }
}

static void sha256_agrees_with_the_standard(void **state)
{
    char hex[TG_HMAC_HEX];

    (void)state;
    tg_sha256_hex("abc", 3, hex);
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    tg_sha256_hex("", 0, hex);
    assert_string_equal(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

static void hex_takes_exactly_its_length(void **state)
{
    static const char *const bad[] = {"",         "00ff1", "00ff1g", "00ff1022",
                                      "00ff ",    "0x00ff", "00:ff1"};
    uint8_t bytes[3];

    (void)state;
    assert_true(tg_unhex("00fF1a", 3, bytes));
    assert_memory_equal(bytes, "\x00\xff\x1a", 3);
    for (size_t i = 0; i < TG_COUNT_OF(bad); i++)
        if (tg_unhex(bad[i], 3, bytes))
            fail_msg("accepted: %s", bad[i]);
}

static void comparison_and_wiping_see_every_byte(void **state)
{
    char a[] = "0123456789", b[] = "0123456789";

    (void)state;
    assert_true(tg_equal_constant_time(a, b, sizeof a));
    for (size_t i = 0; i < sizeof a; i++) {
        b[i] ^= 1;
        assert_false(tg_equal_constant_time(a, b, sizeof a));
        b[i] ^= 1;
    }
    tg_wipe(a, sizeof a);
    for (size_t i = 0; i < sizeof a; i++)
        assert_int_equal(a[i], 0);
}

static void new_tokens_have_the_shape_and_differ(void **state)
{
    char first[TG_TOKEN_TEXT], second[TG_TOKEN_TEXT];

    (void)state;
    tg_token_new(first);
    assert_int_equal(strlen(first), TG_TOKEN_TEXT - 1);
    assert_memory_equal(first, "sk-tg", 5);
    for (int i = 0; i < 200; i++) {
        tg_token_new(second);
        assert_true(tg_token_shape_ok(second, strlen(second)));
        assert_string_not_equal(first, second);
    }
}

static void other_shapes_are_no_tokens(void **state)
{
    char good[TG_TOKEN_TEXT], bad[TG_TOKEN_TEXT];
    static const char *const others[] = {"", "sk-tg", "sk-proj-abcdef", "Bearer x"};

    (void)state;
    tg_token_new(good);
    assert_false(tg_token_shape_ok(good, TG_TOKEN_TEXT - 2));
    assert_false(tg_token_shape_ok(good, TG_TOKEN_TEXT));
    for (size_t i = 0; i < TG_COUNT_OF(others); i++)
        assert_false(tg_token_shape_ok(others[i], strlen(others[i])));
    for (size_t i = 0; i < TG_TOKEN_TEXT - 1; i++) {
        memcpy(bad, good, sizeof bad);
        bad[i] = '-';
        if (good[i] != '-')
            assert_false(tg_token_shape_ok(bad, TG_TOKEN_TEXT - 1));
        bad[i] = '\0';
        assert_false(tg_token_shape_ok(bad, TG_TOKEN_TEXT - 1));
    }
}

static void passwords_are_salted_argon2id(void **state)
{
    struct tg_buf first, second;
    char too_long[1026];

    (void)state;
    tg_buf_init(&first, 0);
    tg_buf_init(&second, 0);
    assert_int_equal(tg_password_hash("correct horse", &first, NULL), TG_OK);
    assert_int_equal(tg_password_hash("correct horse", &second, NULL), TG_OK);
    assert_memory_equal(first.data, "$argon2id$v=19$m=65536,t=2,p=1$", 31);
    assert_string_not_equal(first.data, second.data);
    assert_true(tg_password_ok("correct horse", first.data));
    assert_false(tg_password_ok("correct horsf", first.data));
    assert_false(tg_password_ok("", first.data));
    assert_false(tg_password_ok("correct horse", ""));
    assert_false(tg_password_ok("correct horse", "correct horse"));
    memset(too_long, 'x', sizeof too_long - 1);
    too_long[sizeof too_long - 1] = '\0';
    assert_int_equal(tg_password_hash(too_long, &first, NULL), TG_CLASS_INVALID);
    tg_buf_done(&first);
    tg_buf_done(&second);
}

static struct tg_span span_of(const struct tg_buf *buf)
{
    return (struct tg_span){buf->data, buf->len};
}

static void a_box_opens_for_its_row_and_key_only(void **state)
{
    static const char *const secrets[] = {"", "sk-upstream-0123456789", "{\"key\":\"\\n\"}"};
    static const char *const other_rows[] = {"", "channel_keys:7", "channel_keys:71s",
                                             "channel_keys:72"};
    uint8_t public_key[TG_KEY_BYTES], secret_key[TG_KEY_BYTES], other[TG_KEY_BYTES];
    struct tg_buf sealed, opened;
    struct tg_error err;

    (void)state;
    tg_seal_keypair(public_key, secret_key);
    tg_seal_public_of(secret_key, other);
    assert_memory_equal(public_key, other, TG_KEY_BYTES);
    tg_random(other, sizeof other);
    for (size_t i = 0; i < TG_COUNT_OF(secrets); i++) {
        tg_buf_init(&sealed, 0);
        tg_buf_init(&opened, 0);
        tg_seal(public_key, "channel_keys:71", secrets[i], &sealed);
        assert_int_equal(tg_unseal(secret_key, "channel_keys:71", span_of(&sealed), &opened,
                                   &err),
                         TG_OK);
        assert_string_equal(tg_buf_text(&opened), secrets[i]);
        tg_buf_reset(&opened);
        for (size_t j = 0; j < TG_COUNT_OF(other_rows); j++)
            assert_int_equal(tg_unseal(secret_key, other_rows[j], span_of(&sealed), &opened,
                                       &err),
                             TG_CLASS_CONFIG);
        assert_int_equal(tg_unseal(other, "channel_keys:71", span_of(&sealed), &opened,
                                   &err),
                         TG_CLASS_CONFIG);
        assert_string_equal(err.code, "unseal");
        assert_int_equal(opened.len, 0);
        tg_buf_done(&sealed);
        tg_buf_done(&opened);
    }
}

static void a_changed_or_cut_box_does_not_open(void **state)
{
    uint8_t public_key[TG_KEY_BYTES], secret_key[TG_KEY_BYTES];
    struct tg_buf sealed, opened;

    (void)state;
    tg_buf_init(&sealed, 0);
    tg_buf_init(&opened, 0);
    tg_seal_keypair(public_key, secret_key);
    tg_seal(public_key, "row", "secret", &sealed);
    for (size_t i = 0; i < sealed.len; i++) {
        struct tg_span cut = {sealed.data, i};

        assert_int_equal(tg_unseal(secret_key, "row", cut, &opened, NULL), TG_CLASS_CONFIG);
        sealed.data[i] ^= 1;
        assert_int_equal(tg_unseal(secret_key, "row", span_of(&sealed), &opened, NULL),
                         TG_CLASS_CONFIG);
        sealed.data[i] ^= 1;
    }
    assert_int_equal(opened.len, 0);
    assert_int_equal(tg_unseal(secret_key, "row", span_of(&sealed), &opened, NULL), TG_OK);
    tg_buf_done(&sealed);
    tg_buf_done(&opened);
}

static void keys_that_cannot_seal_are_known(void **state)
{
    uint8_t zero[TG_KEY_BYTES] = {0}, one[TG_KEY_BYTES] = {1}, good[TG_KEY_BYTES],
            secret[TG_KEY_BYTES];

    (void)state;
    tg_seal_keypair(good, secret);
    assert_true(tg_seal_public_ok(good));
    assert_false(tg_seal_public_ok(zero));
    assert_false(tg_seal_public_ok(one));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hmac_agrees_with_the_rfc),
        cmocka_unit_test(a_key_made_ready_gives_the_same_again_and_again),
        cmocka_unit_test(sha256_agrees_with_the_standard),
        cmocka_unit_test(hex_takes_exactly_its_length),
        cmocka_unit_test(comparison_and_wiping_see_every_byte),
        cmocka_unit_test(new_tokens_have_the_shape_and_differ),
        cmocka_unit_test(other_shapes_are_no_tokens),
        cmocka_unit_test(passwords_are_salted_argon2id),
        cmocka_unit_test(a_box_opens_for_its_row_and_key_only),
        cmocka_unit_test(a_changed_or_cut_box_does_not_open),
        cmocka_unit_test(keys_that_cannot_seal_are_known),
    };

    return cmocka_run_group_tests(tests, init, NULL);
}
