/* Credentials that a worker remembers: whole copies, for a while, within bounds, safe when one goes
 * while it is in use. */
#include "tests/unit/unit.h"

#include "common/base/buf.h"
#include "common/credential/form.h"
#include "common/credential/known.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { LIFE_US = 10000000, MANY = 3 * 4096 * 2, THREADS = 4, ROUNDS = 20000 };

static struct tg_known *known;

static int start(void **state)
{
    (void)state;
    known = tg_known_new();
    return 0;
}

static int stop(void **state)
{
    (void)state;
    tg_known_free(known);
    return 0;
}

static const char *hmac_of(int number, char text[65])
{
    /* the leading digits choose the place */
    snprintf(text, 65, "%03x%061d", (unsigned)number & 0xfff, number);
    return text;
}

static struct tg_credential plain(int64_t token_id)
{
    return (struct tg_credential){.token_id = token_id,
                                  .user_id = 2,
                                  .token_name = "name",
                                  .team = "",
                                  .user_group = "default",
                                  .group_name = "gold",
                                  .authver = 3,
                                  .loss_policy = "",
                                  .stream_mode = "",
                                  .funding = "0"};
}

static void same(const struct tg_credential *a, const struct tg_credential *b)
{
    struct tg_buf one, other;

    tg_buf_init(&one, 0);
    tg_buf_init(&other, 0);
    tg_credential_write(a, &one);
    tg_credential_write(b, &other);
    assert_string_equal(tg_buf_text(&one), tg_buf_text(&other));
    tg_buf_done(&one);
    tg_buf_done(&other);
}

static void a_copy_is_whole_and_its_own(void **state)
{
    char name[] = "name", first[] = "m-a", group[] = "vip", hmac[65];
    const char *models[] = {first, "m-b"}, *groups[] = {group};
    struct tg_cidr ranges[2];
    struct tg_credential given = plain(7);
    const struct tg_credential *got;

    (void)state;
    assert_true(tg_cidr_parse("10.0.0.0/8", &ranges[0]));
    assert_true(tg_cidr_parse("2001:db8::/32", &ranges[1]));
    given.token_name = name;
    given.models_limited = true;
    given.models = models;
    given.model_count = 2;
    given.auto_groups = groups;
    given.auto_group_count = 1;
    given.funding = "9 0";
    given.addresses = ranges;
    given.address_count = 2;
    tg_known_keep(known, hmac_of(1, hmac), &given, 100);
    name[0] = first[0] = group[0] = 'X';
    memset(ranges, 0, sizeof ranges);
    got = tg_known_take(known, hmac, 100);
    assert_non_null(got);
    name[0] = 'n';
    first[0] = 'm';
    group[0] = 'v';
    assert_true(tg_cidr_parse("10.0.0.0/8", &ranges[0]));
    assert_true(tg_cidr_parse("2001:db8::/32", &ranges[1]));
    same(&given, got);
    assert_ptr_not_equal(got->models, given.models);
    tg_known_release(got);
}

static void it_is_known_for_a_while(void **state)
{
    struct tg_credential given = plain(7);
    const struct tg_credential *got;
    char hmac[65], other[65];

    (void)state;
    tg_known_keep(known, hmac_of(1, hmac), &given, 100);
    assert_null(tg_known_take(known, hmac_of(2, other), 100));
    got = tg_known_take(known, hmac, 100 + LIFE_US - 1);
    assert_non_null(got);
    assert_null(tg_known_take(known, hmac, 100 + LIFE_US));
    given.authver = 4; /* the newer one takes its place */
    tg_known_keep(known, hmac, &given, 200);
    assert_int_equal(got->authver, 3);
    tg_known_release(got);
    got = tg_known_take(known, hmac, 200);
    assert_int_equal(got->authver, 4);
    tg_known_drop(known, hmac);
    assert_null(tg_known_take(known, hmac, 200));
    assert_int_equal(got->authver, 4); /* borrowed until it is released */
    tg_known_release(got);
    tg_known_release(NULL);
}

static void a_large_one_is_not_kept_and_leaves_no_older_one(void **state)
{
    const char *models[200];
    struct tg_credential given = plain(7);
    char hmac[65];

    (void)state;
    tg_known_keep(known, hmac_of(1, hmac), &given, 100);
    for (size_t i = 0; i < TG_COUNT_OF(models); i++)
        models[i] = "a-model-of-some-length";
    given.models = models;
    given.model_count = TG_COUNT_OF(models);
    tg_known_keep(known, hmac, &given, 100);
    assert_null(tg_known_take(known, hmac, 100));
}

static void the_number_of_entries_is_bounded(void **state)
{
    int found = 0;

    (void)state;
    for (int i = 0; i < MANY; i++) {
        struct tg_credential given = plain(i);
        char hmac[65];

        tg_known_keep(known, hmac_of(i, hmac), &given, 100 + i);
    }
    for (int i = 0; i < MANY; i++) {
        char hmac[65];
        const struct tg_credential *got = tg_known_take(known, hmac_of(i, hmac), 100 + MANY);

        if (got != NULL)
            assert_int_equal(got->token_id, i);
        found += got != NULL;
        tg_known_release(got);
    }
    assert_int_equal(found, 2 * 4096);
}

static void *use(void *context)
{
    int own = *(int *)context;

    for (int i = 0; i < ROUNDS; i++) {
        struct tg_credential given = plain(i % 3);
        const struct tg_credential *got;
        char hmac[65];

        hmac_of(i % 3, hmac);
        if (i % 7 == own)
            tg_known_keep(known, hmac, &given, 100);
        else if (i % 11 == own)
            tg_known_drop(known, hmac);
        got = tg_known_take(known, hmac, 100);
        if (got != NULL && (got->token_id != i % 3 || strcmp(got->group_name, "gold") != 0))
            abort();
        tg_known_release(got);
    }
    return NULL;
}

static void threads_may_drop_what_others_use(void **state)
{
    pthread_t threads[THREADS];
    int numbers[THREADS];

    (void)state;
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, use, &numbers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_copy_is_whole_and_its_own),
        CASE(it_is_known_for_a_while),
        CASE(a_large_one_is_not_kept_and_leaves_no_older_one),
        CASE(the_number_of_entries_is_bounded),
        CASE(threads_may_drop_what_others_use),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
