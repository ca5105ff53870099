/* Blocks of Messages in their order: text, reasoning, signatures. */
#include "fcgi-app/convert/chat_to_messages.h"

struct tg_json *tg_blocks_event(const char *type)
{
    struct tg_json *event = tg_json_new_object();

    tg_json_set_str(event, "type", type);
    return event;
}

void tg_blocks_give(struct tg_hop_out *out, struct tg_json *event)
{
    out->event(out->to, event);
}

void tg_blocks_delta(struct tg_blocks *state, struct tg_hop_out *out, const char *type,
                     const char *key, struct tg_span text)
{
    struct tg_json *event = tg_blocks_event("content_block_delta"), *delta = tg_blocks_event(type);

    tg_json_set_span(delta, key, text);
    tg_json_set_int(event, "index", state->open_index);
    tg_json_set(event, "delta", delta);
    tg_blocks_give(out, event);
}

static struct tg_span span_of(const struct tg_buf *buf)
{
    return (struct tg_span){tg_buf_text(buf), buf->len};
}

void tg_blocks_close(struct tg_blocks *state, struct tg_hop_out *out)
{
    static const char unsigned_text[] = "gw1.none.";
    struct tg_json *event;

    if (state->open == TG_BLOCK_NONE)
        return;
    /* Older clients refuse to replay reasoning without a signature. */
    if (state->open == TG_BLOCK_THINKING && !state->is_signed)
        tg_blocks_delta(state, out, "signature_delta", "signature",
                        (struct tg_span){unsigned_text, sizeof unsigned_text - 1});
    event = tg_blocks_event("content_block_stop");
    tg_json_set_int(event, "index", state->open_index);
    tg_blocks_give(out, event);
    if (state->open == TG_BLOCK_TOOL)
        state->calls[state->open_call].closed = true;
    state->last = state->open;
    state->open = TG_BLOCK_NONE;
}

/* Takes <content>. */
void tg_blocks_open(struct tg_blocks *state, struct tg_hop_out *out, enum tg_block kind,
                    struct tg_json *content)
{
    struct tg_json *event = tg_blocks_event("content_block_start");

    tg_blocks_close(state, out);
    state->open = kind;
    state->open_index = state->next_index++;
    state->is_signed = false;
    tg_json_set_int(event, "index", state->open_index);
    tg_json_set(event, "content_block", content);
    tg_blocks_give(out, event);
}

static void give_redacted(struct tg_blocks *state, struct tg_hop_out *out, struct tg_span data)
{
    struct tg_json *content = tg_blocks_event("redacted_thinking");

    tg_json_set_span(content, "data", data);
    tg_blocks_open(state, out, TG_BLOCK_REDACTED, content);
    tg_blocks_close(state, out);
}

void tg_blocks_wrapped(struct tg_blocks *state, struct tg_hop_out *out, enum tg_origin origin,
                       struct tg_span payload)
{
    struct tg_buf text;

    tg_buf_init(&text, 0);
    tg_envelope_wrap(origin, payload, &text);
    give_redacted(state, out, span_of(&text));
    tg_buf_done(&text);
}

bool tg_blocks_call_is_open(const struct tg_blocks *state)
{
    return state->open == TG_BLOCK_TOOL &&
           !tg_balance_is_complete(&state->calls[state->open_call].balance);
}

/* --- text and reasoning --------------------------------------------------------------------- */

void tg_blocks_text(struct tg_blocks *state, struct tg_hop_out *out, struct tg_span text)
{
    struct tg_json *content;

    if (tg_blocks_call_is_open(state)) {
        tg_diagnose(state->hop.context->diagnostics, TG_SEVERITY_INFO, "STREAM_ORDER_BUFFERED",
                    "response", "");
        tg_buf_add(&state->late_text, text.ptr, text.len);
        return;
    }
    tg_buf_add(&state->late_text, text.ptr, text.len);
    if (state->late_text.len == 0)
        return;
    if (state->open != TG_BLOCK_TEXT) {
        content = tg_blocks_event("text");
        tg_json_set_str(content, "text", "");
        tg_blocks_open(state, out, TG_BLOCK_TEXT, content);
    }
    tg_blocks_delta(state, out, "text_delta", "text", span_of(&state->late_text));
    tg_buf_reset(&state->late_text);
}

static void open_thinking(struct tg_blocks *state, struct tg_hop_out *out)
{
    struct tg_json *content = tg_blocks_event("thinking");

    tg_json_set_str(content, "thinking", "");
    tg_json_set_str(content, "signature", "");
    tg_blocks_open(state, out, TG_BLOCK_THINKING, content);
}

void tg_blocks_thinking(struct tg_blocks *state, struct tg_hop_out *out, struct tg_span text)
{
    if (tg_blocks_call_is_open(state)) {
        tg_diagnose(state->hop.context->diagnostics, TG_SEVERITY_WARN,
                    "STREAM_LATE_REASONING_DROPPED", "response", "");
        return;
    }
    if (state->open != TG_BLOCK_THINKING)
        open_thinking(state, out);
    tg_blocks_delta(state, out, "thinking_delta", "thinking", text);
}

static void sign(struct tg_blocks *state, struct tg_hop_out *out, struct tg_span signature)
{
    tg_blocks_delta(state, out, "signature_delta", "signature", signature);
    state->is_signed = true;
    tg_blocks_close(state, out);
}

static void add_claude_detail(struct tg_blocks *state, const struct tg_json *detail,
                              struct tg_hop_out *out)
{
    struct tg_span signature = tg_hub_span(detail, "signature");

    if (tg_hub_is(detail, "type", "reasoning.encrypted")) {
        give_redacted(state, out, tg_hub_span(detail, "data"));
    } else if (signature.len > 0) {
        if (state->open != TG_BLOCK_THINKING)
            open_thinking(state, out);
        sign(state, out, signature);
    }
}

static void add_foreign(struct tg_blocks *state, struct tg_hop_out *out, enum tg_origin origin,
                        struct tg_span payload)
{
    struct tg_buf text;

    if (state->open == TG_BLOCK_THINKING) {
        tg_buf_init(&text, 0);
        tg_envelope_wrap(origin, payload, &text);
        sign(state, out, span_of(&text));
        tg_buf_done(&text);
    } else if (origin != TG_ORIGIN_GEMINI ||
               (state->open != TG_BLOCK_TEXT && state->last != TG_BLOCK_TEXT)) {
        tg_blocks_wrapped(state, out, origin, payload);
    }
}

static void add_openai_detail(struct tg_blocks *state, const struct tg_json *detail,
                              struct tg_hop_out *out)
{
    struct tg_json *payload = tg_json_new_object();
    struct tg_buf text;

    tg_json_set_copy(payload, "id", detail, "id");
    tg_json_set_copy(payload, "e", detail, "data");
    tg_buf_init(&text, 0);
    tg_json_print(payload, &text);
    add_foreign(state, out, TG_ORIGIN_OPENAI, span_of(&text));
    tg_buf_done(&text);
    tg_json_free(payload);
}

void tg_blocks_detail(struct tg_blocks *state, const struct tg_json *detail, struct tg_hop_out *out)
{
    struct tg_span data = tg_hub_span(detail, "data");

    if (tg_hub_is(detail, "format", "anthropic-claude-v1"))
        add_claude_detail(state, detail, out);
    else if (tg_hub_is(detail, "format", "google-gemini-v1") && data.len > 0)
        add_foreign(state, out, TG_ORIGIN_GEMINI, data);
    else if (tg_hub_is(detail, "format", "openai-responses-v1") && data.len > 0)
        add_openai_detail(state, detail, out);
}
