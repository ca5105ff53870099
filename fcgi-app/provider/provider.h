/* provider - the URL, the headers and the body of one vendor's dialect. One const table.
 *
 * Of the client's headers only openai-beta reaches an upstream: never a credential, a cookie, a
 * hop-by-hop header or accept-encoding (POLICIES "Access"). Bodies are spliced, not rebuilt.
 *
 * Pure.  Owns  everything made lives in the arena or is borrowed from the input.
 * Threads  any.  Blocks  no.
 */
#ifndef TOLLGATE_PROVIDER_H
#define TOLLGATE_PROVIDER_H

#include "common/http/http.h"
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
    const char *openai_beta; /* the client's header, NULL: none */
};

struct tg_provider_call {
    const char *url;
    const struct tg_http_header *headers;
    size_t header_count;
    struct tg_pieces body;
    const char *upstream_model;
    const char *rename_to; /* what the answer shall call its model, NULL: leave it */
};

struct tg_provider {
    const char *name;
    enum tg_protocol protocol;
    /* Errors: TG_CLASS_INVALID when the client's body cannot be sent on; all others say
     * TG_ERROR_CHANNEL. */
    enum tg_class (*prepare)(const struct tg_provider_input *input, struct tg_provider_call *ret,
                             struct tg_error *err);
};

extern const struct tg_provider tg_provider_openai;

/* NULL: unknown name. */
const struct tg_provider *tg_provider_find(const char *name) non_null(1);
/* The channel's own name for <model>. Errors: "channel_mapping_invalid" with TG_ERROR_CHANNEL. */
enum tg_class tg_provider_map_model(const struct tg_provider_input *input, const char **ret,
                                    struct tg_error *err) must_check non_null(1, 2, 3);

#endif
