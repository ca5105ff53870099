/* The two secret files: made once, read strictly, never in a message. */
#include "tests/unit/unit.h"

#include "common/crypto/secrets.h"
#include "tests/unit/folder.h"

static struct test_folder folder;
static char console_path[200], private_path[200];

#define KEY_A "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
#define KEY_B "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff000102030405060708090a0b0c0d0e0f"
/* The public key of KEY_A, RFC 7748's X25519 of the base point. */
#define PUBLIC_A "8f40c5adb68f25624ae5b214ea767a6ec94d829d3d7b5e1ad1ba6f3e2138285f"

static int begin(void **state)
{
    (void)state;
    test_folder_init(&folder);
    snprintf(console_path, sizeof console_path, "%s/console.secrets", folder.path);
    snprintf(private_path, sizeof private_path, "%s/tollgate.secrets", folder.path);
    return tg_crypto_init(NULL) == TG_OK ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    test_folder_done(&folder);
    return 0;
}

static void assert_refused(enum tg_class class, const char *code, const char *message)
{
    struct tg_secrets secrets = {.key_version = 77};
    struct tg_error err;

    assert_int_equal(tg_secrets_read(console_path, private_path, &secrets, &err), class);
    assert_string_equal(err.code, code);
    if (strstr(err.message, message) == NULL)
        fail_msg("%s", err.message);
    assert_null(strstr(err.message, "f0f1f2f3")); /* nothing of a key */
    assert_int_equal(secrets.key_version, 77);
}

