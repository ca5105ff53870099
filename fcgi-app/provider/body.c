/* The body of a call: the client's own with another model name, or a converted one. */
#include "common/base/clock.h"
#include "fcgi-app/convert/gemini_to_chat.h"
#include "fcgi-app/convert/model_facts.h"
#include "fcgi-app/convert/toolset.h"
#include "fcgi-app/provider/provider.h"

#include <string.h>

enum { DEFAULT_MAX_TOKENS = 8192, CORE_LEN = 24 };

const char *tg_provider_url(const struct tg_provider_input *input, const char *path)
{
    const char *base = input->channel->base_url;
    size_t len = strlen(base);

    while (len > 0 && base[len - 1] == '/')
        len--;
    return tg_arena_printf(input->arena, "%.*s%s", (int)len, base, path);
}

static enum tg_class splice(const struct tg_provider_input *input, struct tg_provider_call *ret,
                            struct tg_error *err)
{
    struct tg_splice what = {.ask_usage = input->stream && ret->protocol == TG_PROTOCOL_CHAT};
    enum tg_class class;

    if (strcmp(ret->upstream_model, input->client_model) != 0) {
        what.model = ret->upstream_model;
        ret->rename_to = input->model;
    }
    class = tg_splice_chat(input->body, &what, input->arena, &ret->body, err);
    if (class != TG_OK)
        err->flags |= TG_ERROR_NO_RETRY;
    return class;
}

/* The model of a Gemini request is in its path: the body goes as it came. */
static enum tg_class pass(const struct tg_provider_input *input, struct tg_provider_call *ret)
{
    struct tg_span *span = tg_arena_calloc(input->arena, 1, sizeof *span);

    *span = input->body;
    ret->body = (struct tg_pieces){.spans = span, .count = 1, .len = span->len};
    if (strcmp(ret->upstream_model, input->client_model) != 0)
        ret->rename_to = input->model;
    return TG_OK;
}

static const char *random_core(struct tg_arena *arena)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    unsigned char bytes[CORE_LEN];
    char *core = tg_arena_alloc(arena, CORE_LEN + 1);

    tg_random(bytes, sizeof bytes);
    for (int i = 0; i < CORE_LEN; i++)
        core[i] = letters[bytes[i] % (sizeof letters - 1)];
    core[CORE_LEN] = '\0';
    return core;
}

static struct tg_convert *context_of(const struct tg_provider_input *input,
                                     const struct tg_provider_call *call)
{
    struct tg_convert *context = tg_arena_calloc(input->arena, 1, sizeof *context);

    *context = (struct tg_convert){
        .arena = input->arena,
        .kept = tg_json_new_array(),
        .client = input->client,
        .upstream = call->protocol,
        .diagnostics = tg_arena_calloc(input->arena, 1, sizeof *context->diagnostics),
        .model = tg_model_facts_of(call->upstream_model),
        .upstream_model = call->upstream_model,
        .client_model = input->model,
        .random_core = random_core(input->arena),
        .now_unix_s = tg_unix_us() / 1000000,
        .default_max_tokens = DEFAULT_MAX_TOKENS,
        .request = input->json,
        .stream = input->stream,
        .include_usage = input->wants_usage,
        .include_thoughts = true,
    };
    if (input->client == TG_PROTOCOL_GEMINI)
        tg_gemini_wishes(input->json, context);
    return context;
}

static void write_body(const struct tg_provider_input *input, const struct tg_json *body,
                       struct tg_provider_call *ret)
{
    struct tg_span *span = tg_arena_calloc(input->arena, 1, sizeof *span);
    struct tg_buf text;

    tg_buf_init(&text, 0);
    tg_json_print(body, &text);
    *span = (struct tg_span){tg_arena_strndup(input->arena, text.data, text.len), text.len};
    ret->body = (struct tg_pieces){.spans = span, .count = 1, .len = span->len};
    tg_buf_done(&text);
}

static enum tg_class convert(const struct tg_provider_input *input, struct tg_provider_call *ret,
                             struct tg_error *err)
{
    struct tg_toolset *tools;
    struct tg_json *made;
    enum tg_class class;

    ret->convert = context_of(input, ret);
    class = tg_toolset_extract(ret->convert, input->client, input->json, &tools, err);
    if (class == TG_OK) {
        ret->convert->tools = tools;
        class = tg_route_request(ret->route, ret->convert, input->json, &made, err);
    }
    if (class == TG_OK) {
        write_body(input, made, ret);
        tg_json_free(made);
        class = tg_diagnostics_check(ret->convert->diagnostics, input->loss_policy, err);
    }
    if (class != TG_OK)
        err->flags |= TG_ERROR_NO_RETRY;
    return class;
}

enum tg_class tg_provider_prepare_body(const struct tg_provider *provider,
                                       const struct tg_provider_input *input,
                                       struct tg_provider_call *ret, struct tg_error *err)
{
    enum tg_class class = tg_provider_map_model(input, &ret->upstream_model, err);

    if (class != TG_OK)
        return class;
    ret->protocol = provider->protocol;
    ret->rename_to = NULL;
    ret->route = tg_route_find(input->client, provider->protocol);
    if (ret->route == NULL) {
        (void)tg_fail(err, TG_CLASS_CONFIG, "no_conversion", "%s cannot be converted to %s",
                      tg_protocol_name(input->client), tg_protocol_name(provider->protocol));
        err->flags = TG_ERROR_CHANNEL;
        return err->class;
    }
    if (ret->route->step_count > 0)
        return convert(input, ret, err);
    return ret->protocol == TG_PROTOCOL_GEMINI ? pass(input, ret) : splice(input, ret, err);
}

void tg_provider_call_done(struct tg_provider_call *call)
{
    if (call->convert != NULL)
        tg_json_free(call->convert->kept);
    call->convert = NULL;
}
