/* Pieces of a Gemini answer, for streams and whole answers alike (PROTOCOLS 0.3, D4). */
#include "fcgi-app/convert/chat_to_gemini.h"
#include "fcgi-app/convert/envelope.h"
#include "fcgi-app/convert/gemini_hub.h"
#include "fcgi-app/convert/media.h"

struct tg_json *tg_gemini_candidate(int64_t index, struct tg_json *part, const char *finish)
{
    struct tg_json *made = tg_json_new_object(), *content = tg_json_new_object();
    struct tg_json *parts = tg_json_new_array();

    tg_json_push(parts, part);
    tg_json_set_str(content, "role", "model");
    tg_json_set(content, "parts", parts);
    tg_json_set(made, "content", content);
    if (finish != NULL)
        tg_json_set_str(made, "finishReason", finish);
    tg_json_set_int(made, "index", index);
    return made;
}

struct tg_json *tg_gemini_call_part(const struct tg_convert *context,
                                    const struct tg_gemini_call *call)
{
    struct tg_json *part = tg_json_new_object(), *inner = tg_json_new_object();

    if (call->id != NULL)
        tg_json_set_str(inner, "id", call->id);
    tg_json_set_span(inner, "name", call->name);
    tg_json_set(inner, "args", tg_hub_arguments(context, call->arguments, "response"));
    tg_json_set(part, "functionCall", inner);
    if (call->signature.len > 0)
        tg_json_set_span(part, "thoughtSignature", call->signature);
    return part;
}

/* The payload of another family and whose it is. False: there is none. */
static bool read_payload(const struct tg_json *detail, struct tg_buf *payload,
                         enum tg_origin *ret_origin)
{
    struct tg_span signature = tg_hub_span(detail, "signature"), data = tg_hub_span(detail, "data");
    struct tg_json *openai;

    if (tg_hub_is(detail, "format", "anthropic-claude-v1")) {
        *ret_origin = signature.len > 0 ? TG_ORIGIN_CLAUDE : TG_ORIGIN_REDACTED;
        if (signature.len == 0)
            signature = data;
        tg_buf_add(payload, signature.ptr, signature.len);
        return signature.len > 0;
    }
    if (!tg_hub_is(detail, "format", "openai-responses-v1") || data.len == 0)
        return false;
    *ret_origin = TG_ORIGIN_OPENAI;
    openai = tg_json_new_object();
    tg_json_set_copy(openai, "id", detail, "id");
    tg_json_set_copy(openai, "e", detail, "data");
    tg_json_print(openai, payload);
    tg_json_free(openai);
    return true;
}

struct tg_json *tg_gemini_detail_part(const struct tg_convert *context,
                                      const struct tg_json *detail)
{
    struct tg_json *part = tg_json_new_object();
    struct tg_buf payload, wrapped;
    enum tg_origin origin;

    tg_json_set_str(part, "text", "");
    if (tg_hub_is(detail, "format", "google-gemini-v1") && tg_hub_span(detail, "data").len > 0) {
        tg_json_set_span(part, "thoughtSignature", tg_hub_span(detail, "data"));
        return part;
    }
    tg_buf_init(&payload, 0);
    tg_buf_init(&wrapped, 0);
    if (context->include_thoughts && read_payload(detail, &payload, &origin)) {
        tg_envelope_wrap(origin, (struct tg_span){payload.data, payload.len}, &wrapped);
        tg_json_set_bool(part, "thought", true);
        tg_json_set_str(part, "thoughtSignature",
                        tg_media_base64(context->arena,
                                        (struct tg_span){wrapped.data, wrapped.len}));
    } else {
        tg_json_free(part);
        part = NULL;
    }
    tg_buf_done(&payload);
    tg_buf_done(&wrapped);
    return part;
}
