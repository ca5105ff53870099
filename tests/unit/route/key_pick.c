/* Which key of a channel is next: states, caps, modes. */
#include "tests/unit/unit.h"

#include "fcgi-app/route/key_pick.h"

enum { NOW = 1000, MOST = 6 };

/* A key in few words: state letter (a r e s d), end, unit letter (- r t u), cap, room. */
struct brief {
    char state;
    int64_t until_s;
    char unit;
    int64_t cap, room;
    bool tried;
};

static struct tg_key_candidate full(const struct brief *brief)
{
    static const char states[] = "aresd", units[] = "-rtu";

    return (struct tg_key_candidate){
        .state = (enum tg_key_state)(strchr(states, brief->state) - states),
        .until_s = brief->until_s,
        .cap_unit = (enum tg_cap_unit)(strchr(units, brief->unit) - units),
        .cap = brief->cap,
        .room = brief->room,
        .reset_s = 5000,
        .tried = brief->tried,
    };
}

/* The indices as text: "201". */
static void picked(const struct brief *keys, size_t count, struct tg_key_choice choice,
                   char text[TG_KEY_CHOICES + 1])
{
    struct tg_key_candidate candidates[MOST];
    size_t order[TG_KEY_CHOICES], got;

    for (size_t i = 0; i < count; i++)
        candidates[i] = full(&keys[i]);
    choice.keys = candidates;
    choice.count = count;
    choice.now_s = NOW;
    got = tg_key_pick(&choice, order);
    for (size_t i = 0; i < got; i++)
        text[i] = (char)('0' + order[i]);
    text[got] = '\0';
}

static const struct {
    const char *why;
    size_t count;
    struct brief keys[MOST];
    const char *order;
} orders_of_keys[] = {
    {"no key", 0, {{'a', 0, '-', 0, 0, false}}, ""},
    {"one key", 1, {{'a', 0, '-', 0, 0, false}}, "0"},
    {"without caps by position", 3,
     {{'a', 0, '-', 0, 0, false}, {'a', 0, '-', 0, 0, false}, {'a', 0, '-', 0, 0, false}},
     "012"},
    {"most room first, then without cap", 3,
     {{'a', 0, 'r', 100, 80, false}, {'a', 0, 'r', 50, 50, false}, {'a', 0, '-', 0, 0, false}},
     "012"},
    {"whatever the position", 3,
     {{'a', 0, '-', 0, 0, false}, {'a', 0, 'r', 50, 50, false}, {'a', 0, 'r', 100, 80, false}},
     "210"},
    {"a full key is out", 3,
     {{'a', 0, 'r', 100, 0, false}, {'a', 0, 'r', 50, 1, false}, {'a', 0, '-', 0, 0, false}},
     "12"},
    {"one over its cap too", 2,
     {{'a', 0, 't', 100, -5, false}, {'a', 0, '-', 0, 0, false}},
     "1"},
    {"the same room: by position", 2,
     {{'a', 0, 'r', 10, 5, false}, {'a', 0, 'r', 99, 5, false}},
     "01"},
    {"units differ: by the part that is left", 3,
     {{'a', 0, 't', 1000000, 400000, false},
      {'a', 0, 'r', 50, 40, false},
      {'a', 0, 'u', 1000, 999, false}},
     "210"},
    {"units of keys that are out do not count", 3,
     {{'s', 0, 't', 1000000, 400000, false},
      {'a', 0, 'r', 50, 50, false},
      {'a', 0, 'r', 100, 60, false}},
     "21"},
    {"all capped ones full, none without", 2,
     {{'a', 0, 'r', 5, 0, false}, {'a', 0, 'r', 5, 0, false}},
     ""},
    {"states", 5,
     {{'d', 0, '-', 0, 0, false}, {'s', 0, '-', 0, 0, false}, {'e', NOW + 1, '-', 0, 0, false},
      {'r', NOW + 1, '-', 0, 0, false}, {'a', 0, '-', 0, 0, false}},
     "4"},
    {"a rest that is over", 2,
     {{'r', NOW, '-', 0, 0, false}, {'e', NOW - 1, '-', 0, 0, false}},
     "01"},
    {"suspension and disabling do not end by themselves", 2,
     {{'s', NOW - 1, '-', 0, 0, false}, {'d', NOW - 1, '-', 0, 0, false}},
     ""},
    {"an active key needs no time", 1, {{'a', NOW + 99, '-', 0, 0, false}}, "0"},
    {"tried ones are out", 3,
     {{'a', 0, '-', 0, 0, true}, {'a', 0, 'r', 9, 9, true}, {'a', 0, '-', 0, 0, false}},
     "2"},
    {"capped but resting", 2,
     {{'r', NOW + 5, 'r', 9, 9, false}, {'a', 0, '-', 0, 0, false}},
     "1"},
    {"room so large that its parts need more than 64 bits", 2,
     {{'a', 0, 't', INT64_MAX, INT64_MAX / 2, false}, {'a', 0, 'r', 10, 6, false}},
     "10"},
};

static void the_order_of_keys(void **state)
{
    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(orders_of_keys); i++) {
        char text[TG_KEY_CHOICES + 1];

        picked(orders_of_keys[i].keys, orders_of_keys[i].count,
               (struct tg_key_choice){.mode = TG_KEYS_IN_ORDER}, text);
        if (strcmp(text, orders_of_keys[i].order) != 0)
            fail_msg("%s: %s instead of %s", orders_of_keys[i].why, text, orders_of_keys[i].order);
    }
}

