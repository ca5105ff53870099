/* price - the rows of model_prices.
 *
 * Errors   those of db.h; TG_CLASS_INVALID of check.h.
 * Owns     rows live in the arena given.
 * Threads  as the connection.  Blocks  on the database.
 */
#ifndef TOLLGATE_STORE_PRICE_H
#define TOLLGATE_STORE_PRICE_H

#include "common/price/list.h"
#include "common/store/change.h"

/* The columns that tg_store_price_row reads, in its order. */
#define TG_PRICE_COLUMNS \
    "model, form, input, output, cache_read, cache_write_5m, cache_write_1h, image, audio_in, " \
    "audio_out, call_price, tiers, tool_prices, expression, max_output_tokens, context_tokens, " \
    "vendor, dated, hash"
/* A row that cannot be read has a form that everybody refuses. */
struct tg_price_row tg_store_price_row(struct tg_arena *arena, const struct tg_db_rows *rows)
    non_null(1, 2);

/* All of them, by model. */
enum tg_class tg_store_prices(struct tg_db *db, struct tg_arena *arena, struct tg_price_rows *ret,
                              struct tg_error *err) must_check non_null(1, 2, 3);

/* One of them; *ret NULL: there is none of exactly that name. */
enum tg_class tg_store_price(struct tg_db *db, struct tg_arena *arena, const char *model,
                             const struct tg_price_row **ret, struct tg_error *err) must_check
    non_null(1, 2, 3, 4);

/* Sets all of a model's price; <price> was checked and hashed. <model> may be a pattern. */
enum tg_class tg_store_price_set(struct tg_db *db, const struct tg_actor *actor, const char *model,
                                 const struct tg_price *price, struct tg_error *err) must_check
    non_null(1, 2, 3, 4, 5);
/* TG_CLASS_NOT_FOUND "price_not_found". */
enum tg_class tg_store_price_delete(struct tg_db *db, const struct tg_actor *actor,
                                    const char *model, struct tg_error *err) must_check
    non_null(1, 2, 3, 4);

/* The same for many, in one transaction: all of them or none. <missing_only> leaves a model that
 * has a price of its own alone. */
struct tg_price_import {
    const struct tg_price_row *rows;
    size_t count;
    bool missing_only;
    int64_t set, left; /* results */
};
enum tg_class tg_store_price_import(struct tg_db *db, const struct tg_actor *actor,
                                    struct tg_price_import *import, struct tg_error *err)
    must_check non_null(1, 2, 3, 4);

#endif
