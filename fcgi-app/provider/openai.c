#include "fcgi-app/provider/provider.h"

enum { HEADERS_MOST = 6 };

static void set_headers(const struct tg_provider_input *input, struct tg_provider_call *call)
{
    struct tg_http_header *headers = tg_arena_calloc(input->arena, HEADERS_MOST, sizeof *headers);
    const struct tg_channel *channel = input->channel;
    size_t count = 0;

    headers[count++] = (struct tg_http_header){
        "Authorization", tg_arena_printf(input->arena, "Bearer %s", channel->key)};
    headers[count++] = (struct tg_http_header){"Content-Type", "application/json"};
    headers[count++] = (struct tg_http_header){
        "Accept", input->stream ? "text/event-stream" : "application/json"};
    headers[count++] = (struct tg_http_header){"User-Agent", "tollgate"};
    if (channel->organisation[0] != '\0')
        headers[count++] =
            (struct tg_http_header){"OpenAI-Organization", channel->organisation};
    if (input->openai_beta != NULL)
        headers[count++] = (struct tg_http_header){"OpenAI-Beta", input->openai_beta};
    call->headers = headers;
    call->header_count = count;
}

static enum tg_class prepare(const struct tg_provider_input *input, struct tg_provider_call *ret,
                             struct tg_error *err)
{
    ret->url = tg_provider_url(input, "/chat/completions");
    set_headers(input, ret);
    return tg_provider_prepare_body(&tg_provider_openai, input, ret, err);
}

const struct tg_provider tg_provider_openai = {"openai", TG_PROTOCOL_CHAT, prepare};

/* The same vendor and its kin by their other endpoint. */
static enum tg_class prepare_responses(const struct tg_provider_input *input,
                                       struct tg_provider_call *ret, struct tg_error *err)
{
    const char *path = input->path != NULL ? input->path
                       : input->counts     ? "/responses/input_tokens"
                                           : "/responses";

    ret->url = tg_provider_url(input, path);
    set_headers(input, ret);
    return tg_provider_prepare_body(&tg_provider_openai_responses, input, ret, err);
}

const struct tg_provider tg_provider_openai_responses = {"openai-responses", TG_PROTOCOL_RESPONSES,
                                                         prepare_responses};
