/* price_json - the JSON form of a price: files, the API, the columns tiers and tool_prices.
 *
 *   {"model":"gpt-x","form":"tier","input":"2.5","output":"10","cache_read":"0.25",
 *    "tiers":[{"above":200000,"input":"5","output":"15","cache_read":"0.5"}],
 *    "tools":{"web_search":"0.01","default":"0.005"},
 *    "context_tokens":400000,"max_output_tokens":128000,"vendor":"openai","dated":"2026-11-30"}
 *
 * Prices are decimal texts (a whole number is fine too; a JSON fraction is refused: it may have
 * been through a float). "form" may be left out: "call" with a call price, "expression" with an
 * expression, "tier" with tiers, else "token". Unknown members are refused.
 *
 * Owns     what is read lives in the arena.
 * Errors   TG_CLASS_INVALID "price_invalid", the field in param.
 * Threads  any.  Blocks  no.
 */
#ifndef TOLLGATE_PRICE_PRICE_JSON_H
#define TOLLGATE_PRICE_PRICE_JSON_H

#include "common/json/json.h"
#include "common/json/writer.h"
#include "common/price/price.h"

/* Reads, without checking what tg_price_check checks. *ret_model is "" when absent, and
 * set too when another member is wrong. */
enum tg_class tg_price_read(const struct tg_json *object, struct tg_arena *arena,
                            struct tg_price *ret, const char **ret_model, struct tg_error *err)
    must_check non_null(1, 2, 3, 4);
/* The object's members; the caller begins and ends it, so that it may add its own. */
void tg_price_write(const struct tg_price *price, struct tg_json_writer *out) non_null(1, 2);

/* The columns; "" and "null" are nothing. */
enum tg_class tg_price_read_columns(const char *tiers, const char *tools, struct tg_price *ret,
                                    struct tg_error *err) must_check non_null(1, 2, 3);
/* Whole arrays and objects; what has none writes nothing and returns false. */
bool tg_price_write_tiers(const struct tg_price *price, struct tg_json_writer *out)
    non_null(1, 2);
bool tg_price_write_tools(const struct tg_price *price, struct tg_json_writer *out)
    non_null(1, 2);

/* {"input":10,"cache_read":5,…,"tools":{"web_search":1,"other":2},"semantics":"excludes_cache"}
 * for the calculator. Input includes caches unless semantics says otherwise. */
enum tg_class tg_usage_read(const struct tg_json *object, struct tg_usage *ret,
                            struct tg_error *err) must_check non_null(1, 2);

#endif
