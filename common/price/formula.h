/* formula - the sum of a bill in one line, with its numbers, for people.
 *
 *   (20 x 3 + 260 x 0.3 + 8 x 15) / 1000000 USD x 500000 x 0.5 = 64.5, rounded to 65 quota
 *   ((20 x 3) / 1000000 + 2 x 0.01) USD x 500000 x 1 = 10030, rounded to 10030 quota
 *
 * Made from what tg_bill wrote as <steps>, so it shows what was really computed.
 *
 * Pure.  Threads  any.
 */
#ifndef TOLLGATE_PRICE_FORMULA_H
#define TOLLGATE_PRICE_FORMULA_H

#include "common/base/buf.h"
#include "common/json/json.h"
#include "common/json/writer.h"
#include "common/price/price.h"

void tg_bill_formula(const struct tg_json *steps, struct tg_buf *out) non_null(1, 2);

struct tg_calculation {
    const struct tg_price *price;
    const struct tg_usage *usage;
    const char *group_ratio;
};
/* Members of an object that is open: "quota", "usd", "formula", "bill" (the steps).
 * Errors: those of tg_price_check and tg_bill. */
enum tg_class tg_calculate(const struct tg_calculation *calculation, struct tg_json_writer *out,
                           struct tg_error *err) must_check non_null(1, 2);

#endif
