/* estimate - what a request may cost, before anything is asked of an upstream.
 *
 * Threads  the request's.  Blocks  no.  Source  LEDGER "Deposit and bill".
 */
#ifndef TOLLGATE_ESTIMATE_H
#define TOLLGATE_ESTIMATE_H

#include "fcgi-app/request.h"

/* Tokens of the prompt in the protocol's way of writing it, before any upstream has counted. */
int64_t tg_estimate_prompt(const struct tg_request *req) must_check non_null(1);
/* Fills quote->deposit_quota from its price. Errors: TG_CLASS_UNPRICED for a price that cannot be
 * used. */
enum tg_class tg_quote_deposit(const struct tg_request *req, struct tg_quote *quote,
                               struct tg_error *err) must_check non_null(1, 2, 3);

#endif
