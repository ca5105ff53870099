/* balance - is the JSON text that arrives in pieces complete?
 *
 * Counts brackets outside strings; complete once something was opened and all of it is closed. It
 * does not check the text.
 *
 * Pure.  Threads  one owner.  Source  PROTOCOLS D2 "tracker".
 */
#ifndef TOLLGATE_CONVERT_BALANCE_H
#define TOLLGATE_CONVERT_BALANCE_H

#include "common/base/base.h"

struct tg_balance {
    int64_t depth;
    bool in_string, escaped, opened;
};

void tg_balance_add(struct tg_balance *balance, struct tg_span text) non_null(1);
bool tg_balance_is_complete(const struct tg_balance *balance) non_null(1);

#endif
