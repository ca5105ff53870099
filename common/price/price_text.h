/* price_text - tiers and tool prices as people type them, for command line and console.
 *
 *   tiers   200000 input=5 output=15 cache_read=0.5     one a line, or with commas between; colons
 *           1000000:input=9:output=27:cache_read=0.9    may stand for the blanks
 *   tools   web_search=0.01, default=0.005              one a line, or with commas between
 * A text that begins with [ or { is JSON as in price_json.h and is taken as it is.
 *
 * Errors   TG_CLASS_INVALID "price_invalid", param "tiers" or "tools".
 * Threads  any.  Blocks  no.
 */
#ifndef TOLLGATE_PRICE_PRICE_TEXT_H
#define TOLLGATE_PRICE_PRICE_TEXT_H

#include "common/json/writer.h"
#include "common/price/price.h"

/* The member "tiers" or "tools" of a price's JSON, for tg_price_read; nothing for an empty text.
 * After a failure the document is of no use. */
enum tg_class tg_price_put_tiers(const char *text, struct tg_json_writer *out,
                                 struct tg_error *err) must_check non_null(1, 2, 3);
enum tg_class tg_price_put_tools(const char *text, struct tg_json_writer *out,
                                 struct tg_error *err) must_check non_null(1, 2, 3);
/* One a line. */
void tg_price_tiers_text(const struct tg_price *price, struct tg_buf *out) non_null(1, 2);
void tg_price_tools_text(const struct tg_price *price, struct tg_buf *out) non_null(1, 2);

#endif
