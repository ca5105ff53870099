/* price - what a model costs, and the two sums made from it: the deposit and the bill.
 *
 * Prices are decimal texts, USD per 1M tokens or per call, as stored. A snapshot of the prices and
 * the group ratio is fixed when the deposit is taken, so that a change in mid-request changes
 * nothing. All arithmetic is exact; a bill is rounded half-up once at its end; a non-zero price
 * with any token used bills at least 1 quota.
 *
 *   input  = base*in + cache_read*cr + cache_write_5m*cw5 + cache_write_1h*cw1h
 *            + image*img + audio_in*ain
 *   output = text_out*out + audio_out*aout
 *   bill   = (input + output) * ratio + tool_calls * tool_price * ratio
 *
 * A price of a kind that is not set: cache_read and image and audio_in fall back to input,
 * cache_write_5m to 1.25 input, cache_write_1h to 2 input, audio_out to output.
 *
 * Pure.  Threads  any.  Source  LEDGER "Deposit and bill".
 */
#ifndef TOLLGATE_PRICE_PRICE_H
#define TOLLGATE_PRICE_PRICE_H

#include "common/base/buf.h"
#include "common/base/error.h"
#include "common/price/usage.h"

enum tg_price_form { TG_PRICE_TOKEN, TG_PRICE_CALL, TG_PRICE_TIER, TG_PRICE_EXPRESSION };

enum { TG_DECIMAL_TEXT = 34 };

/* One price row; empty text: not set. */
struct tg_price {
    enum tg_price_form form;
    char input[TG_DECIMAL_TEXT], output[TG_DECIMAL_TEXT];
    char cache_read[TG_DECIMAL_TEXT], cache_write_5m[TG_DECIMAL_TEXT];
    char cache_write_1h[TG_DECIMAL_TEXT];
    char image[TG_DECIMAL_TEXT], audio_in[TG_DECIMAL_TEXT], audio_out[TG_DECIMAL_TEXT];
    char tool_call[TG_DECIMAL_TEXT];
    char call[TG_DECIMAL_TEXT]; /* per call */
    int64_t max_output_tokens;  /* 0: not known */
    char hash[65];              /* of the row; recorded with the bill */
};

/* Checks that every set text is a decimal within bounds and that the form has what it needs. */
enum tg_class tg_price_check(const struct tg_price *price, struct tg_error *err) must_check
    non_null(1);
/* Fills `hash` from the other members. */
void tg_price_hash(struct tg_price *price) non_null(1);

struct tg_deposit_facts {
    int64_t input_tokens;      /* estimate */
    int64_t max_output_tokens; /* asked for by the request; 0: not given */
    int64_t default_output;    /* deposit.output */
    int64_t calls;             /* for per-call prices, at least 1 */
    const char *factor;        /* deposit.factor, decimal */
    const char *group_ratio;   /* decimal */
};
/* (max(input, 500) * in + output * out) * ratio * factor, rounded up; 0 for what is free. */
enum tg_class tg_deposit(const struct tg_price *price, const struct tg_deposit_facts *facts,
                         int64_t *ret_quota, struct tg_error *err) must_check non_null(1, 2, 3);

/* The bill; <steps> (NULL allowed) gets the sum line by line as JSON for bill_json:
 * {"ratio":"1","lines":[{"what":"input","tokens":12,"price":"2.5","quota":"15"}…],
 *  "exact":"…","quota":n}; what is priced by the call has "calls" instead of "tokens".
 * Errors: TG_CLASS_INVALID (price or ratio), *ret_quota and <steps> untouched. */
enum tg_class tg_bill(const struct tg_price *price, const struct tg_usage *usage,
                      const char *group_ratio, struct tg_buf *steps, int64_t *ret_quota) must_check
    non_null(1, 2, 3, 5);

#endif
