#include "common/regex/regex.h"

#include "common/base/memory.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>

enum { STACK_LEAST = 32 * 1024, STACK_MOST = 1024 * 1024 };

struct tg_regex {
    pcre2_code *code;
    bool compiled; /* to machine code; where that is not allowed, patterns are interpreted */
};

struct tg_regex_run {
    pcre2_match_data *data;
    pcre2_match_context *context;
    pcre2_jit_stack *stack;
};

enum tg_class tg_regex_new(const char *pattern, struct tg_regex **ret, struct tg_error *err)
{
    const uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_ANCHORED | PCRE2_DOLLAR_ENDONLY;
    struct tg_regex *regex;
    PCRE2_SIZE at = 0;
    int error = 0;
    pcre2_code *code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, options, &error,
                                     &at, NULL);

    if (code == NULL)
        return tg_fail(err, TG_CLASS_INTERNAL, "regex_pattern", "pattern: error %d at %zu", error,
                       (size_t)at);
    regex = tg_calloc(1, sizeof *regex);
    regex->code = code;
    regex->compiled = pcre2_jit_compile(code, PCRE2_JIT_COMPLETE) == 0;
    *ret = regex;
    return TG_OK;
}

void tg_regex_free(struct tg_regex *regex)
{
    if (regex == NULL)
        return;
    pcre2_code_free(regex->code);
    free(regex);
}

struct tg_regex_run *tg_regex_run_new(void)
{
    struct tg_regex_run *run = tg_calloc(1, sizeof *run);

    run->data = pcre2_match_data_create(1, NULL);
    run->context = pcre2_match_context_create(NULL);
    run->stack = pcre2_jit_stack_create(STACK_LEAST, STACK_MOST, NULL);
    tg_assert(run->data != NULL && run->context != NULL && run->stack != NULL);
    pcre2_jit_stack_assign(run->context, NULL, run->stack);
    pcre2_set_match_limit(run->context, UINT32_MAX);
    return run;
}

void tg_regex_run_free(struct tg_regex_run *run)
{
    if (run == NULL)
        return;
    pcre2_jit_stack_free(run->stack);
    pcre2_match_context_free(run->context);
    pcre2_match_data_free(run->data);
    free(run);
}

size_t tg_regex_match_at(const struct tg_regex *regex, struct tg_regex_run *run,
                         struct tg_span text, size_t at)
{
    PCRE2_SPTR subject = (PCRE2_SPTR)text.ptr;
    PCRE2_SIZE *ends = pcre2_get_ovector_pointer(run->data);
    int count = regex->compiled ? pcre2_jit_match(regex->code, subject, text.len, at, 0, run->data,
                                                  run->context)
                                : pcre2_match(regex->code, subject, text.len, at,
                                              PCRE2_NO_UTF_CHECK, run->data, run->context);

    return count < 0 ? 0 : ends[1] - ends[0];
}
