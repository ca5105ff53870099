/* Every row of the decision table, and that an earlier row wins over all later ones. */
#include "tests/unit/unit.h"

#include "fcgi-app/relay/retry.h"

static struct tg_status_ranges statuses;

static int set_up(void **state)
{
    (void)state;
    return tg_status_ranges_parse("100-199, 300-399, 401-407, 409-499, 500-503, 505-523, 525-599",
                                  &statuses)
               ? 0
               : -1;
}

/* Retryable by status, with everything left. */
static struct tg_retry_facts calm(struct tg_error *error)
{
    *error = (struct tg_error){.class = TG_CLASS_UPSTREAM, .status = 500, .code = "x"};
    return (struct tg_retry_facts){
        .error = error,
        .attempts_made = 1,
        .attempts_most = 4,
        .channels_left = 1,
        .channels_all = 2,
        .now_us = 1000,
        .deadline_at_us = 1000000,
        .statuses = &statuses,
    };
}

/* Makes row <row> (1..9) apply on top of what is there. */
static void apply(int row, struct tg_retry_facts *facts, struct tg_error *error)
{
    switch (row) {
    case 1:
        facts->content_sent = true;
        break;
    case 2:
        facts->client_gone = true;
        break;
    case 3:
        facts->strict_session = true;
        break;
    case 4:
        facts->pinned = true;
        break;
    case 5:
        error->flags |= TG_ERROR_CHANNEL;
        break;
    case 6:
        error->flags |= TG_ERROR_NO_RETRY;
        break;
    case 7:
        facts->attempts_made = facts->attempts_most;
        facts->channels_all = 100; /* row 5 could go on */
        break;
    case 8:
        error->flags |= TG_ERROR_PARTLY_USED;
        break;
    default:
        error->class = TG_CLASS_TRANSPORT;
        error->status = 0;
        break;
    }
}

static const struct {
    enum tg_retry_action action;
    const char *reason;
} rows[] = {
    {TG_RETRY_STOP, NULL},
    {TG_RETRY_STOP, "committed"},
    {TG_RETRY_STOP, "client_gone"},
    {TG_RETRY_STOP, "strict_session"},
    {TG_RETRY_STOP, "pinned"},
    {TG_RETRY_AGAIN, "channel_error"},
    {TG_RETRY_STOP, "not_retryable"},
    {TG_RETRY_STOP, "budget"},
    {TG_RETRY_STOP, "excluded"},
    {TG_RETRY_AGAIN, "transport"},
};

/* All 512 combinations of rows 1 to 9: the lowest one decides. */
static void the_first_row_that_applies_decides(void **state)
{
    (void)state;
    for (unsigned set = 1; set < 1u << 9; set++) {
        struct tg_error error;
        struct tg_retry_facts facts = calm(&error);
        struct tg_retry_decision decision;
        int first = 0;

        for (int row = 9; row >= 1; row--)
            if ((set & (1u << (row - 1))) != 0) {
                apply(row, &facts, &error);
                first = row;
            }
        decision = tg_retry_decide(&facts);
        assert_string_equal(decision.reason, rows[first].reason);
        assert_int_equal(decision.action, rows[first].action);
    }
}

static void statuses_decide_when_nothing_else_does(void **state)
{
    (void)state;
    for (int status = 100; status <= 599; status++) {
        struct tg_error error;
        struct tg_retry_facts facts = calm(&error);
        struct tg_retry_decision decision;
        bool listed = !((status >= 200 && status <= 299) || status == 400 || status == 408);

        error.status = status;
        decision = tg_retry_decide(&facts);
        if (status == 504 || status == 524) {
            assert_string_equal(decision.reason, "excluded");
            assert_int_equal(decision.action, TG_RETRY_STOP);
            continue;
        }
        assert_string_equal(decision.reason, listed ? "status" : "status_not_retryable");
        assert_int_equal(decision.action, listed ? TG_RETRY_AGAIN : TG_RETRY_STOP);
    }
}

