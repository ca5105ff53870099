#include "fcgi-app/provider/provider.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { HEADERS_MOST = 4 };

/* The key goes in a header only: URLs end up in logs. */
static void set_headers(const struct tg_provider_input *input, struct tg_provider_call *call)
{
    struct tg_http_header *headers = tg_arena_calloc(input->arena, HEADERS_MOST, sizeof *headers);
    size_t count = 0;

    headers[count++] = (struct tg_http_header){"x-goog-api-key", input->channel->key};
    headers[count++] = (struct tg_http_header){"Content-Type", "application/json"};
    headers[count++] = (struct tg_http_header){
        "Accept", input->stream ? "text/event-stream" : "application/json"};
    headers[count++] = (struct tg_http_header){"User-Agent", "tollgate"};
    call->headers = headers;
    call->header_count = count;
}

/* Whatever a model is called, it stays one segment of the path and brings no query along. Tuned
 * models have a folder of their own. */
static const char *path_of(const struct tg_provider_input *input, const char *model)
{
    static const char *const folders[] = {"models/", "tunedModels/"};
    const char *folder = folders[0], *made;
    struct tg_buf path;

    for (size_t i = 0; i < TG_COUNT_OF(folders); i++)
        if (strncmp(model, folders[i], strlen(folders[i])) == 0) {
            folder = folders[i];
            model += strlen(folder);
            break;
        }
    tg_buf_init(&path, 0);
    tg_buf_printf(&path, "/%s", folder);
    for (; *model != '\0'; model++) {
        if (isalnum((unsigned char)*model) || strchr("-._~", *model) != NULL)
            tg_buf_char(&path, *model);
        else
            tg_buf_printf(&path, "%%%02X", (unsigned)(unsigned char)*model);
    }
    tg_buf_str(&path, input->counts   ? ":countTokens"
                      : input->stream ? ":streamGenerateContent?alt=sse"
                                      : ":generateContent");
    made = tg_arena_strdup(input->arena, tg_buf_text(&path));
    tg_buf_done(&path);
    return made;
}

static enum tg_class prepare(const struct tg_provider_input *input, struct tg_provider_call *ret,
                             struct tg_error *err)
{
    enum tg_class class = tg_provider_prepare_body(&tg_provider_gemini, input, ret, err);

    if (class != TG_OK)
        return class;
    ret->url = tg_provider_url(input, path_of(input, ret->upstream_model));
    set_headers(input, ret);
    return TG_OK;
}

const struct tg_provider tg_provider_gemini = {"gemini", TG_PROTOCOL_GEMINI, prepare};