static void new_files_are_private_and_belong_together(void **state)
{
    struct tg_secrets both, console;
    struct tg_error err;
    struct stat info;
    mode_t old = umask(0077);

    (void)state;
    assert_int_equal(tg_secrets_create(console_path, private_path, &err), TG_OK);
    umask(old);
    assert_int_equal(stat(console_path, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0640);
    assert_int_equal(stat(private_path, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0640);
    assert_int_equal(tg_secrets_read(console_path, private_path, &both, &err), TG_OK);
    assert_int_equal(tg_secrets_read(console_path, NULL, &console, &err), TG_OK);
    assert_true(both.has_private);
    assert_false(console.has_private);
    assert_int_equal(both.key_version, 1);
    assert_memory_equal(both.seal_public, console.seal_public, TG_KEY_BYTES);
    assert_memory_not_equal(both.token_pepper, both.session_key, TG_KEY_BYTES);
    assert_memory_not_equal(both.token_pepper, both.internal_key, TG_KEY_BYTES);
    assert_int_equal(strlen(both.fingerprint), 16);
    assert_string_equal(both.fingerprint, console.fingerprint);
    tg_secrets_done(&both);
    tg_secrets_done(&console);
    for (size_t i = 0; i < TG_KEY_BYTES; i++)
        assert_int_equal(both.seal_private[i], 0);
}

static void existing_files_are_never_overwritten(void **state)
{
    struct tg_secrets before, after;
    struct tg_error err;

    (void)state;
    assert_int_equal(tg_secrets_read(console_path, private_path, &before, &err), TG_OK);
    assert_int_equal(tg_secrets_create(console_path, private_path, &err), TG_CLASS_CONFLICT);
    assert_string_equal(err.code, "secrets_exist");
    assert_int_equal(tg_secrets_read(console_path, private_path, &after, &err), TG_OK);
    assert_memory_equal(&before, &after, sizeof before);

    /* Only the console's file is there: no private file may be left without its pair. */
    assert_int_equal(unlink(private_path), 0);
    assert_int_equal(tg_secrets_create(console_path, private_path, &err), TG_CLASS_CONFLICT);
    assert_int_not_equal(access(private_path, F_OK), 0);
    assert_int_equal(tg_secrets_read(console_path, NULL, &after, &err), TG_OK);
    assert_string_equal(before.fingerprint, after.fingerprint);
}

static void the_fingerprint_changes_with_every_key(void **state)
{
    static const char *const texts[] = {
        "key_version=1\nseal_public=" PUBLIC_A "\ntoken_pepper=" KEY_A "\nsession_key=" KEY_A
        "\ninternal_key=" KEY_A "\n",
        "key_version=2\nseal_public=" PUBLIC_A "\ntoken_pepper=" KEY_A "\nsession_key=" KEY_A
        "\ninternal_key=" KEY_A "\n",
        "key_version=1\nseal_public=" KEY_B "\ntoken_pepper=" KEY_A "\nsession_key=" KEY_A
        "\ninternal_key=" KEY_A "\n",
        "key_version=1\nseal_public=" PUBLIC_A "\ntoken_pepper=" KEY_B "\nsession_key=" KEY_A
        "\ninternal_key=" KEY_A "\n",
        "key_version=1\nseal_public=" PUBLIC_A "\ntoken_pepper=" KEY_A "\nsession_key=" KEY_B
        "\ninternal_key=" KEY_A "\n",
        "key_version=1\nseal_public=" PUBLIC_A "\ntoken_pepper=" KEY_A "\nsession_key=" KEY_A
        "\ninternal_key=" KEY_B "\n",
    };
    char seen[TG_COUNT_OF(texts)][17];
    struct tg_secrets secrets;
    struct tg_error err;

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(texts); i++) {
        test_folder_write(&folder, "console.secrets", texts[i], 0640);
        assert_int_equal(tg_secrets_read(console_path, NULL, &secrets, &err), TG_OK);
        memcpy(seen[i], secrets.fingerprint, sizeof seen[i]);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(seen[i], seen[j]);
    }
}

#define CONSOLE                                                                                   \
    "# comment\n\n  key_version = 1 \nseal_public = " PUBLIC_A "\r\ntoken_pepper = " KEY_A         \
    "\nsession_key = " KEY_A "\ninternal_key=" KEY_A

static void files_are_read_strictly(void **state)
{
    static const struct {
        const char *console, *private, *code, *message;
    } cases[] = {
        {CONSOLE, "key_version=1\nseal_private=" KEY_B, "secrets_mismatch", "does not belong"},
        {CONSOLE, "key_version=2\nseal_private=" KEY_A, "secrets_mismatch", "does not belong"},
        {CONSOLE, "key_version=1\nseal_private=" KEY_A "\nother_version=2", "secrets_syntax",
         "a second key"},
        {CONSOLE, "key_version=1\nseal_private=" KEY_A "\nother_private=" KEY_B, "secrets_syntax",
         "a second key"},
        {CONSOLE,
         "key_version=1\nseal_private=" KEY_A "\nother_version=1\nother_private=" KEY_B,
         "secrets_syntax", "a second key"},
        {CONSOLE,
         "key_version=1\nseal_private=" KEY_B "\nother_version=2\nother_private=" KEY_A,
         "secrets_mismatch", "does not belong"},
        {CONSOLE, "seal_private=" KEY_A, "secrets_syntax",
         "tollgate.secrets: key_version is missing"},
        {CONSOLE, "key_version=1\nseal_private=" KEY_A "\nx=1", "secrets_syntax",
         "tollgate.secrets:3: an unknown name"},
        {CONSOLE "\nsession_key=" KEY_B, "", "secrets_syntax",
         "console.secrets:8: a name that was there before"},
        {CONSOLE "\n" KEY_B, "", "secrets_syntax", "console.secrets:8: no \"name = value\""},
        {"key_version = 0", "", "secrets_syntax", "console.secrets:1: a bad value"},
        {"key_version = x", "", "secrets_syntax", "console.secrets:1: a bad value"},
        {"token_pepper = " KEY_B "00", "", "secrets_syntax", "console.secrets:1: a bad value"},
        {"token_pepper = f0f1f2f3", "", "secrets_syntax", "console.secrets:1: a bad value"},
        {"= " KEY_B, "", "secrets_syntax", "console.secrets:1: an unknown name"},
        {"key_version=1\nseal_public="
         "0000000000000000000000000000000000000000000000000000000000000000\ntoken_pepper=" KEY_A
         "\nsession_key=" KEY_A "\ninternal_key=" KEY_A,
         "", "secrets_syntax", "seal_public is no public key"},
        {"", "", "secrets_syntax", "console.secrets: key_version is missing"},
    };
    struct tg_secrets secrets;
    struct tg_error err;

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        test_folder_write(&folder, "console.secrets", cases[i].console, 0640);
        test_folder_write(&folder, "tollgate.secrets", cases[i].private, 0640);
        assert_refused(TG_CLASS_CONFIG, cases[i].code, cases[i].message);
    }
    test_folder_write(&folder, "console.secrets", CONSOLE, 0400);
    test_folder_write(&folder, "tollgate.secrets", "key_version=1\nseal_private=" KEY_A, 0600);
    assert_int_equal(tg_secrets_read(console_path, private_path, &secrets, &err), TG_OK);
    assert_int_equal(secrets.seal_private[31], 0x1f);
}