static void a_timeout_status_stays_excluded_when_an_operator_lists_it(void **state)
{
    struct tg_status_ranges all;
    struct tg_error error;
    struct tg_retry_facts facts = calm(&error);

    (void)state;
    assert_true(tg_status_ranges_parse("100-599", &all));
    facts.statuses = &all;
    error.status = 504;
    assert_string_equal(tg_retry_decide(&facts).reason, "excluded");
    error.status = 524;
    assert_string_equal(tg_retry_decide(&facts).reason, "excluded");
}

static void what_is_no_status_is_transport(void **state)
{
    static const int odd[] = {0, 99, 600, 999, -1};

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(odd); i++) {
        struct tg_error error;
        struct tg_retry_facts facts = calm(&error);

        error.status = odd[i];
        assert_string_equal(tg_retry_decide(&facts).reason, "transport");
        error.class = TG_CLASS_TIMEOUT;
        assert_int_equal(tg_retry_decide(&facts).action, TG_RETRY_AGAIN);
    }
}

static void a_channel_error_goes_on_without_budget_but_not_beyond_the_channels(void **state)
{
    static const struct {
        int made;
        size_t left, all;
        int64_t deadline;
        enum tg_retry_action action;
    } cases[] = {
        {4, 1, 5, 1000000, TG_RETRY_AGAIN}, {9, 1, 10, 1000000, TG_RETRY_AGAIN},
        {1, 0, 1, 1000000, TG_RETRY_STOP},  {2, 1, 2, 1000000, TG_RETRY_STOP},
        {1, 1, 2, 1000, TG_RETRY_STOP},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        struct tg_error error;
        struct tg_retry_facts facts = calm(&error);

        error.flags = TG_ERROR_CHANNEL;
        facts.attempts_made = cases[i].made;
        facts.channels_left = cases[i].left;
        facts.channels_all = cases[i].all;
        facts.deadline_at_us = cases[i].deadline;
        assert_string_equal(tg_retry_decide(&facts).reason, "channel_error");
        assert_int_equal(tg_retry_decide(&facts).action, cases[i].action);
    }
}

static void the_delay_counts_against_the_deadline(void **state)
{
    static const struct {
        int64_t now, delay, deadline;
        const char *reason;
    } cases[] = {
        {0, 0, 1, "status"},          {0, 1, 1, "budget"},     {1, 0, 1, "budget"},
        {0, 999999, 1000000, "status"}, {5, 1000000, 0, "status"}, /* 0: no deadline */
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        struct tg_error error;
        struct tg_retry_facts facts = calm(&error);

        facts.now_us = cases[i].now;
        facts.delay_us = cases[i].delay;
        facts.deadline_at_us = cases[i].deadline;
        assert_string_equal(tg_retry_decide(&facts).reason, cases[i].reason);
    }
}

static void an_unknown_model_is_asked_of_other_channels_only(void **state)
{
    struct tg_error error;
    struct tg_retry_facts facts = calm(&error);

    (void)state;
    error.status = 404;
    error.flags = TG_ERROR_NEXT_CHANNEL;
    assert_int_equal(tg_retry_decide(&facts).action, TG_RETRY_AGAIN);
    facts.channels_left = 0;
    assert_int_equal(tg_retry_decide(&facts).action, TG_RETRY_STOP);
    assert_string_equal(tg_retry_decide(&facts).reason, "status_not_retryable");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_row_that_applies_decides),
        cmocka_unit_test(statuses_decide_when_nothing_else_does),
        cmocka_unit_test(a_timeout_status_stays_excluded_when_an_operator_lists_it),
        cmocka_unit_test(what_is_no_status_is_transport),
        cmocka_unit_test(a_channel_error_goes_on_without_budget_but_not_beyond_the_channels),
        cmocka_unit_test(the_delay_counts_against_the_deadline),
        cmocka_unit_test(an_unknown_model_is_asked_of_other_channels_only),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
