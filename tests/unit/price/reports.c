/* Field reports on bills: usage of every dialect, normalised, at the reference price. The stated
 * values are dollars: 3.00 in, 0.30 cache read, 3.75 and 6.00 cache writes, 15.00 out per million;
 * 1.5, 0.15, 1.875, 3 and 7.5 quota per token. */
#include "tests/unit/unit.h"

#include "common/price/price.h"
#include "fcgi-app/convert/usage_figures.h"

#include <string.h>

#define INCLUDES TG_USAGE_INPUT_INCLUDES_CACHE
#define EXCLUDES TG_USAGE_INPUT_EXCLUDES_CACHE

static const struct tg_price reference = {
    .rates = {.input = "3.00", .output = "15.00", .cache_read = "0.30", .cache_write_5m = "3.75",
              .cache_write_1h = "6.00"}};
/* Cache prices left out follow the input: 1.25 times, twice; a read is a tenth here. */
static const struct tg_price followed = {
    .rates = {.input = "3.00", .output = "15.00", .cache_read = "0.30"}};

static const struct {
    const char *report, *what;
    struct tg_usage usage;
    int64_t quota;
} reports[] = {
    {"FR06", "cache writes are no plain input besides: 0.033030 USD",
     {.semantics = EXCLUDES, .input = 10, .cache_write_5m = 8000, .output = 200}, 16515},
    {"FR08", "cached tokens are part of the prompt: 0.005700 USD",
     {.semantics = INCLUDES, .input = 5000, .cache_read = 4000, .output = 100}, 2850},
    {"FR10", "the split of the last event counts: 0.003054 USD",
     {.semantics = EXCLUDES, .input = 20, .cache_read = 7980, .output = 40}, 1527},
    {"FR11", "a later, larger input replaces the first: 0.003150 USD",
     {.semantics = EXCLUDES, .input = 900, .output = 30}, 1575},
    {"FR11", "what the last event leaves out stays: 0.000486 USD",
     {.semantics = EXCLUDES, .input = 12, .output = 30}, 243},
    {"FR13", "240 and the unexplained 80 at 5 minutes, 700 at 1 hour: 0.005400 USD",
     {.semantics = EXCLUDES, .cache_write_5m = 320, .cache_write_1h = 700}, 2700},
    {"FR16", "outside the input: 0.000402 USD",
     {.semantics = EXCLUDES, .input = 10, .cache_read = 990, .output = 5}, 201},
    {"FR16", "inside the prompt: 0.000402 USD",
     {.semantics = INCLUDES, .input = 1000, .cache_read = 990, .output = 5}, 201},
    {"FR16", "an upstream that counts like another: 0.000402 USD",
     {.semantics = INCLUDES, .input = 10, .cache_read = 990, .output = 5}, 201},
    {"FR28", "0.000258 USD", {.semantics = INCLUDES, .input = 280, .cache_read = 260, .output = 8},
     129},
};

static void stated_values_are_billed(void **state)
{
    const struct tg_price *const prices[] = {&reference, &followed};

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(reports); i++)
        for (size_t j = 0; j < TG_COUNT_OF(prices); j++) {
            int64_t quota = -1;

            assert_int_equal(tg_bill(prices[j], &reports[i].usage, "1", NULL, &quota), TG_OK);
            if (quota != reports[i].quota)
                fail_msg("%s: %s: %lld", reports[i].report, reports[i].what, (long long)quota);
        }
}

/* FR08, FR15: a custom price, a tier and a formula see the same usage. */
static void every_form_sees_the_same_usage(void **state)
{
    struct tg_price tiered = reference;
    const struct tg_price formula = {
        .form = TG_PRICE_EXPRESSION,
        .expression = "p * 3 + cr * 0.3 + cw5 * 3.75 + cw1h * 6 + c * 15"};

    (void)state;
    tiered.form = TG_PRICE_TIER;
    tiered.tiers[0] = (struct tg_price_tier){200000, reference.rates};
    tiered.tier_count = 1;
    for (size_t i = 0; i < TG_COUNT_OF(reports); i++) {
        struct tg_usage usage = reports[i].usage;
        int64_t quota = -1;

        usage.source = TG_USAGE_UPSTREAM;
        assert_int_equal(tg_bill(&tiered, &usage, "1", NULL, &quota), TG_OK);
        assert_int_equal(quota, reports[i].quota);
        assert_int_equal(tg_bill(&formula, &usage, "1", NULL, &quota), TG_OK);
        assert_int_equal(quota, reports[i].quota);
    }
}

static void fr15_a_tier_counts_what_was_read_in_any_dialect(void **state)
{
    const struct tg_price price = {
        .form = TG_PRICE_TIER,
        .rates = {.input = "3", .output = "15"},
        .tiers = {{200000, {.input = "6", .output = "22.5"}}},
        .tier_count = 1};
    const struct tg_usage usages[] = {
        {.semantics = INCLUDES, .input = 200001, .output = 1000},
        {.semantics = EXCLUDES, .input = 200001, .output = 1000},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(usages); i++) {
        int64_t quota = -1;

        assert_int_equal(tg_bill(&price, &usages[i], "1", NULL, &quota), TG_OK);
        assert_int_equal(quota, 611253); /* 1.222506 USD */
    }
}

