/* The index that requests read, built from rows without a database. */
#include "tests/unit/unit.h"

#include "common/base/memory.h"
#include "fcgi-app/route/snapshot_build.h"

#include <stdio.h>
#include <stdlib.h>

static struct tg_secrets secrets;

static int set_up(void **state)
{
    struct tg_error err;

    (void)state;
    if (tg_crypto_init(&err) != TG_OK)
        return -1;
    tg_seal_keypair(secrets.seal_public, secrets.seal_private);
    secrets.private_version = 1;
    return 0;
}

#define CHANNEL(number)                                                                      \
    {.id = (number), .name = "c" #number, .provider = "openai", .base_url = "https://u/v1",  \
     .organisation = "", .proxy = "", .model_mapping = "", .timeouts = "", .key_mode = "",    \
     .priority = (number), .weight = 1}
#define ABILITY(group, model, channel, priority) {group, model, channel, priority, 1}

static struct tg_channel_row channels[] = {CHANNEL(7), CHANNEL(2), CHANNEL(5)};
static struct tg_ability_row abilities[] = {
    ABILITY("default", "gpt-4o", 2, 0),     ABILITY("default", "gpt-4o", 7, 10),
    ABILITY("default", "gpt-4o", 5, 10),    ABILITY("vip", "gpt-4o", 5, 0),
    ABILITY("vip", "secret-model", 7, 0),   ABILITY("default", "gpt-*", 5, 0),
    ABILITY("default", "gpt-4*", 7, 0),     ABILITY("default", "*-mini", 2, 0),
    ABILITY("default", "orphan", 99, 0), /* its channel is disabled */
    ABILITY("default", "claude-opus-4-8[1m]", 2, 0),
};
static struct tg_price_row prices[] = {
    {"gpt-*", {.rates.input = "1"}},  {"gpt-4*", {.rates.input = "2"}},
    {"gpt-4o", {.rates.input = "3"}}, {"*-mini", {.rates.input = "4"}},
    {"*", {.rates.input = "5"}},
};
static struct tg_group_row groups[] = {{"default", "1", "", ""}, {"vip", "0.8", "", "1.5"}};
static struct tg_group_access_row access[] = {
    {"default", "vip", "1.5", true}, {"gold", "vip", "", true}, {"vip", "default", "", false}};

static struct tg_channel_key_row sealed_key(struct tg_arena *arena, int64_t id, int64_t channel_id,
                                            const char *key)
{
    char aad[TG_KEY_AAD_TEXT];
    struct tg_buf sealed;
    struct tg_channel_key_row row = {.id = id, .channel_id = channel_id, .hint = "last",
                                     .key_version = 1,
                                     .state = "active", .cap_unit = "", .reset_zone = "UTC"};

    tg_channel_key_aad(id, aad);
    tg_buf_init(&sealed, 0);
    tg_seal(secrets.seal_public, aad, key, &sealed);
    row.sealed.ptr = tg_arena_strndup(arena, sealed.data, sealed.len);
    row.sealed.len = sealed.len;
    tg_buf_done(&sealed);
    return row;
}

static struct tg_snapshot *built(void)
{
    struct tg_arena *arena = tg_arena_new();
    struct tg_channel_key_row *keys = tg_arena_calloc(arena, 4, sizeof *keys);
    struct tg_routing_rows rows = {
        .version = 42,
        .channels = channels,
        .channel_count = TG_COUNT_OF(channels),
        .keys = keys,
        .key_count = 4,
        .abilities = abilities,
        .ability_count = TG_COUNT_OF(abilities),
        .prices = prices,
        .price_count = TG_COUNT_OF(prices),
        .groups = groups,
        .group_count = TG_COUNT_OF(groups),
        .access = access,
        .access_count = TG_COUNT_OF(access),
    };

    keys[0] = sealed_key(arena, 11, 2, "sk-two");
    keys[1] = sealed_key(arena, 12, 7, "sk-broken");
    keys[1].id = 13; /* sealed for another row: does not open */
    keys[2] = sealed_key(arena, 14, 7, "sk-seven");
    keys[3] = sealed_key(arena, 15, 7, "sk-seven-second");
    return tg_snapshot_build(&rows, arena, &secrets);
}

