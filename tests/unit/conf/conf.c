/* The settings in force: precedence, strictness with file and line, bounds, passwords. */
#include "tests/unit/unit.h"

#include "common/conf/conf.h"
#include "tests/unit/folder.h"

static struct test_folder folder;

static int make_folder(void **state)
{
    (void)state;
    test_folder_init(&folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    test_folder_done(&folder);
    return 0;
}

static struct tg_conf *load(const char *text)
{
    struct tg_conf *conf;
    struct tg_error err;

    if (tg_conf_load(test_folder_write(&folder, "t.conf", text, 0644), NULL, 0, &conf, &err) !=
        TG_OK)
        fail_msg("%s", err.message);
    return conf;
}

/* The message without the folder's path in front. */
static void assert_refused(const char *text, const char *code, const char *message)
{
    const char *path = test_folder_write(&folder, "t.conf", text, 0644);
    struct tg_conf *conf = NULL;
    struct tg_error err;
    const char *got;

    assert_int_equal(tg_conf_load(path, NULL, 0, &conf, &err), TG_CLASS_CONFIG);
    assert_null(conf);
    assert_string_equal(err.code, code);
    got = err.message;
    if (strncmp(got, folder.path, strlen(folder.path)) == 0)
        got += strlen(folder.path) + 1;
    assert_string_equal(got, message);
}

static void an_empty_file_gives_the_defaults(void **state)
{
    struct tg_conf *conf = load("");

    (void)state;
    assert_string_equal(tg_conf_text(conf, TG_OPTION_LISTEN_ADDRESS),
                        "unix:/run/tollgate/tollgate.sock");
    assert_int_equal(tg_conf_int(conf, TG_OPTION_POOL_WORKERS), 2);
    assert_int_equal(tg_conf_int(conf, TG_OPTION_BODY_LIMIT), 128 << 20);
    assert_int_equal(tg_conf_int(conf, TG_OPTION_RETRY_BACKOFF_BASE), 250000);
    assert_int_equal(tg_conf_int(conf, TG_OPTION_LEDGER_OFFLINE_ALLOWANCE), 500000);
    assert_true(tg_conf_bool(conf, TG_OPTION_RETRY_EMPTY_ANSWER));
    assert_string_equal(tg_conf_text(conf, TG_OPTION_DEPOSIT_FACTOR), "1");
    for (int i = 0; i < TG_OPTION__COUNT; i++) {
        assert_int_equal(tg_conf_source(conf, (enum tg_option_id)i), TG_CONF_FROM_DEFAULT);
        assert_string_equal(tg_conf_shown(conf, (enum tg_option_id)i), tg_options[i].fallback);
    }
    tg_conf_free(conf);
    tg_conf_free(NULL);
}

static void the_file_wins_over_the_environment(void **state)
{
    struct tg_conf *conf;

    (void)state;
    setenv("TOLLGATE_POOL_WORKERS", "3", 1);
    setenv("TOLLGATE_UPSTREAM_FIRST_BYTE", "7s", 1);
    setenv("TOLLGATE_RETRY_EMPTY_ANSWER", "false", 1);
    setenv("TOLLGATE_SOMETHING_ELSE", "x", 1);
    conf = load("pool: { workers = 5; };\nrouting = { prefer_native = false; }\n");
    assert_int_equal(tg_conf_int(conf, TG_OPTION_POOL_WORKERS), 5);
    assert_int_equal(tg_conf_source(conf, TG_OPTION_POOL_WORKERS), TG_CONF_FROM_FILE);
    assert_int_equal(tg_conf_int(conf, TG_OPTION_UPSTREAM_FIRST_BYTE), 7000000);
    assert_int_equal(tg_conf_source(conf, TG_OPTION_UPSTREAM_FIRST_BYTE),
                     TG_CONF_FROM_ENVIRONMENT);
    assert_string_equal(tg_conf_shown(conf, TG_OPTION_UPSTREAM_FIRST_BYTE), "7s");
    assert_false(tg_conf_bool(conf, TG_OPTION_RETRY_EMPTY_ANSWER));
    assert_false(tg_conf_bool(conf, TG_OPTION_ROUTING_PREFER_NATIVE));
    tg_conf_free(conf);

    setenv("TOLLGATE_UPSTREAM_FIRST_BYTE", "7", 1);
    assert_refused("", "conf_value",
                   "TOLLGATE_UPSTREAM_FIRST_BYTE: upstream.first_byte must be a duration like "
                   "250ms, 30s, 10m or 24h");
    unsetenv("TOLLGATE_POOL_WORKERS");
    unsetenv("TOLLGATE_UPSTREAM_FIRST_BYTE");
    unsetenv("TOLLGATE_RETRY_EMPTY_ANSWER");
    unsetenv("TOLLGATE_SOMETHING_ELSE");
}

static void only_options_for_it_come_from_the_database(void **state)
{
    static const struct tg_conf_overlay unknown = {"retry.attemps", "5"};
    static const struct tg_conf_overlay start = {"pool.workers", "5"};
    const char *path = test_folder_write(&folder, "t.conf", "", 0644);
    struct tg_conf *conf;
    struct tg_error err;

    (void)state;
    assert_int_equal(tg_conf_load(path, &unknown, 1, &conf, &err), TG_CLASS_CONFIG);
    assert_string_equal(err.message, "options table: unknown option retry.attemps");
    assert_int_equal(tg_conf_load(path, &start, 1, &conf, &err), TG_CLASS_CONFIG);
    assert_string_equal(err.message, "options table: pool.workers is set in the conf file only");
    for (int i = 0; i < TG_OPTION__COUNT; i++) {
        struct tg_conf_overlay overlay = {tg_options[i].name, tg_options[i].fallback};

        if ((tg_options[i].flags & TG_OPTION_DATABASE) == 0)
            continue;
        assert_int_equal(tg_conf_load(path, &overlay, 1, &conf, &err), TG_OK);
        assert_int_equal(tg_conf_source(conf, (enum tg_option_id)i), TG_CONF_FROM_DATABASE);
        tg_conf_free(conf);
    }
}

static void mistakes_are_refused_with_file_and_line(void **state)
{
    static const struct {
        const char *text, *code, *message;
    } cases[] = {
        {"pool: { workers = ; };", "conf_syntax", "t.conf:1: syntax error"},
        {"\npool: { workers = 1; };\npool: { workers = 2; };", "conf_syntax",
         "t.conf:3: duplicate setting name"},
        {"\n\npol: { workers = 2; };", "conf_unknown", "t.conf:3: unknown section pol"},
        {"workers = 2;", "conf_unknown", "t.conf:1: unknown section workers"},
        {"pool = 2;", "conf_type", "t.conf:1: pool must be a group { ... }"},
        {"pool = ( 2 );", "conf_type", "t.conf:1: pool must be a group { ... }"},
        {"pool: {\n  worker = 2;\n};", "conf_unknown", "t.conf:2: unknown option pool.worker"},
        {"pool: {\n workers: { a = 1; };\n};", "conf_type",
         "t.conf:2: pool.workers must be a whole number"},
        {"pool: { workers = \"2\"; };", "conf_type",
         "t.conf:1: pool.workers must be a whole number"},
        {"pool: { workers = 2.0; };", "conf_type",
         "t.conf:1: pool.workers must be a whole number"},
        {"pool: { workers = true; };", "conf_type",
         "t.conf:1: pool.workers must be a whole number"},
        {"pool: { workers = 0; };", "conf_value",
         "t.conf:1: pool.workers must be between 1 and 256"},
        {"pool: { workers = -2; };", "conf_value",
         "t.conf:1: pool.workers must be between 1 and 256"},
        {"body: {\n\n limit = 1048576; };", "conf_type",
         "t.conf:3: body.limit must be a text in quotes"},
        {"body: { limit = \"1\"; };", "conf_value",
         "t.conf:1: body.limit must be between 1KiB and 1TiB"},
        {"hold: { renew = \"2h\"; };", "conf_value",
         "t.conf:1: hold.renew must be between 100ms and 1h"},
        {"hold: { renew = \"5m\"; };", "conf_value", "hold.renew must be shorter than hold.lease"},
        {"retry: { empty_answer = 1; };", "conf_type",
         "t.conf:1: retry.empty_answer must be true or false"},
        {"log: { file = [\"a\"]; };", "conf_type", "t.conf:1: log.file must be a text in quotes"},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++)
        assert_refused(cases[i].text, cases[i].code, cases[i].message);
}

static void numbers_that_libconfig_would_cut_are_refused(void **state)
{
    static const char *const bad[] = {
        "pool: { workers = 4294967298; };",   "pool: { workers = 4294967298L; };",
        "pool: { workers = -4294967294; };",  "pool: { workers = 0x100000002; };",
        "pool: { workers = 99999999999999999999; };", "pool:{workers=18446744073709551618;};",
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(bad); i++)
        assert_refused(bad[i], "conf_value", "t.conf:1: number beyond 2147483647");
    tg_conf_free(load("# 99999999999\n// 99999999999\n/* 99999999999 */\n"
                      "node: { name = \"99999999999 \\\" 99999999999\"; };\n"));
}

static void texts_are_checked_by_what_they_mean(void **state)
{
    static const struct {
        const char *section, *key, *good, *bad;
    } cases[] = {
        {"listen", "address", "tcp:127.0.0.1:9200", "127.0.0.1:9200"},
        {"listen", "address", "tcp:[::1]:9200", "tcp:127.0.0.1"},
        {"listen", "address", "unix:/run/x", "unix:x"},
        {"redis", "address", "tcp:redis.example:6379", "tcp:redis.example:65536"},
        {"listen", "mode", "0600", "0888"},
        {"listen", "mode", "660", "rw-rw----"},
        {"database", "main", "mysql://u@h/n", "u@h/n"},
        {"log", "level", "debug", "verbose"},
        {"log", "file", "/var/log/x", "x.log"},
        {"log", "file", "", "/var/log/x\\ny"},
        {"ledger", "spool_sync", "second", "always"},
        {"net", "channel_allow", "10.0.0.0/8, ::1/128", "10.0.0.1/8"},
        {"retry", "statuses", "500-503, 529", "5xx"},
        {"deposit", "factor", "1.25", "-1"},
        {"deposit", "factor", "0", "1e3"},
        {"deposit", "factor", "12", "1."},
        {"deposit", "trust_usd", "2.50", "0.000001"},
        {"deposit", "trust_usd", "0", "-1"},
        {"body", "limit", "8MiB", "8MB"},
        {"stream", "idle_typo", NULL, "1s"},
    };
    char text[200];

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        struct tg_conf *conf = NULL;
        struct tg_error err;

        snprintf(text, sizeof text, "%s: { %s = \"%s\"; };", cases[i].section, cases[i].key,
                 cases[i].bad);
        if (tg_conf_load(test_folder_write(&folder, "t.conf", text, 0644), NULL, 0, &conf, &err) !=
            TG_CLASS_CONFIG)
            fail_msg("accepted: %s", text);
        if (cases[i].good == NULL)
            continue;
        snprintf(text, sizeof text, "%s: { %s = \"%s\"; };", cases[i].section, cases[i].key,
                 cases[i].good);
        tg_conf_free(load(text));
    }
}