/* The reports' own inputs, event by event, through the readers of their dialects. */
enum { EVENTS_MOST = 2 };
static const struct {
    const char *report;
    enum tg_figures_dialect dialect;
    const char *events[EVENTS_MOST];
    int64_t quota;
} inputs[] = {
    {"FR06", TG_FIGURES_MESSAGES,
     {"{\"usage\":{\"input_tokens\":10,\"cache_creation_input_tokens\":8000,"
      "\"cache_read_input_tokens\":0,\"output_tokens\":200}}"},
     16515},
    {"FR08", TG_FIGURES_CHAT,
     {"{\"usage\":{\"prompt_tokens\":5000,\"prompt_tokens_details\":{\"cached_tokens\":4000},"
      "\"completion_tokens\":100,\"total_tokens\":5100}}"},
     2850},
    {"FR10", TG_FIGURES_MESSAGES,
     {"{\"type\":\"message_start\",\"message\":{\"id\":\"msg_3\",\"usage\":{\"input_tokens\":8000,"
      "\"output_tokens\":0}}}",
      "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{"
      "\"input_tokens\":20,\"cache_creation_input_tokens\":0,"
      "\"cache_read_input_tokens\":7980,\"output_tokens\":40}}"},
     1527},
    {"FR11", TG_FIGURES_MESSAGES,
     {"{\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":12,"
      "\"output_tokens\":1}}}",
      "{\"type\":\"message_delta\",\"usage\":{\"input_tokens\":900,\"output_tokens\":30}}"},
     1575},
    {"FR11, second run", TG_FIGURES_MESSAGES,
     {"{\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":12,"
      "\"output_tokens\":1}}}",
      "{\"type\":\"message_delta\",\"usage\":{\"output_tokens\":30}}"},
     243},
    {"FR13", TG_FIGURES_MESSAGES,
     {"{\"usage\":{\"input_tokens\":0,\"cache_creation_input_tokens\":1020,\"cache_creation\":{"
      "\"ephemeral_5m_input_tokens\":240,\"ephemeral_1h_input_tokens\":700},"
      "\"cache_read_input_tokens\":0,\"output_tokens\":0}}"},
     2700},
    {"FR16, Anthropic", TG_FIGURES_MESSAGES,
     {"{\"usage\":{\"input_tokens\":10,\"cache_read_input_tokens\":990,"
      "\"cache_creation_input_tokens\":0,\"output_tokens\":5}}"},
     201},
    {"FR16, OpenAI", TG_FIGURES_CHAT,
     {"{\"usage\":{\"prompt_tokens\":1000,\"prompt_tokens_details\":{\"cached_tokens\":990},"
      "\"completion_tokens\":5,\"total_tokens\":1005}}"},
     201},
    {"FR16, broken", TG_FIGURES_CHAT,
     {"{\"usage\":{\"prompt_tokens\":10,\"prompt_tokens_details\":{\"cached_tokens\":990},"
      "\"completion_tokens\":5}}"},
     201},
};

static void the_reports_own_inputs_are_billed(void **state)
{
    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(inputs); i++) {
        struct tg_figures figures;
        struct tg_usage usage;
        int64_t quota = -1;

        tg_figures_init(&figures, inputs[i].dialect);
        for (size_t j = 0; j < EVENTS_MOST && inputs[i].events[j] != NULL; j++)
            tg_figures_read(&figures, (struct tg_span){inputs[i].events[j],
                                                       strlen(inputs[i].events[j])});
        assert_true(tg_figures_usage(&figures, &usage));
        assert_int_equal(tg_bill(&reference, &usage, "1", NULL, &quota), TG_OK);
        if (quota != inputs[i].quota)
            fail_msg("%s: %lld", inputs[i].report, (long long)quota);
    }
}

/* FR16: the same request means the same usage, whoever told it. */
static void both_dialects_come_to_one_usage(void **state)
{
    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(inputs); i++) {
        struct tg_figures figures;
        struct tg_usage usage;

        if (strncmp(inputs[i].report, "FR16", 4) != 0)
            continue;
        tg_figures_init(&figures, inputs[i].dialect);
        tg_figures_read(&figures, (struct tg_span){inputs[i].events[0],
                                                   strlen(inputs[i].events[0])});
        assert_true(tg_figures_usage(&figures, &usage));
        assert_int_equal(tg_usage_base_tokens(&usage), 10);
        assert_int_equal(usage.cache_read, 990);
        assert_int_equal(tg_usage_input_total(&usage), 1000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stated_values_are_billed),
        cmocka_unit_test(the_reports_own_inputs_are_billed),
        cmocka_unit_test(both_dialects_come_to_one_usage),
        cmocka_unit_test(every_form_sees_the_same_usage),
        cmocka_unit_test(fr15_a_tier_counts_what_was_read_in_any_dialect),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
