/* A request of Gemini as one of Chat: everything but its turns, its generationConfig and its tools
 * (PROTOCOLS B3). */
#include "fcgi-app/convert/gemini_hub.h"
#include "fcgi-app/convert/gemini_to_chat.h"

#include <string.h>

enum { LABELS_MOST = 16, LABEL_KEY_MOST = 64, LABEL_MOST = 512 };

/* What cannot be said in Chat. */
static const struct {
    const char *key, *code;
    enum tg_severity severity;
} lost[] = {
    {"cachedContent", "STATE_UNSUPPORTED", TG_SEVERITY_ERROR},
    {"continuationToken", "STATE_UNSUPPORTED", TG_SEVERITY_ERROR},
    {"store", "STATE_IGNORED", TG_SEVERITY_INFO},
};

/* Read elsewhere, or said by the path. */
static const char *const known[] = {
    "model",  "contents",      "systemInstruction", "generationConfig", "tools", "toolConfig",
    "labels", "safetySettings", "serviceTier",
};

static bool note_lost(void *opaque, const char *key, const struct tg_json *value)
{
    const struct tg_convert *context = opaque;

    if (tg_json_type(value) == TG_JSON_NULL || tg_json_type(value) == TG_JSON_FALSE)
        return true;
    for (size_t i = 0; i < TG_COUNT_OF(lost); i++)
        if (tg_gemini_key_is(key, lost[i].key)) {
            tg_diagnose(context->diagnostics, lost[i].severity, lost[i].code, key, "");
            return true;
        }
    for (size_t i = 0; i < TG_COUNT_OF(known); i++)
        if (tg_gemini_key_is(key, known[i]))
            return true;
    tg_diagnose(context->diagnostics, TG_SEVERITY_INFO, "PARAM_UNKNOWN", key, "");
    return true;
}

/* --- labels, tier, safety ------------------------------------------------------------------- */

struct labels {
    const struct tg_convert *context;
    struct tg_json *metadata;
    size_t count;
};

static size_t whole_characters(struct tg_span text, size_t most)
{
    size_t len = TG_MIN(text.len, most);

    while (len > 0 && len < text.len && ((unsigned char)text.ptr[len] & 0xc0) == 0x80)
        len--;
    return len;
}

static bool add_label(void *opaque, const char *key, const struct tg_json *value)
{
    struct labels *labels = opaque;
    struct tg_span text;

    if (!tg_json_string(value, &text))
        return true;
    if (labels->count == LABELS_MOST || strlen(key) > LABEL_KEY_MOST || text.len > LABEL_MOST) {
        tg_diagnose(labels->context->diagnostics, TG_SEVERITY_INFO, "METADATA_TRUNCATED",
                    "labels", "");
        if (labels->count == LABELS_MOST)
            return false;
    }
    key = tg_arena_strndup(labels->context->arena, key, TG_MIN(strlen(key), LABEL_KEY_MOST));
    text.len = whole_characters(text, LABEL_MOST);
    tg_json_set_span(labels->metadata, key, text);
    labels->count++;
    return true;
}

static void set_labels(const struct tg_convert *context, const struct tg_json *request,
                       struct tg_json *made)
{
    const struct tg_json *said = tg_gemini_object(request, "labels");
    struct labels labels = {.context = context};

    if (said == NULL)
        return;
    labels.metadata = tg_json_new_object();
    tg_json_each(said, add_label, &labels);
    tg_json_set(made, "metadata", labels.metadata);
}

static void set_tier(const struct tg_convert *context, const struct tg_json *request,
                     struct tg_json *made)
{
    static const struct {
        const char *gemini, *chat;
    } tiers[] = {{"standard", "default"}, {"flex", "flex"}, {"priority", "priority"}};
    struct tg_span tier = tg_gemini_text(request, "serviceTier");

    for (size_t i = 0; i < TG_COUNT_OF(tiers); i++)
        if (tg_span_is(tier, tiers[i].gemini)) {
            tg_json_set_str(made, "service_tier", tiers[i].chat);
            tg_diagnose(context->diagnostics, TG_SEVERITY_INFO, "TIER_MAPPED", "serviceTier", "");
        }
}

/* Settings that switch every filter off ask for what everybody else does anyway. */
static void note_safety(const struct tg_convert *context, const struct tg_json *request)
{
    const struct tg_json *settings = tg_gemini_array(request, "safetySettings");
    bool off = true;

    if (settings == NULL || tg_json_array_len(settings) == 0)
        return;
    for (size_t i = 0; i < tg_json_array_len(settings); i++) {
        struct tg_span threshold = tg_gemini_text(tg_json_array_at(settings, i), "threshold");

        off &= tg_span_is(threshold, "OFF") || tg_span_is(threshold, "BLOCK_NONE");
    }
    tg_diagnose(context->diagnostics, off ? TG_SEVERITY_INFO : TG_SEVERITY_WARN, "SAFETY_DROPPED",
                "safetySettings", "");
}

/* --- the request ---------------------------------------------------------------------------- */

void tg_gemini_wishes(const struct tg_json *request, struct tg_convert *context)
{
    const struct tg_json *config = tg_gemini_object(request, "generationConfig"), *thinking, *count;
    int64_t candidates = 1;

    context->include_thoughts = false;
    if (config == NULL)
        return;
    thinking = tg_gemini_object(config, "thinkingConfig");
    context->include_thoughts = thinking != NULL && tg_gemini_true(thinking, "includeThoughts");
    count = tg_gemini_get(config, "candidateCount");
    context->several = count != NULL && tg_json_int(count, &candidates) && candidates > 1;
}

static enum tg_class convert_request(const struct tg_convert *context,
                                     const struct tg_json *request, struct tg_json **ret,
                                     struct tg_error *err)
{
    struct tg_json *made = tg_json_new_object(), *options;
    enum tg_class class;

    tg_json_each(request, note_lost, (void *)(uintptr_t)context);
    tg_json_set_str(made, "model", context->upstream_model);
    class = tg_gemini_to_chat_messages(context, request, made, err);
    if (class == TG_OK)
        class = tg_gemini_to_chat_generation(context, request, made, err);
    if (class != TG_OK) {
        tg_json_free(made);
        return class;
    }
    set_labels(context, request, made);
    set_tier(context, request, made);
    note_safety(context, request);
    if (context->stream) {
        tg_json_set_bool(made, "stream", true);
        options = tg_json_new_object();
        tg_json_set_bool(options, "include_usage", true);
        tg_json_set(made, "stream_options", options);
    }
    *ret = made;
    return TG_OK;
}

const struct tg_converter tg_convert_gemini_chat = {
    .client = TG_PROTOCOL_GEMINI,
    .upstream = TG_PROTOCOL_CHAT,
    .grade = 'B',
    .request = convert_request,
    .answer = tg_chat_to_gemini_answer,
    .stream = &tg_hop_chat_to_gemini,
};