static void files_are_included_from_the_same_folder_only(void **state)
{
    static const char *const bad[] = {
        "@include \"/etc/hostname\"\n", "@include \"../x.conf\"\n", "\n\t@include \"a/b\"\n",
        "@include \"..\\/x\"\n", "@include x\n", "@include \"\"\n",
    };
    struct tg_conf *conf;
    struct tg_error err;

    (void)state;
    test_folder_write(&folder, "pool.conf", "\npool: { workers = 9; };\n", 0644);
    conf = load("# first\n@include \"pool.conf\"\nlog: { level = \"error\"; };\n");
    assert_int_equal(tg_conf_int(conf, TG_OPTION_POOL_WORKERS), 9);
    assert_string_equal(tg_conf_text(conf, TG_OPTION_LOG_LEVEL), "error");
    tg_conf_free(conf);
    for (size_t i = 0; i < TG_COUNT_OF(bad); i++) {
        assert_int_equal(tg_conf_load(test_folder_write(&folder, "t.conf", bad[i], 0644), NULL, 0,
                                      &conf, &err),
                         TG_CLASS_CONFIG);
        assert_string_equal(err.code, "conf_include");
    }
    test_folder_write(&folder, "pool.conf", "\n\npool: { worker = 9; };\n", 0644);
    assert_refused("@include \"pool.conf\"\n", "conf_unknown",
                   "pool.conf:3: unknown option pool.worker");
    assert_refused("@include \"gone.conf\"\n", "conf_file",
                   "gone.conf: No such file or directory");
    assert_refused("@include \"t.conf\"\n", "conf_include", "t.conf:1: too many files in files");
}

