/* truth - what the books must say, and whether they do.
 *
 *   I1 conservation   users, tokens and the plan: first money, credits, adjustments, entries; and
 *                     Redis: balance + holds + what the journal has for the books; a period of
 *                     the plan gets nothing from the one before it, and pays nothing for it
 *   I2 single end     one entry a request, with the bill that its worker made
 *   I3 no leak        no hold, no spool line, no unapplied row at the end
 *   I4 bound          without a fault nobody goes below zero
 *   I5 one row        each entry of a request is one row of request_log
 *   I6 derived        used_quota, request_count
 *   I7 replay         all told again: nothing changes
 *   I8 append only    an entry that was seen stays as it was
 */
#ifndef TOLLGATE_HISTORIES_TRUTH_H
#define TOLLGATE_HISTORIES_TRUTH_H

#include "common/ledger/entry.h"

void truth_reset(void);
/* A request began: at most <most> may ever be charged for it. */
void truth_begin(const struct tg_id *id, int64_t most);
/* Its worker has made the bill: this amount, or nothing else. */
void truth_bill(const struct tg_id *id, int64_t amount);
/* A credit or an adjustment that was committed, or perhaps (then it must not matter). */
void truth_credit(const struct tg_entry *entry);

/* The leases in MySQL, whose clock is its own, are over. */
void truth_overdue(void);
/* At any moment. False: wrong, and *ret_why says what. */
bool truth_holds(const char **ret_why);
/* Nothing is open, nothing waits: another round of the daemons would find no work. */
bool truth_is_at_rest(void);
/* After everything has come to rest. */
bool truth_at_the_end(const char **ret_why);

#endif
