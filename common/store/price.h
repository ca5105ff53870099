/* price - the rows of model_prices.
 *
 * Errors   those of db.h; TG_CLASS_INVALID of check.h.
 * Threads  as the connection.  Blocks  on the database.
 */
#ifndef TOLLGATE_STORE_PRICE_H
#define TOLLGATE_STORE_PRICE_H

#include "common/price/price.h"
#include "common/store/change.h"

/* Sets all of a model's price; <price> was checked and hashed. <model> may be a pattern. */
enum tg_class tg_store_price_set(struct tg_db *db, const struct tg_actor *actor, const char *model,
                                 const struct tg_price *price, struct tg_error *err) must_check
    non_null(1, 2, 3, 4, 5);
/* TG_CLASS_NOT_FOUND "price_not_found". */
enum tg_class tg_store_price_delete(struct tg_db *db, const struct tg_actor *actor,
                                    const char *model, struct tg_error *err) must_check
    non_null(1, 2, 3, 4);

#endif
