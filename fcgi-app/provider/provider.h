/* provider - the URL, the headers and the body of one vendor's dialect. One const table.
 *
 * Of the client's headers only openai-beta, anthropic-version and anthropic-beta reach an
 * upstream of their kind: never a credential, a cookie, a hop-by-hop header or accept-encoding
 * (POLICIES "Access"). A body in the upstream's own protocol is spliced, not rebuilt; another one
 * is converted (convert/registry.h).
 *
 * Pure.  Owns  everything made lives in the arena or is borrowed from the input.
 * Threads  any.  Blocks  no.
 */
#ifndef TOLLGATE_PROVIDER_H
#define TOLLGATE_PROVIDER_H

#include "common/http/http.h"
#include "fcgi-app/convert/registry.h"
#include "fcgi-app/convert/splice.h"
#include "fcgi-app/endpoint.h"
#include "fcgi-app/route/snapshot.h"

struct tg_provider_input {
    struct tg_arena *arena;
    const struct tg_channel *channel;
    struct tg_span body;      /* the client's, past the strict gate */
    const char *client_model; /* as in the body */
    const char *model;        /* Tollgate's name of the model to serve */
    bool stream;
    bool counts;                /* not an answer is asked for, but the prompt's tokens */
    const char *path;           /* below base_url, instead of the operation's own; NULL: that */
    enum tg_protocol client;    /* what the body is written in */
    const struct tg_json *json; /* the body, parsed; for converting */
    bool wants_usage;           /* of a stream, as Chat says it */
    enum tg_loss_policy loss_policy; /* how much a conversion may lose */
    /* the client's headers, NULL: none */
    const char *openai_beta, *anthropic_version, *anthropic_beta;
};

struct tg_provider_call {
    const char *url;
    const struct tg_http_header *headers;
    size_t header_count;
    struct tg_pieces body;
    const char *upstream_model;
    const char *rename_to; /* what the answer shall call its model, NULL: leave it */
    enum tg_protocol protocol;    /* of the upstream */
    const struct tg_route *route; /* from the client's protocol to it */
    struct tg_convert *convert;   /* when the route has steps; tg_provider_call_done ends it */
};

struct tg_provider {
    const char *name;
    enum tg_protocol protocol;
    /* Errors: TG_CLASS_INVALID when the client's body cannot be sent on; all others say
     * TG_ERROR_CHANNEL. */
    enum tg_class (*prepare)(const struct tg_provider_input *input, struct tg_provider_call *ret,
                             struct tg_error *err);
};

extern const struct tg_provider tg_provider_openai, tg_provider_anthropic, tg_provider_gemini;
extern const struct tg_provider tg_provider_openai_responses;

/* NULL: unknown name. */
const struct tg_provider *tg_provider_find(const char *name) non_null(1);
/* Sets everything of <ret> but url and headers. Errors: TG_CLASS_INVALID with TG_ERROR_NO_RETRY for
 * a body that cannot be sent on, "conversion_loss" for one that must not (POLICIES); others say
 * TG_ERROR_CHANNEL. */
enum tg_class tg_provider_prepare_body(const struct tg_provider *provider,
                                       const struct tg_provider_input *input,
                                       struct tg_provider_call *ret, struct tg_error *err)
    must_check non_null(1, 2, 3, 4);
void tg_provider_call_done(struct tg_provider_call *call) non_null(1);
/* base_url without its last slashes, and <path>. */
const char *tg_provider_url(const struct tg_provider_input *input, const char *path) must_check
    non_null(1, 2);
/* The channel's own name for <model>. Errors: "channel_mapping_invalid" with TG_ERROR_CHANNEL. */
enum tg_class tg_provider_map_model(const struct tg_provider_input *input, const char **ret,
                                    struct tg_error *err) must_check non_null(1, 2, 3);

#endif
