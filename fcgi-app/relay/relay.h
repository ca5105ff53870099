/* relay - what the files of the attempt loop share.
 *
 *   attempt.c  the loop over models and calls
 *   choose.c   which channel is next, copied out of the snapshot
 *   health.c   what a call says about its channel: breaker, side effects
 *   keys.c     which key of it is used, and what the call says about the key
 *   loss.c     which channels would lose too much of the request
 *   events.c   the record of every call
 *   ask.c      calls beside it, for a test or a count
 *   outcome.c  who pays (R1-R3), what the client is told
 *
 * Threads  the request's.
 */
#ifndef TOLLGATE_RELAY_RELAY_H
#define TOLLGATE_RELAY_RELAY_H

#include "fcgi-app/relay/keys.h"
#include "fcgi-app/relay/retry.h"
#include "fcgi-app/route/breaker.h"
#include "fcgi-app/route/select.h"
#include "fcgi-app/upstream/transfer.h"
#include "fcgi-app/worker.h"

struct tg_relay {
    struct tg_request *req;
    struct tg_client client;
    const struct tg_settings *settings;
    int64_t deadline_at_us;
    bool native_only; /* no channel of another protocol than the client's */
    /* of the running model's loop */
    const struct tg_quote *quote;
    size_t groups_left; /* quotes behind <quote> that are for the same model */
    int attempts;
    int64_t *tried; /* channels that have failed, in the arena */
    size_t tried_count, tried_cap;
    int failed; /* of them, in this group: the tier index */
    int repeats; /* calls to channels that had failed before */
    struct tg_key_memory keys;
    struct tg_relay_loss *losses; /* what is known of channels, in the arena */
    struct tg_error loss_error;   /* of the last one that was refused; class TG_OK: none was */
};

/* A channel for one attempt; everything is copied into the arena. */
struct tg_choice {
    struct tg_channel channel;
    const struct tg_provider *provider;
    const struct tg_quote *quote; /* the price of the channel's own model when it bills so */
    struct tg_breaker_pass pass;
    int tier;
    bool repeated; /* it has failed before in this request */
    size_t channels_left, channels_all, channels_resting; /* resting: breaker */
    size_t other_keys; /* open ones of the channel besides the one that is used */
    struct tg_key_list *keys;
};

/* Errors: TG_CLASS_NO_CHANNEL, also when the next group is to be looked at; TG_CLASS_OVERLOAD
 * without a snapshot. */
enum tg_class tg_relay_choose(struct tg_relay *relay, struct tg_choice *ret, struct tg_error *err)
    must_check non_null(1, 2, 3);
struct tg_channel tg_relay_copy_channel(struct tg_arena *arena, const struct tg_channel *from)
    non_null(1, 2);
bool tg_relay_was_tried(const struct tg_relay *relay, int64_t channel_id) non_null(1);
void tg_relay_mark_tried(struct tg_relay *relay, int64_t channel_id) non_null(1);
/* What the end of the call says about the channel, told to the breaker; see attempt->effect. */
void tg_relay_judge(struct tg_relay *relay, const struct tg_choice *choice,
                    struct tg_attempt *attempt, const struct tg_error *error) non_null(1, 2, 3, 4);
struct tg_breaker_rules tg_relay_breaker_rules(const struct tg_conf *conf) non_null(1);
/* The client's allowed header, copied; NULL when absent. */
const char *tg_relay_client_header(const struct tg_request *req, const char *name) non_null(1, 2);

/* What a provider makes its call of. */
struct tg_provider_input tg_relay_input(const struct tg_relay *relay,
                                        const struct tg_channel *channel) non_null(1, 2);
/* The stricter one of token and channel. */
enum tg_loss_policy tg_relay_loss_policy(const struct tg_request *req,
                                         const struct tg_channel *channel) must_check
    non_null(1, 2);
/* Would the channel lose more of the request than the policy allows? */
bool tg_relay_loses(struct tg_relay *relay, const struct tg_channel *channel,
                    const struct tg_provider *provider) must_check non_null(1, 2, 3);

/* Appends the call to the request's record. <error> class TG_OK: success. */
struct tg_attempt *tg_relay_record(struct tg_relay *relay, const struct tg_choice *choice,
                                   const struct tg_error *error) non_null(1, 2, 3);
/* Appends that the group had nothing (more) to choose from. */
void tg_relay_record_none(struct tg_relay *relay, const struct tg_choice *choice) non_null(1, 2);
void tg_relay_record_decision(struct tg_request *req, struct tg_attempt *attempt,
                              const struct tg_retry_decision *decision) non_null(1, 2, 3);

/* R1-R3 for the attempt whose content came. */
void tg_relay_bill(struct tg_request *req, const struct tg_transfer *transfer) non_null(1, 2);
/* Leaves the last bytes of a whole answer in req->tail. */
void tg_relay_finish(struct tg_request *req, struct tg_transfer *transfer) non_null(1, 2);
enum tg_class tg_relay_no_channel(struct tg_error *err) non_null(1);
/* Turns the error of the last attempt into the one that the client sees, in req->error. */
void tg_relay_fail(struct tg_request *req, const struct tg_error *error) non_null(1, 2);

#endif