static void polling_goes_round(void **state)
{
    static const struct brief keys[] = {{'a', 0, '-', 0, 0, false},
                                        {'s', 0, '-', 0, 0, false},
                                        {'a', 0, 'r', 9, 9, false},
                                        {'a', 0, '-', 0, 0, false}};
    static const char *const orders[] = {"023", "230", "230", "302", "023"};

    (void)state;
    for (uint32_t turn = 0; turn < TG_COUNT_OF(orders); turn++) {
        char text[TG_KEY_CHOICES + 1];

        picked(keys, TG_COUNT_OF(keys),
               (struct tg_key_choice){.mode = TG_KEYS_POLLING, .turn = turn}, text);
        if (strcmp(text, orders[turn]) != 0)
            fail_msg("turn %u: %s", turn, text);
    }
}

/* Draws spread evenly over all numbers give each open key the same share. */
static void random_is_uniform_among_open_keys(void **state)
{
    static const struct brief keys[] = {{'d', 0, '-', 0, 0, false},
                                        {'a', 0, '-', 0, 0, false},
                                        {'a', 0, 'r', 9, 0, false},
                                        {'a', 0, '-', 0, 0, false},
                                        {'a', 0, '-', 0, 0, true},
                                        {'r', 5, '-', 0, 0, false}};
    int seen[MOST] = {0};

    (void)state;
    for (uint32_t i = 0; i < 3000; i++) {
        char text[TG_KEY_CHOICES + 1];

        picked(keys, TG_COUNT_OF(keys),
               (struct tg_key_choice){.mode = TG_KEYS_RANDOM,
                                      .turn = (uint32_t)((uint64_t)i * UINT32_MAX / 2999)},
               text);
        assert_int_equal(strlen(text), 3);
        seen[text[0] - '0']++;
    }
    assert_in_range(seen[1], 999, 1001);
    assert_in_range(seen[3], 999, 1001);
    assert_in_range(seen[5], 999, 1001);
}

static void a_choice_lists_at_most_so_many(void **state)
{
    struct tg_key_candidate keys[TG_KEY_CHOICES + 2] = {{.state = TG_KEY_ACTIVE}};
    size_t order[TG_KEY_CHOICES];

    (void)state;
    for (int mode = TG_KEYS_IN_ORDER; mode <= TG_KEYS_RANDOM; mode++) {
        const struct tg_key_choice choice = {
            .keys = keys, .count = TG_COUNT_OF(keys), .mode = (enum tg_key_mode)mode};

        assert_int_equal(tg_key_pick(&choice, order), TG_KEY_CHOICES);
    }
}

static void the_first_moment_at_which_one_is_open_again(void **state)
{
    static const struct {
        size_t count;
        struct brief keys[3];
        int64_t at_s;
    } cases[] = {
        {1, {{'s', 0, '-', 0, 0, false}}, 0},
        {1, {{'d', NOW + 5, '-', 0, 0, false}}, 0},
        {1, {{'r', NOW + 30, '-', 0, 0, true}}, NOW + 30},
        {2, {{'r', NOW + 30, '-', 0, 0, true}, {'e', NOW + 20, '-', 0, 0, false}}, NOW + 20},
        {2, {{'s', NOW + 1, '-', 0, 0, false}, {'e', NOW + 20, '-', 0, 0, false}}, NOW + 20},
        {1, {{'a', 0, 'r', 9, 0, false}}, 5000},
        {1, {{'r', NOW + 30, 'r', 9, 0, false}}, 5000},
        {1, {{'r', 9000, 'r', 9, 0, false}}, 9000},
        {1, {{'a', 0, '-', 0, 0, true}}, 0}, /* open, but not for this request */
        {0, {{'a', 0, '-', 0, 0, false}}, 0},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        struct tg_key_candidate keys[3];

        for (size_t k = 0; k < cases[i].count; k++)
            keys[k] = full(&cases[i].keys[k]);
        assert_int_equal(tg_keys_open_at_s(&(struct tg_key_choice){
                             .keys = keys, .count = cases[i].count, .now_s = NOW}),
                         cases[i].at_s);
    }
}

static void words_are_read_and_written(void **state)
{
    (void)state;
    for (int i = 0; i < TG_KEY_STATE__COUNT; i++) {
        enum tg_key_state read = TG_KEY_STATE__COUNT;

        assert_true(tg_key_state_read(tg_key_state_name((enum tg_key_state)i), &read));
        assert_int_equal(read, i);
    }
    assert_false(tg_key_state_read("dead", &(enum tg_key_state){TG_KEY_ACTIVE}));
    assert_int_equal(tg_key_mode_read(""), TG_KEYS_IN_ORDER);
    assert_int_equal(tg_key_mode_read("polling"), TG_KEYS_POLLING);
    assert_int_equal(tg_key_mode_read("random"), TG_KEYS_RANDOM);
    assert_int_equal(tg_cap_unit_read("usd"), TG_CAP_USD);
    assert_int_equal(tg_cap_unit_read(""), TG_CAP_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_order_of_keys),
        cmocka_unit_test(polling_goes_round),
        cmocka_unit_test(random_is_uniform_among_open_keys),
        cmocka_unit_test(a_choice_lists_at_most_so_many),
        cmocka_unit_test(the_first_moment_at_which_one_is_open_again),
        cmocka_unit_test(words_are_read_and_written),
    };

    return cmocka_run_group_tests_name("key_pick", tests, NULL, NULL);
}