/* Seals with what the console has, opens with what a worker has. */
static void assert_opens(const struct tg_secrets *console, const struct tg_secrets *worker)
{
    struct tg_buf sealed, opened;
    struct tg_error err;

    tg_buf_init(&sealed, 0);
    tg_buf_init(&opened, 0);
    tg_seal(console->seal_public, "row", "a key", &sealed);
    const struct tg_sealed stored = {console->key_version, "row", {sealed.data, sealed.len}};

    assert_int_equal(tg_secrets_unseal(worker, &stored, &opened, &err), TG_OK);
    assert_string_equal(tg_buf_text(&opened), "a key");
    tg_buf_done(&sealed);
    tg_buf_done(&opened);
}

static void another_key_comes_in_three_steps(void **state)
{
    struct tg_secrets first, added, switched, retired;
    struct tg_error err;
    struct stat info;

    (void)state;
    unlink(console_path);
    unlink(private_path);
    assert_int_equal(tg_secrets_create(console_path, private_path, &err), TG_OK);
    assert_int_equal(chmod(console_path, 0440), 0);
    assert_int_equal(tg_secrets_read(console_path, private_path, &first, &err), TG_OK);
    assert_int_equal(tg_secrets_newest(&first), 1);

    test_folder_write(&folder, "tollgate.secrets.new", "left by one that was killed", 0600);
    assert_int_equal(tg_secrets_key_add(private_path, &first, &err), TG_OK);
    assert_int_equal(stat(private_path, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0640);
    assert_int_equal(tg_secrets_read(console_path, private_path, &added, &err), TG_OK);
    assert_int_equal(added.key_version, 1);
    assert_int_equal(tg_secrets_newest(&added), 2);
    assert_opens(&first, &added);

    assert_int_equal(tg_secrets_key_switch(console_path, &added, &err), TG_OK);
    assert_int_equal(stat(console_path, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0440);
    assert_int_equal(tg_secrets_read(console_path, private_path, &switched, &err), TG_OK);
    assert_int_equal(switched.key_version, 2);
    assert_opens(&first, &switched);
    assert_opens(&switched, &added); /* a worker that has not read the console's file again */
    assert_memory_equal(first.token_pepper, switched.token_pepper, TG_KEY_BYTES);
    assert_memory_equal(first.session_key, switched.session_key, TG_KEY_BYTES);
    assert_memory_equal(first.internal_key, switched.internal_key, TG_KEY_BYTES);

    assert_int_equal(tg_secrets_key_retire(private_path, &switched, &err), TG_OK);
    assert_int_equal(tg_secrets_read(console_path, private_path, &retired, &err), TG_OK);
    assert_int_equal(retired.other_version, 0);
    assert_null(tg_secrets_private(&retired, 1));
    assert_opens(&switched, &retired);
    assert_string_equal(switched.fingerprint, retired.fingerprint);
    assert_string_not_equal(first.fingerprint, retired.fingerprint);
}

static void files_that_others_may_touch_are_refused(void **state)
{
    static const mode_t modes[] = {0644, 0642, 0641, 0660, 0604};

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(modes); i++) {
        test_folder_write(&folder, "console.secrets", CONSOLE, modes[i]);
        assert_refused(TG_CLASS_CONFIG, "secrets_mode", "console.secrets: too open");
    }
    test_folder_write(&folder, "console.secrets", CONSOLE, 0640);
    test_folder_write(&folder, "tollgate.secrets", "key_version=1\nseal_private=" KEY_A, 0644);
    assert_refused(TG_CLASS_CONFIG, "secrets_mode", "tollgate.secrets: too open");
    assert_int_equal(unlink(private_path), 0);
    assert_refused(TG_CLASS_CONFIG, "secrets_file", "No such file");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_files_are_private_and_belong_together),
        cmocka_unit_test(existing_files_are_never_overwritten),
        cmocka_unit_test(the_fingerprint_changes_with_every_key),
        cmocka_unit_test(files_are_read_strictly),
        cmocka_unit_test(another_key_comes_in_three_steps),
        cmocka_unit_test(files_that_others_may_touch_are_refused),
    };

    return cmocka_run_group_tests(tests, begin, end);
}
