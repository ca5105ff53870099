/* rates - the prices of one input length: USD per 1M tokens of each kind, as decimal text.
 *
 * A kind whose price is not set follows another: cache_read, image and audio_in cost as input,
 * cache_write_5m 1.25 times input, cache_write_1h twice input, audio_out as output.
 *
 * Pure.  Threads  any.  Source  LEDGER "Deposit and bill".
 */
#ifndef TOLLGATE_PRICE_RATES_H
#define TOLLGATE_PRICE_RATES_H

#include "common/price/rational.h"
#include "common/price/usage.h"

enum { TG_DECIMAL_TEXT = 34 };

/* Empty text: not set. */
struct tg_rates {
    char input[TG_DECIMAL_TEXT], output[TG_DECIMAL_TEXT];
    char cache_read[TG_DECIMAL_TEXT], cache_write_5m[TG_DECIMAL_TEXT];
    char cache_write_1h[TG_DECIMAL_TEXT];
    char image[TG_DECIMAL_TEXT], audio_in[TG_DECIMAL_TEXT], audio_out[TG_DECIMAL_TEXT];
};

/* In the order in which a bill shows them. */
enum tg_rate {
    TG_RATE_INPUT,
    TG_RATE_CACHE_READ,
    TG_RATE_CACHE_WRITE_5M,
    TG_RATE_CACHE_WRITE_1H,
    TG_RATE_IMAGE,
    TG_RATE_AUDIO_IN,
    TG_RATE_OUTPUT,
    TG_RATE_AUDIO_OUT,
    TG_RATE__COUNT
};

const char *tg_rate_name(enum tg_rate rate); /* "cache_read" */
const char *tg_rate_text(const struct tg_rates *rates, enum tg_rate rate) non_null(1);
/* The member itself, TG_DECIMAL_TEXT bytes. */
char *tg_rate_slot(struct tg_rates *rates, enum tg_rate rate) non_null(1);
/* The price of one million tokens, the one it follows when it is not set. False: no decimal. */
bool tg_rate_value(const struct tg_rates *rates, enum tg_rate rate, struct tg_rational *ret)
    must_check non_null(1, 3);
/* Tokens that are billed at this rate. */
int64_t tg_rate_tokens(const struct tg_usage *usage, enum tg_rate rate) must_check non_null(1);

#endif
