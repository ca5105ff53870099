/* Which refusals disable a channel, and which never do. */
#include "tests/unit/unit.h"

#include <stdio.h>

#include "fcgi-app/relay/classify.h"
#include "fcgi-app/relay/verdict.h"

#define PHRASES "credit balance is too low; organization has been disabled ;; api key not valid;"
#define BALANCE "{\"error\":{\"message\":\"Your Credit Balance is TOO LOW to go on\"}}"
#define MISSING \
    "{\"error\":{\"message\":\"The model does not exist\",\"code\":\"model_not_found\"}}"

static const struct sample {
    const char *name;
    int status;
    const char *answer;
    const char *asked;    /* the client's body */
    const char *statuses; /* NULL: 401, the default */
    bool disables;
    const char *reason; /* a part of it */
} samples[] = {
    {"a refused key", 401, "", "", NULL, true, "the upstream answered 401"},
    {"a phrase, whatever its case", 400, BALANCE, "", NULL, true, "credit balance is too low"},
    {"a phrase under a 403", 403,
     "{\"error\":{\"message\":\"This organization has been disabled.\"}}",
     "", NULL, true, "organization has been disabled"},
    {"a phrase under a 429", 429, BALANCE, "", NULL, true, "429"},
    {"a status of the setting", 403, "", "", "401, 403", true, "403"},
    {"a 403 that says nothing", 403, "", "", NULL, false, NULL},
    {"a made-up model", 404, MISSING, "", NULL, false, NULL},
    {"a made-up model, with a setting that wants it", 404, MISSING, "", "400-499", false, NULL},
    {"a 404 with a phrase", 404, BALANCE, "", NULL, false, NULL},
    {"a model the account may not use", 403, MISSING, "", NULL, false, NULL},
    {"a client's own 400", 400, "{\"error\":{\"message\":\"bad temperature\"}}", "", NULL, false,
     NULL},
    {"a client's own 400, with a setting that wants it", 400, "", "", "400-499", false, NULL},
    {"a body that is too large", 413, "", "", "400-499", false, NULL},
    {"a body that cannot be processed", 422, "{\"detail\":\"no\"}", "", "400-499", false, NULL},
    {"a phrase that the client wrote", 400, BALANCE, "is my credit balance is too low spelt right?",
     NULL, false, NULL},
    {"a refused key although the client wrote the phrase", 401, BALANCE,
     "credit balance is too low", NULL, true, "401"},
    {"a rate limit", 429, "", "", NULL, false, NULL},
    {"a failure", 500, "", "", NULL, false, NULL},
    {"an upstream that is away", 503, "<html>", "", NULL, false, NULL},
};

static bool judged(const struct sample *sample, char reason[TG_VERDICT_TEXT])
{
    static const struct tg_retry_hints no_hints;
    struct tg_status_ranges statuses;
    struct tg_error error;
    const struct tg_verdict_facts facts = {.error = &error,
                                           .body = {sample->asked, strlen(sample->asked)},
                                           .statuses = &statuses,
                                           .phrases = PHRASES};

    assert_true(tg_status_ranges_parse(sample->statuses != NULL ? sample->statuses : "401",
                                       &statuses));
    tg_classify_status(sample->status, (struct tg_span){sample->answer, strlen(sample->answer)},
                       &no_hints, 0, &error);
    return tg_verdict_disables(&facts, reason);
}

static void answers_disable_or_do_not(void **state)
{
    char reason[TG_VERDICT_TEXT];

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(samples); i++) {
        if (judged(&samples[i], reason) != samples[i].disables)
            fail_msg("%s: %s", samples[i].name, samples[i].disables ? "it must" : "it must not");
        if (samples[i].disables && strstr(reason, samples[i].reason) == NULL)
            fail_msg("%s: the reason is \"%s\"", samples[i].name, reason);
    }
}

/* What no upstream has said is nothing about an account. */
static void what_arises_here_disables_nothing(void **state)
{
    static const enum tg_class classes[] = {TG_CLASS_TRANSPORT, TG_CLASS_TIMEOUT, TG_CLASS_INVALID,
                                            TG_CLASS_AUTH,      TG_CLASS_CONFIG,  TG_CLASS_FUNDS,
                                            TG_CLASS_LIMIT,     TG_CLASS_INTERNAL};
    struct tg_status_ranges statuses;
    struct tg_error error = {.status = 401};
    const struct tg_verdict_facts facts = {
        .error = &error, .body = {"", 0}, .statuses = &statuses, .phrases = PHRASES};
    char reason[TG_VERDICT_TEXT];

    (void)state;
    assert_true(tg_status_ranges_parse("100-599", &statuses));
    snprintf(error.message, sizeof error.message, "credit balance is too low");
    for (size_t i = 0; i < TG_COUNT_OF(classes); i++) {
        error.class = classes[i];
        if (tg_verdict_disables(&facts, reason))
            fail_msg("%s disables", tg_class_name(classes[i]));
    }
}

static void without_phrases_only_the_status_counts(void **state)
{
    struct tg_status_ranges statuses;
    struct tg_error error = {.class = TG_CLASS_ACCOUNT, .status = 400};
    char reason[TG_VERDICT_TEXT];

    (void)state;
    assert_true(tg_status_ranges_parse("401", &statuses));
    snprintf(error.message, sizeof error.message, "credit balance is too low");
    for (size_t i = 0; i < 2; i++) {
        const struct tg_verdict_facts facts = {.error = &error,
                                               .body = {"", 0},
                                               .statuses = &statuses,
                                               .phrases = i == 0 ? "" : " ; ;;"};

        assert_false(tg_verdict_disables(&facts, reason));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_disable_or_do_not),
        cmocka_unit_test(what_arises_here_disables_nothing),
        cmocka_unit_test(without_phrases_only_the_status_counts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