static void channels_get_their_first_key_that_opens(void **state)
{
    struct tg_snapshot *snapshot = built();

    (void)state;
    assert_int_equal(tg_snapshot_version(snapshot), 42);
    assert_string_equal(tg_snapshot_channel(snapshot, 2)->key, "sk-two");
    assert_string_equal(tg_snapshot_channel(snapshot, 7)->key, "sk-seven");
    assert_int_equal(tg_snapshot_channel(snapshot, 7)->key_id, 14);
    assert_string_equal(tg_snapshot_channel(snapshot, 5)->key, "");
    assert_null(tg_snapshot_channel(snapshot, 99));
    tg_snapshot_free(snapshot);
}

static void abilities_come_by_priority_and_exact_names_win(void **state)
{
    static const struct {
        const char *group, *model;
        size_t count;
        int64_t channels[3];
    } cases[] = {
        {"default", "gpt-4o", 3, {5, 7, 2}},
        {"vip", "gpt-4o", 1, {5}},
        {"default", "gpt-4o-2024", 1, {7}},  /* the longer beginning */
        {"default", "gpt-3.5", 1, {5}},
        {"default", "gpt-4o-mini", 1, {7}},  /* a beginning counts more than an end */
        {"default", "o9-mini", 1, {2}},
        {"default", "claude-opus-4-8[1m]", 1, {2}},
        {"default", "secret-model", 0, {0}},
        {"vip", "gpt-3.5", 0, {0}},
        {"default", "orphan", 0, {0}},
        {"nobody", "gpt-4o", 0, {0}},
        {"default", "", 0, {0}},
    };
    struct tg_snapshot *snapshot = built();

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        size_t count;
        const struct tg_ability *got =
            tg_snapshot_abilities(snapshot, cases[i].group, cases[i].model, &count);

        if (count != cases[i].count)
            fail_msg("%s %s: %zu", cases[i].group, cases[i].model, count);
        for (size_t k = 0; k < count; k++)
            assert_int_equal(got[k].channel->id, cases[i].channels[k]);
    }
    tg_snapshot_free(snapshot);
}

static void known_to_somebody_is_told_from_unknown(void **state)
{
    struct tg_snapshot *snapshot = built();

    (void)state;
    assert_true(tg_snapshot_knows_model(snapshot, "secret-model"));
    assert_true(tg_snapshot_knows_model(snapshot, "gpt-99"));
    assert_false(tg_snapshot_knows_model(snapshot, "orphan"));
    assert_false(tg_snapshot_knows_model(snapshot, "llama"));
    tg_snapshot_free(snapshot);
}

static void prices_are_exact_or_of_the_longest_pattern(void **state)
{
    static const char *const cases[][2] = {{"gpt-4o", "3"},      {"gpt-4o-mini", "2"},
                                           {"gpt-3.5", "1"},     {"o9-mini", "4"},
                                           {"anything", "5"},    {"gpt-4", "2"}};
    struct tg_snapshot *snapshot = built();

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++)
        assert_string_equal(tg_snapshot_price(snapshot, cases[i][0])->rates.input, cases[i][1]);
    snapshot->price_count = snapshot->price_pattern_count = 0;
    assert_null(tg_snapshot_price(snapshot, "gpt-4o"));
    tg_snapshot_free(snapshot);
}

static void ratios_follow_access_and_group(void **state)
{
    static const struct {
        const char *user, *used, *ratio;
    } cases[] = {
        {"default", "default", "1"}, {"vip", "vip", "0.8"},     {"default", "vip", "1.5"},
        {"gold", "vip", "0.8"},      {"gold", "gold", "1"},     {"gold", "default", NULL},
        {"vip", "default", NULL},
    };
    struct tg_snapshot *snapshot = built();

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        const char *ratio = tg_snapshot_ratio(snapshot, cases[i].user, cases[i].used);

        if (cases[i].ratio == NULL)
            assert_null(ratio);
        else
            assert_string_equal(ratio, cases[i].ratio);
    }
    assert_string_equal(tg_snapshot_deposit_factor(snapshot, "vip"), "1.5");
    assert_string_equal(tg_snapshot_deposit_factor(snapshot, "default"), "");
    assert_string_equal(tg_snapshot_deposit_factor(snapshot, "gold"), "");
    tg_snapshot_free(snapshot);
}

