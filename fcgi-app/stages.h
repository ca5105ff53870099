/* stages - one function per stage; the table in pipeline.c runs them in the order of enum tg_stage.
 *
 * Settle and record run for every verdict once a request has passed access. A stage that is not
 * built yet passes through. Stages behind rate up to reserve run again when the credential turns
 * out to have been changed in the middle of the request.
 */
#ifndef TOLLGATE_STAGES_H
#define TOLLGATE_STAGES_H

#include "fcgi-app/request.h"

enum tg_verdict tg_stage_endpoint(struct tg_request *req) must_check non_null(1);
enum tg_verdict tg_stage_access(struct tg_request *req) must_check non_null(1);
/* Access once more with a credential that was just read, from MySQL when it is known to be stale.
 * *ret_same: it says what the one before said. */
enum tg_verdict tg_access_again(struct tg_request *req, bool stale, bool *ret_same) must_check
    non_null(1, 3);
void tg_access_done(struct tg_request *req) non_null(1); /* gives back a known credential */
enum tg_verdict tg_stage_rate(struct tg_request *req) must_check non_null(1);
enum tg_verdict tg_stage_body(struct tg_request *req) must_check non_null(1);
enum tg_verdict tg_stage_session(struct tg_request *req) must_check non_null(1);
enum tg_verdict tg_stage_screen(struct tg_request *req) must_check non_null(1);
enum tg_verdict tg_stage_rules(struct tg_request *req) must_check non_null(1);
enum tg_verdict tg_stage_estimate(struct tg_request *req) must_check non_null(1);
enum tg_verdict tg_stage_quota(struct tg_request *req) must_check non_null(1);
enum tg_verdict tg_stage_reserve(struct tg_request *req) must_check non_null(1);
/* Sends everything but the last bytes, which it leaves in req->tail; on TG_ANSWER with an error
 * nothing but keep-alives was sent (headers_sent tells), or the error event is in req->tail. */
enum tg_verdict tg_stage_relay(struct tg_request *req) must_check non_null(1);
void tg_stage_settle(struct tg_request *req) non_null(1);
void tg_stage_remember(struct tg_request *req) non_null(1);
void tg_body_done(struct tg_request *req) non_null(1); /* unmaps, frees the tree */

/* The Idempotency-Key of a request: its row is there before anything costs money, lives while the
 * request runs, and is done, with the answer in req->tail, before its last bytes go out. Called by
 * reserve, hold and the pipeline. */
enum tg_verdict tg_idempotent_check(struct tg_request *req) must_check non_null(1);
void tg_idempotent_tick(struct tg_request *req) non_null(1);
void tg_idempotent_end(struct tg_request *req) non_null(1);

/* Makes the deposit at least this large before a dearer attempt (another model, group or price).
 * Errors: FUNDS when user or token are short of the difference, OVERLOAD; both NO_RETRY. */
enum tg_class tg_hold_raise(struct tg_request *req, int64_t deposit_quota, struct tg_error *err)
    must_check non_null(1, 3);
/* Renews the deposit's lease when it is time; <output_tokens> were delivered so far. Called by the
 * stream engine's tick. Blocks at most ledger.settle_timeout; a failure is tried again later. */
void tg_hold_tick(struct tg_request *req, int64_t now_us, int64_t output_tokens) non_null(1);
/* When tg_hold_tick wants to be called next (monotonic). */
int64_t tg_hold_wake_at_us(const struct tg_request *req) non_null(1);

#endif
