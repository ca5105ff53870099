/* price - what a model costs, and the two sums made from it: the deposit and the bill.
 *
 * Prices are decimal texts, USD per 1M tokens or per call, as stored. A snapshot of the price and
 * the group ratio is fixed when the deposit is taken, so that a change in mid-request changes
 * nothing. All arithmetic is exact; a bill is rounded half-up once at its end; a non-zero price
 * with any token used bills at least 1 quota.
 *
 *   input  = base*in + cache_read*cr + cache_write_5m*cw5 + cache_write_1h*cw1h
 *            + image*img + audio_in*ain
 *   output = text_out*out + audio_out*aout
 *   bill   = (input + output) * ratio + tool calls * tool price * ratio
 *
 * Four forms, all with tool prices besides:
 *   token       the rates above
 *   call        one price for a request, whatever its length
 *   tier        the rates of the highest tier whose `above` the input (all that was read, cached
 *               or not) exceeds, for the whole request; the row's own rates up to the first one
 *   expression  a formula, see expression.h
 *
 * Pure.  Threads  any.  Source  LEDGER "Deposit and bill".
 */
#ifndef TOLLGATE_PRICE_PRICE_H
#define TOLLGATE_PRICE_PRICE_H

#include "common/base/arena.h"
#include "common/base/buf.h"
#include "common/base/error.h"
#include "common/price/rates.h"

enum tg_price_form {
    TG_PRICE_TOKEN,
    TG_PRICE_CALL,
    TG_PRICE_TIER,
    TG_PRICE_EXPRESSION,
    TG_PRICE_FORM__COUNT /* of a newer version: refused everywhere */
};

enum { TG_PRICE_TIERS = 4, TG_PRICE_VENDOR_TEXT = 33, TG_PRICE_DATE_TEXT = 11 };

struct tg_price_tier {
    int64_t above; /* input tokens */
    struct tg_rates rates;
};

/* One price row; empty text: not set. */
struct tg_price {
    enum tg_price_form form;
    struct tg_rates rates;
    struct tg_price_tier tiers[TG_PRICE_TIERS]; /* ascending */
    size_t tier_count;
    char call[TG_DECIMAL_TEXT];                  /* per call */
    char tool_call[TG_DECIMAL_TEXT];             /* of a tool without a price of its own */
    char tools[TG_TOOL__COUNT][TG_DECIMAL_TEXT]; /* USD each */
    const char *expression;                      /* borrowed; NULL: none */
    int64_t max_output_tokens, context_tokens;   /* 0: not known */
    /* where it comes from; no part of the rule */
    char vendor[TG_PRICE_VENDOR_TEXT];
    char dated[TG_PRICE_DATE_TEXT]; /* "2026-11-30" */
    char hash[65];                  /* of the rule; recorded with the bill */
};

const char *tg_price_form_name(enum tg_price_form form);
/* A word that is no form: TG_PRICE_FORM__COUNT. */
enum tg_price_form tg_price_form_of(const char *name) non_null(1);
/* The copy owns its strings through the arena. */
struct tg_price tg_price_copy(struct tg_arena *arena, const struct tg_price *price) non_null(1, 2);

/* Checks that every set text is a decimal within bounds and that the form has what it needs.
 * Errors: "price_form_unsupported", "price_incomplete", "price_invalid", with the field in param
 * ("cache_read", "tiers.0.input", "tools.web_search", "expression"). */
enum tg_class tg_price_check(const struct tg_price *price, struct tg_error *err) must_check
    non_null(1);
/* The same before a price is saved: also tries an expression with sample usages. */
enum tg_class tg_price_check_to_save(const struct tg_price *price, struct tg_error *err) must_check
    non_null(1);
/* Fills `hash` from the other members. */
void tg_price_hash(struct tg_price *price) non_null(1);
/* Of form tier: the rates for an input, and which tier it is, -1 for the row's own. */
const struct tg_rates *tg_price_rates(const struct tg_price *price, int64_t input_tokens,
                                      int *ret_tier) must_check non_null(1, 3);

struct tg_deposit_facts {
    int64_t input_tokens;      /* estimate */
    int64_t max_output_tokens; /* asked for by the request; 0: not given */
    int64_t default_output;    /* deposit.output */
    int64_t calls;             /* answers asked for, at least 1: each may use the output */
    const char *factor;        /* deposit.factor, decimal */
    const char *group_ratio;   /* decimal */
};
/* (max(input, 500) * in + output * calls * out) * ratio * factor, or price * calls * ratio, rounded
 * up; 0 for what is free. Errors: those of tg_price_check, TG_CLASS_FUNDS beyond all balances. */
enum tg_class tg_deposit(const struct tg_price *price, const struct tg_deposit_facts *facts,
                         int64_t *ret_quota, struct tg_error *err) must_check non_null(1, 2, 3);

/* The bill; <steps> (NULL allowed) gets the sum line by line as JSON for bill_json:
 * {"ratio":"1","lines":[{"what":"input","tokens":12,"price":"2.5","quota":"15"}…],
 *  "exact":"…","quota":n}; what is priced by the call has "calls" instead of "tokens". Besides
 * "tier":"above 200000" or the name an expression gave it; "clamped":true when usage or sum were
 * absurd and cut.
 * Errors: TG_CLASS_INVALID (price or ratio, division by zero), *ret_quota and <steps> untouched. */
enum tg_class tg_bill(const struct tg_price *price, const struct tg_usage *usage,
                      const char *group_ratio, struct tg_buf *steps, int64_t *ret_quota) must_check
    non_null(1, 2, 3, 5);

#endif