static void collect(void *context, const char *model)
{
    tg_buf_printf(context, "%s ", model);
}

static void model_lists_are_sorted_and_without_patterns(void **state)
{
    struct tg_snapshot *snapshot = built();
    struct tg_buf names;

    (void)state;
    tg_buf_init(&names, 0);
    tg_snapshot_models(snapshot, "default", collect, &names);
    assert_string_equal(tg_buf_text(&names), "claude-opus-4-8[1m] gpt-4o ");
    tg_buf_reset(&names);
    tg_snapshot_models(snapshot, "vip", collect, &names);
    assert_string_equal(tg_buf_text(&names), "gpt-4o secret-model ");
    tg_buf_done(&names);
    tg_snapshot_free(snapshot);
}

static void patterns_match_with_stars_anywhere(void **state)
{
    static const struct {
        const char *pattern, *name;
        bool matches;
    } cases[] = {
        {"*", "", true},           {"*", "x", true},          {"a*", "a", true},
        {"a*", "ba", false},       {"*a", "bcda", true},      {"*a", "ab", false},
        {"a*b*c", "axxbyyc", true}, {"a*b*c", "abc", true},   {"a*b*c", "acb", false},
        {"a*ab", "aabab", true},   {"abc", "abc", true},      {"abc", "abcd", false},
        {"abc*", "ab", false},     {"**", "x", true},         {"", "", true},
        {"", "x", false},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++)
        if (tg_pattern_matches(cases[i].pattern, cases[i].name) != cases[i].matches)
            fail_msg("%s / %s", cases[i].pattern, cases[i].name);
    assert_true(tg_pattern_compare("gpt-4*", "gpt-*") > 0);
    assert_true(tg_pattern_compare("gpt-*x", "gpt-*") > 0);
    assert_int_equal(tg_pattern_compare("a*b", "a*c"), 0);
}

static void timeouts_are_read_from_their_texts(void **state)
{
    struct tg_arena *arena = tg_arena_new();
    struct tg_channel_row row = CHANNEL(1);
    struct tg_routing_rows rows = {.channels = &row, .channel_count = 1};
    struct tg_snapshot *snapshot;

    (void)state;
    row.timeouts = "{\"connect\":\"2s\",\"first_byte\": \"soon\",\"idle\":\"1500ms\"}";
    snapshot = tg_snapshot_build(&rows, arena, &secrets);
    assert_int_equal(tg_snapshot_channel(snapshot, 1)->connect_us, 2000000);
    assert_int_equal(tg_snapshot_channel(snapshot, 1)->first_byte_us, 0);
    assert_int_equal(tg_snapshot_channel(snapshot, 1)->idle_us, 1500000);
    tg_snapshot_free(snapshot);
}

static void an_empty_installation_is_a_snapshot(void **state)
{
    struct tg_arena *arena = tg_arena_new();
    struct tg_routing_rows rows = {0};
    struct tg_snapshot *snapshot = tg_snapshot_build(&rows, arena, &secrets);
    size_t count;

    (void)state;
    assert_null(tg_snapshot_abilities(snapshot, "default", "gpt-4o", &count));
    assert_int_equal(count, 0);
    assert_null(tg_snapshot_channel(snapshot, 1));
    assert_false(tg_snapshot_knows_model(snapshot, "gpt-4o"));
    tg_snapshot_free(snapshot);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(channels_get_their_first_key_that_opens),
        cmocka_unit_test(abilities_come_by_priority_and_exact_names_win),
        cmocka_unit_test(known_to_somebody_is_told_from_unknown),
        cmocka_unit_test(prices_are_exact_or_of_the_longest_pattern),
        cmocka_unit_test(ratios_follow_access_and_group),
        cmocka_unit_test(model_lists_are_sorted_and_without_patterns),
        cmocka_unit_test(patterns_match_with_stars_anywhere),
        cmocka_unit_test(timeouts_are_read_from_their_texts),
        cmocka_unit_test(an_empty_installation_is_a_snapshot),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
