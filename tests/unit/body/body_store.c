/* One copy of a body: in memory, then in a file without a name, never above its limit. */
#include "tests/unit/unit.h"

#include "fcgi-app/body_store.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[] = "/tmp/tollgate-body-XXXXXX";

static int files_in_folder(void)
{
    DIR *dir = opendir(folder);
    int count = 0;

    assert_non_null(dir);
    while (readdir(dir) != NULL)
        count++;
    closedir(dir);
    return count - 2; /* . and .. */
}

static void the_limits_of_memory_and_file_are_exact(void **state)
{
    static const struct {
        size_t len;
        bool mapped, too_large;
    } cases[] = {
        {0, false, false}, {1, false, false},   {64, false, false},
        {65, true, false}, {1000, true, false}, {1001, false, true},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        struct tg_body_store store;
        struct tg_span body;
        bool mapped, good = true;

        tg_body_store_init(&store, 64, 1000, folder);
        for (size_t at = 0; at < cases[i].len && good; at++) {
            char byte = (char)('a' + at % 26);

            good = tg_body_store_add(&store, &byte, 1);
        }
        assert_int_equal(store.too_large, cases[i].too_large);
        assert_int_equal(good, !cases[i].too_large);
        assert_int_equal(files_in_folder(), 0);
        if (good) {
            assert_true(tg_body_store_take(&store, &body, &mapped));
            assert_int_equal(body.len, cases[i].len);
            assert_int_equal(mapped, cases[i].mapped);
            for (size_t at = 0; at < body.len; at++)
                assert_int_equal(body.ptr[at], 'a' + at % 26);
            tg_body_store_done(&store); /* what was taken outlives the store */
            assert_true(body.len == 0 || body.ptr[0] == 'a');
            tg_body_release(body, mapped);
        } else {
            assert_false(tg_body_store_add(&store, "x", 0));
            tg_body_store_done(&store);
        }
    }
}

static void one_large_piece_goes_straight_to_the_file(void **state)
{
    struct tg_body_store store;
    struct tg_span body;
    char block[500];
    bool mapped;

    (void)state;
    memset(block, 'q', sizeof block);
    tg_body_store_init(&store, 64, 1000, folder);
    assert_true(tg_body_store_add(&store, block, sizeof block));
    assert_true(tg_body_store_add(&store, block, sizeof block));
    assert_false(tg_body_store_add(&store, block, 1));
    assert_true(store.too_large);
    assert_true(tg_body_store_take(&store, &body, &mapped));
    assert_true(mapped);
    assert_int_equal(body.len, 1000);
    tg_body_store_done(&store);
    tg_body_release(body, mapped);
}

static void a_folder_that_is_not_there_is_an_error(void **state)
{
    struct tg_body_store store;

    (void)state;
    tg_body_store_init(&store, 4, 1000, "/nonexistent/folder");
    assert_true(tg_body_store_add(&store, "1234", 4));
    assert_false(tg_body_store_add(&store, "5", 1));
    assert_int_not_equal(store.error_number, 0);
    assert_false(store.too_large);
    tg_body_store_done(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_limits_of_memory_and_file_are_exact),
        cmocka_unit_test(one_large_piece_goes_straight_to_the_file),
        cmocka_unit_test(a_folder_that_is_not_there_is_an_error),
    };
    int failed;

    if (mkdtemp(folder) == NULL)
        return 1;
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    (void)rmdir(folder);
    return failed;
}
