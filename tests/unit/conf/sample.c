/* The annotated sample: every option of the table, nothing else, and what it shows is true.
 *
 * `unit-conf-sample --print` prints it, for conf/tollgate.conf after a change of the table. */
#include "tests/unit/unit.h"

#include "common/conf/sample.h"
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

static void the_file_in_the_tree_is_the_sample(void **state)
{
    const char *source = getenv("TOLLGATE_SOURCE");
    struct tg_buf sample, path, text;
    char block[4096];
    FILE *file;
    size_t len;

    (void)state;
    tg_buf_init(&sample, 0);
    tg_buf_init(&path, 0);
    tg_buf_init(&text, 0);
    tg_buf_printf(&path, "%s/conf/tollgate.conf", source != NULL ? source : "..");
    file = fopen(path.data, "r");
    assert_non_null(file);
    while ((len = fread(block, 1, sizeof block, file)) > 0)
        tg_buf_add(&text, block, len);
    fclose(file);
    tg_conf_write_sample(NULL, 0, &sample);
    assert_string_equal(tg_buf_text(&text), tg_buf_text(&sample));
    tg_buf_done(&sample);
    tg_buf_done(&path);
    tg_buf_done(&text);
}

static void as_it_stands_it_changes_nothing(void **state)
{
    struct tg_conf *conf;
    struct tg_buf sample;

    (void)state;
    tg_buf_init(&sample, 0);
    tg_conf_write_sample(NULL, 0, &sample);
    conf = load(tg_buf_text(&sample));
    for (int i = 0; i < TG_OPTION__COUNT; i++)
        assert_int_equal(tg_conf_source(conf, (enum tg_option_id)i), TG_CONF_FROM_DEFAULT);
    tg_conf_free(conf);
    tg_buf_done(&sample);
}

static void without_its_comment_signs_it_sets_every_default(void **state)
{
    struct tg_conf *conf;
    struct tg_buf sample;

    (void)state;
    tg_buf_init(&sample, 0);
    tg_conf_write_sample(NULL, 0, &sample);
    for (char *at = sample.data; (at = strstr(at, "\n    #")) != NULL; at++)
        if (at[6] != ' ')
            at[5] = ' ';
    conf = load(tg_buf_text(&sample));
    for (int i = 0; i < TG_OPTION__COUNT; i++) {
        assert_int_equal(tg_conf_source(conf, (enum tg_option_id)i), TG_CONF_FROM_FILE);
        assert_string_equal(tg_conf_shown(conf, (enum tg_option_id)i), tg_options[i].fallback);
    }
    tg_conf_free(conf);
    tg_buf_done(&sample);
}

static void values_that_are_given_stand_uncommented(void **state)
{
    static const struct tg_conf_overlay overlay[] = {
        {"pool.workers", "3"},
        {"node.name", "a \"b\" \\c"},
        {"retry.empty_answer", "false"},
        {"listen.address", "tcp:127.0.0.1:9200"},
    };
    struct tg_conf *conf;
    struct tg_buf sample;

    (void)state;
    tg_buf_init(&sample, 0);
    tg_conf_write_sample(overlay, TG_COUNT_OF(overlay), &sample);
    assert_non_null(strstr(sample.data, "\n    workers = 3;\n"));
    assert_non_null(strstr(sample.data, "\n    #threads_max = 5000;\n"));
    conf = load(tg_buf_text(&sample));
    assert_int_equal(tg_conf_int(conf, TG_OPTION_POOL_WORKERS), 3);
    assert_string_equal(tg_conf_text(conf, TG_OPTION_NODE_NAME), "a \"b\" \\c");
    assert_false(tg_conf_bool(conf, TG_OPTION_RETRY_EMPTY_ANSWER));
    assert_string_equal(tg_conf_text(conf, TG_OPTION_LISTEN_ADDRESS), "tcp:127.0.0.1:9200");
    assert_int_equal(tg_conf_source(conf, TG_OPTION_POOL_THREADS_MAX), TG_CONF_FROM_DEFAULT);
    tg_conf_free(conf);
    tg_buf_done(&sample);
}

static int print_sample(void)
{
    struct tg_buf sample;

    tg_buf_init(&sample, 0);
    tg_conf_write_sample(NULL, 0, &sample);
    fputs(tg_buf_text(&sample), stdout);
    tg_buf_done(&sample);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_file_in_the_tree_is_the_sample),
        cmocka_unit_test(as_it_stands_it_changes_nothing),
        cmocka_unit_test(without_its_comment_signs_it_sets_every_default),
        cmocka_unit_test(values_that_are_given_stand_uncommented),
    };

    if (argc > 1 && strcmp(argv[1], "--print") == 0)
        return print_sample();
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