static void a_missing_file_is_an_error(void **state)
{
    struct tg_conf *conf;
    struct tg_error err;

    (void)state;
    assert_int_equal(tg_conf_load("/nonexistent/t.conf", NULL, 0, &conf, &err), TG_CLASS_CONFIG);
    assert_string_equal(err.code, "conf_file");
    assert_string_equal(err.message, "/nonexistent/t.conf: No such file or directory");
}

static void the_path_comes_from_the_environment(void **state)
{
    (void)state;
    setenv("TOLLGATE_CONF", "/x/y.conf", 1);
    assert_string_equal(tg_conf_default_path(), "/x/y.conf");
    setenv("TOLLGATE_CONF", "", 1);
    assert_string_equal(tg_conf_default_path(), TG_SYSCONFDIR "/tollgate/tollgate.conf");
    unsetenv("TOLLGATE_CONF");
}

static void passwords_are_first_lines_of_private_files(void **state)
{
    static const struct {
        const char *text, *password;
    } cases[] = {{"secret", "secret"}, {"se cret\r\nmore\n", "se cret"}, {"", ""}, {"\nx", ""}};
    struct tg_error err;
    struct tg_buf buf;

    (void)state;
    tg_buf_init(&buf, 0);
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        tg_buf_reset(&buf);
        assert_int_equal(tg_conf_password(test_folder_write(&folder, "pw", cases[i].text, 0640),
                                          &buf, &err),
                         TG_OK);
        assert_string_equal(tg_buf_text(&buf), cases[i].password);
    }
    tg_buf_reset(&buf);
    assert_int_equal(tg_conf_password("", &buf, &err), TG_OK);
    assert_string_equal(tg_buf_text(&buf), "");
    assert_int_equal(tg_conf_password(test_folder_write(&folder, "pw", "x", 0644), &buf, &err),
                     TG_CLASS_CONFIG);
    assert_string_equal(err.code, "conf_password_mode");
    assert_int_equal(tg_conf_password("/nonexistent/pw", &buf, &err), TG_CLASS_CONFIG);
    assert_int_equal(tg_conf_password("/dev/null", &buf, &err), TG_CLASS_CONFIG);
    tg_buf_done(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_file_gives_the_defaults),
        cmocka_unit_test(the_file_wins_over_the_environment),
        cmocka_unit_test(only_options_for_it_come_from_the_database),
        cmocka_unit_test(mistakes_are_refused_with_file_and_line),
        cmocka_unit_test(numbers_that_libconfig_would_cut_are_refused),
        cmocka_unit_test(texts_are_checked_by_what_they_mean),
        cmocka_unit_test(files_are_included_from_the_same_folder_only),
        cmocka_unit_test(a_missing_file_is_an_error),
        cmocka_unit_test(the_path_comes_from_the_environment),
        cmocka_unit_test(passwords_are_first_lines_of_private_files),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
