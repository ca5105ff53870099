/* expression - a price as a formula over what a request used.
 *
 *   p * 2.5 + c * 10 + cr * 0.25
 *   len > 200000 ? tier("long", p * 5 + c * 22.5) : tier("base", p * 2.5 + c * 15)
 *   max(fixed(0.01), p * price.input + c * price.output)
 *
 * The value is USD per 1M tokens times tokens, so prices are written as everywhere else.
 *   p    input tokens without those of the kinds below that the formula names
 *   c    output tokens, without ao when the formula names it
 *   cr, cw5, cw1h   read from and written to a cache       img, ai, ao   image in, audio in and out
 *   len  everything read, cached or not                    r   reasoning (part of c)
 *   price.input, price.cache_read, ...   the row's own prices
 *   + - * / ( )   < <= > >= == !=   && || !   test ? a : b
 *   min(a, b, ...)  max(a, b, ...)  ceil(a)  floor(a)
 *   tier("name", a)  a, and the name for the record      fixed(usd)  USD for the whole request
 * All arithmetic is exact. A branch that is not taken is not computed.
 *
 * Owns     a parsed expression is independent of its text.
 * Errors   TG_CLASS_INVALID "expression_invalid", the message begins with "column N: ".
 * Threads  any; a parsed expression is only read.  Blocks  no.  Source  LEDGER "price forms".
 */
#ifndef TOLLGATE_PRICE_EXPRESSION_H
#define TOLLGATE_PRICE_EXPRESSION_H

#include "common/base/buf.h"
#include "common/base/error.h"
#include "common/price/rates.h"

enum { TG_EXPRESSION_TEXT = 4000, TG_EXPRESSION_TIER_TEXT = 65 };

struct tg_expression;

enum tg_class tg_expression_parse(const char *text, struct tg_expression **ret,
                                  struct tg_error *err) must_check non_null(1, 2);
void tg_expression_free(struct tg_expression *expression); /* NULL is fine */

struct tg_expression_input {
    const struct tg_usage *usage; /* clamped */
    const struct tg_rates *rates;
};
/* <tier> gets the name that was reached, "" for none. Errors: a division by zero. */
enum tg_class tg_expression_value(const struct tg_expression *expression,
                                  const struct tg_expression_input *input,
                                  struct tg_rational *ret, char tier[TG_EXPRESSION_TIER_TEXT],
                                  struct tg_error *err) must_check non_null(1, 2, 3, 4);
/* Computes it for sample usages of all sizes: none may fail or come out negative. */
enum tg_class tg_expression_try(const struct tg_expression *expression,
                                const struct tg_rates *rates, struct tg_error *err) must_check
    non_null(1, 2);

/* Names of usage that the expression speaks of, with their numbers for this input. */
typedef void tg_expression_visit_fn(void *context, const char *name, int64_t value);
void tg_expression_each(const struct tg_expression *expression,
                        const struct tg_expression_input *input, tg_expression_visit_fn *visit,
                        void *context) non_null(1, 2, 3);

#endif
