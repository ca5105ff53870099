/* request - everything known about one request, grouped by the stage that fills it.
 *
 * A later stage never writes an earlier group. All memory that is not owned by a wrapper lives in
 * the request's arena and goes at its end; nothing in here outlives the request.
 *
 * Threads  one owner, the thread that accepted it.
 */
#ifndef TOLLGATE_REQUEST_H
#define TOLLGATE_REQUEST_H

#include "common/base/arena.h"
#include "common/base/buf.h"
#include "common/base/error.h"
#include "common/base/id.h"
#include "common/fcgi/fcgi.h"
#include "common/json/json.h"
#include "common/ledger/ledger.h"
#include "common/store/credential.h"
#include "fcgi-app/plan.h"
#include "fcgi-app/stage.h"

struct tg_worker;
struct tg_endpoint;
struct tg_idempotent;
struct tg_diagnostics;

/* A header of the upstream's answer that the client gets (upstream/passed.h). */
enum { TG_PASSED_MOST = 4 };
struct tg_passed_header {
    const char *name, *value;
};

struct tg_request {
    struct tg_worker *worker;
    struct tg_arena *arena;
    struct tg_fcgi *fcgi;

    /* accept: set by the pool */
    struct tg_id id;
    char id_text[TG_ID_TEXT];
    int64_t started_at_us, created_unix_us;
    const char *method, *path, *query; /* path decoded once and tidied, without the query */
    const char *client_request_id;     /* the client's own x-request-id, "" for none */
    const char *idempotency_key;       /* NULL or "": none */
    struct tg_address address;
    const char *address_text;
    int64_t stage_us[TG_STAGE__COUNT];

    /* endpoint */
    const struct tg_endpoint *endpoint;
    bool in_flight; /* counts for pool.max_inflight */
    bool array;     /* a stream of Gemini's that is one JSON array, not events */

    /* access */
    const struct tg_credential *credential;
    const struct tg_credential *borrowed; /* the worker's known one, released at the end */
    bool doubtful;    /* the credential is that one, and the books have not confirmed it yet */
    bool looked_again; /* it was read again after access */
    const char *group;         /* the group whose channels and ratio apply, or "auto" */
    const char *const *groups; /* it alone, or those that "auto" stands for, in their order */
    size_t group_count;
    int64_t pinned_channel_id; /* 0: none */
    char token_hmac[65];       /* key of the credential, in hex; never recorded */

    /* body */
    struct tg_span body; /* memory or a mapped unlinked file; owned by the body stage */
    bool body_mapped;
    bool body_understood;  /* it came whole, and what must be known of it is below */
    int64_t request_bytes; /* of the body as it was sent */
    struct tg_json *json;
    const char *model; /* as the client wrote it */
    bool stream, wants_usage;
    int64_t max_output_tokens; /* 0: not given */
    int64_t answers;           /* asked for: `n` */

    /* rules: the plan; one quote per model, the requested one first */
    struct tg_quote *quotes;
    size_t quote_count;

    /* estimate */
    int64_t input_estimate;

    /* reserve */
    struct tg_idempotent *idempotent; /* this request's row, NULL: it has no key */
    bool replayed;                    /* the answer is that of an earlier one with the same key */
    bool held;
    struct tg_funding funding;
    int64_t deposit_quota;
    int64_t renew_at_us;

    /* relay */
    struct tg_attempt *attempts; /* oldest first */
    int attempt_count;
    const struct tg_attempt *served; /* the attempt whose content was or would be delivered */
    const struct tg_quote *quote;    /* of that attempt */
    const struct tg_quote *trying;   /* of the attempt that runs */
    const struct tg_diagnostics *diagnostics; /* of the last conversion, NULL: none was made */
    bool estimated;                  /* the answer is a count of our own */
    int answer_status;               /* HTTP status sent or to be sent to the client */
    struct tg_passed_header passed[TG_PASSED_MOST];
    size_t passed_count;
    bool headers_sent, content_sent, array_open, array_begun; /* the last two: of such an array */
    enum tg_end_reason end_reason;
    int64_t first_token_us; /* since started_at_us; 0: none came */
    int64_t counted_output; /* local count of delivered content */
    struct tg_usage usage;  /* after R1-R3; source NONE when nothing is billed */
    int64_t sent_bytes, received_bytes; /* to the client, from the upstream */
    struct tg_buf tail; /* last bytes for the client: sent after the settlement (AMENDMENTS L12) */
    const char *failure; /* the event that ends a failed stream, when the stream made one itself */

    /* settle */
    int64_t bill_quota;
    struct tg_buf bill_steps; /* bill_json */
    bool ended;               /* entry spooled and told to Redis, or left to the replay */

    /* any stage that answers with an error */
    struct tg_error error; /* class TG_OK: none */
};

#endif
