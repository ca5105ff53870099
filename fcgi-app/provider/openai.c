#include "fcgi-app/provider/provider.h"

#include <string.h>

enum { HEADERS_MOST = 6 };

static const char *url_of(const struct tg_provider_input *input)
{
    const char *base = input->channel->base_url;
    size_t len = strlen(base);

    while (len > 0 && base[len - 1] == '/')
        len--;
    return tg_arena_printf(input->arena, "%.*s/chat/completions", (int)len, base);
}

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
    struct tg_splice what = {.ask_usage = input->stream};
    enum tg_class class = tg_provider_map_model(input, &ret->upstream_model, err);

    if (class != TG_OK)
        return class;
    if (strcmp(ret->upstream_model, input->client_model) != 0) {
        what.model = ret->upstream_model;
        ret->rename_to = input->model;
    } else {
        ret->rename_to = NULL;
    }
    ret->url = url_of(input);
    set_headers(input, ret);
    class = tg_splice_chat(input->body, &what, input->arena, &ret->body, err);
    if (class != TG_OK)
        err->flags |= TG_ERROR_NO_RETRY;
    return class;
}

const struct tg_provider tg_provider_openai = {"openai", TG_PROTOCOL_CHAT, prepare};
