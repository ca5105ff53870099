/* list - many prices as one JSON document: the shipped list, import and export.
 *
 *   {"note":"…","prices":[{"model":"gpt-x","input":"2.5","output":"10",…},…]}
 * or the bare array. Errors name the entry: "prices.3 (gpt-x): price input …".
 *
 * Owns     what is read lives in the arena.
 * Errors   TG_CLASS_INVALID: of JSON, of a price, "price_twice".
 * Threads  any.  Blocks  no.
 */
#ifndef TOLLGATE_PRICE_LIST_H
#define TOLLGATE_PRICE_LIST_H

#include "common/json/writer.h"
#include "common/price/price.h"

struct tg_price_row {
    const char *model;
    struct tg_price price;
};
struct tg_price_rows {
    struct tg_price_row *rows;
    size_t count;
};
enum { TG_PRICE_LIST_BYTES = 16 << 20 };

/* Checked as before saving, and hashed. */
enum tg_class tg_price_list_read(struct tg_span text, struct tg_arena *arena,
                                 struct tg_price_rows *ret, struct tg_error *err) must_check
    non_null(2, 3);
/* The whole document; one price a line. */
void tg_price_list_write(const struct tg_price_rows *rows, struct tg_buf *out) non_null(1, 2);
/* The row that prices <model>: its own, else that of the most exact pattern; NULL: none. */
const struct tg_price_row *tg_price_rows_find(const struct tg_price_rows *rows, const char *model)
    non_null(1, 2);

#endif
