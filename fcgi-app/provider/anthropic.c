#include "fcgi-app/provider/provider.h"

enum { HEADERS_MOST = 6 };

/* What a request that was not written for Anthropic asks for (PROTOCOLS A2). */
static const char default_version[] = "2023-06-01";

static void set_headers(const struct tg_provider_input *input, struct tg_provider_call *call)
{
    struct tg_http_header *headers = tg_arena_calloc(input->arena, HEADERS_MOST, sizeof *headers);
    bool native = input->client == TG_PROTOCOL_MESSAGES;
    const char *version = native && input->anthropic_version != NULL ? input->anthropic_version
                                                                     : default_version;
    size_t count = 0;

    headers[count++] = (struct tg_http_header){"x-api-key", input->channel->key};
    headers[count++] = (struct tg_http_header){"anthropic-version", version};
    headers[count++] = (struct tg_http_header){"Content-Type", "application/json"};
    headers[count++] = (struct tg_http_header){
        "Accept", input->stream ? "text/event-stream" : "application/json"};
    headers[count++] = (struct tg_http_header){"User-Agent", "tollgate"};
    if (native && input->anthropic_beta != NULL)
        headers[count++] = (struct tg_http_header){"anthropic-beta", input->anthropic_beta};
    call->headers = headers;
    call->header_count = count;
}

static enum tg_class prepare(const struct tg_provider_input *input, struct tg_provider_call *ret,
                             struct tg_error *err)
{
    ret->url = tg_provider_url(input, input->counts ? "/messages/count_tokens" : "/messages");
    set_headers(input, ret);
    return tg_provider_prepare_body(&tg_provider_anthropic, input, ret, err);
}

const struct tg_provider tg_provider_anthropic = {"anthropic", TG_PROTOCOL_MESSAGES, prepare};
