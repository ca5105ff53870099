/* Words of a command: what is an option is read from the usage line. */
#include "tests/unit/unit.h"

#include "admin-cgi/ctl/args.h"

static const char usage[] =
    "NAME --user N [--limit USD | --unlimited] [--role user|admin] [--key-stdin | --key-file F]";

static void options_take_values_as_the_usage_says(void **state)
{
    char *const argv[] = {(char[]){"bob"},         (char[]){"--user"}, (char[]){"--limit"},
                          (char[]){"--role=admin"}, (char[]){"-0.5"},   (char[]){"--unlimited"},
                          (char[]){"--key-file"},   (char[]){""},       NULL};
    struct ctl_args args;

    (void)state;
    assert_int_equal(ctl_args_parse(usage, argv, &args, NULL), TG_OK);
    assert_int_equal(args.positional_count, 2);
    assert_string_equal(args.positionals[0], "bob");
    assert_string_equal(args.positionals[1], "-0.5");
    assert_string_equal(ctl_option(&args, "--user"), "--limit");
    assert_string_equal(ctl_option(&args, "--role"), "admin");
    assert_string_equal(ctl_option(&args, "--unlimited"), "");
    assert_string_equal(ctl_option(&args, "--key-file"), "");
    assert_null(ctl_option(&args, "--limit"));
    assert_null(ctl_option(&args, "--key-stdin"));
    assert_string_equal(ctl_option_or(&args, "--limit", "x"), "x");
}

static void what_the_usage_lacks_is_refused(void **state)
{
    static const struct {
        const char *words[4];
    } cases[] = {
        {{"--other", "x"}},     {{"--us", "x"}},          {{"--user"}},
        {{"--user=a", "--user=b"}}, {{"--unlimited=yes"}}, {{"--key"}},
        {{"--user|"}},          {{"--=x"}},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        char words[4][32];
        char *argv[5] = {NULL};
        struct ctl_args args;
        struct tg_error err;

        for (int k = 0; k < 4 && cases[i].words[k] != NULL; k++) {
            strncpy(words[k], cases[i].words[k], sizeof words[k] - 1);
            words[k][sizeof words[k] - 1] = '\0';
            argv[k] = words[k];
        }
        assert_int_equal(ctl_args_parse(usage, argv, &args, &err), TG_CLASS_INVALID);
        assert_string_equal(err.code, "usage");
    }
}

static void two_dashes_end_the_options(void **state)
{
    char *const argv[] = {(char[]){"--"}, (char[]){"--user"}, NULL};
    struct ctl_args args;

    (void)state;
    assert_int_equal(ctl_args_parse(usage, argv, &args, NULL), TG_OK);
    assert_int_equal(args.positional_count, 1);
    assert_string_equal(args.positionals[0], "--user");
}

static void lists_and_ids(void **state)
{
    static const char *const bad[] = {"", "0", "-1", "1x", "x", "01", "1234567890123456789"};
    struct tg_arena *arena = tg_arena_new();
    const char *const *list;
    size_t count;
    int64_t id = 0;

    (void)state;
    ctl_list(arena, " a, b c ,,d,", &list, &count);
    assert_int_equal(count, 3);
    assert_string_equal(list[0], "a");
    assert_string_equal(list[1], "b c");
    assert_string_equal(list[2], "d");
    ctl_list(arena, "", &list, &count);
    assert_int_equal(count, 0);
    assert_non_null(list); /* an empty list is a list */
    ctl_list(arena, "one", &list, &count);
    assert_int_equal(count, 1);
    tg_arena_free(arena);
    assert_int_equal(ctl_id("42", &id, NULL), TG_OK);
    assert_int_equal(id, 42);
    for (size_t i = 0; i < TG_COUNT_OF(bad); i++)
        assert_int_equal(ctl_id(bad[i], &id, NULL), TG_CLASS_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_take_values_as_the_usage_says),
        cmocka_unit_test(what_the_usage_lacks_is_refused),
        cmocka_unit_test(two_dashes_end_the_options),
        cmocka_unit_test(lists_and_ids),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
