#include "fcgi-app/convert/gemini_hub.h"

#include "fcgi-app/convert/mask.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { KEY_MOST = 64 };

/* --- keys ----------------------------------------------------------------------------------- */

/* "inlineData" as "inline_data". False: it has no capital, or is too long to be one of ours. */
static bool snake_of(const char *camel, char snake[KEY_MOST])
{
    size_t len = 0;
    bool differs = false;

    for (; *camel != '\0' && len + 2 < KEY_MOST; camel++) {
        if (isupper((unsigned char)*camel)) {
            snake[len++] = '_';
            differs = true;
        }
        snake[len++] = (char)tolower((unsigned char)*camel);
    }
    snake[len] = '\0';
    return differs && *camel == '\0';
}

const struct tg_json *tg_gemini_get(const struct tg_json *object, const char *key)
{
    const struct tg_json *value;
    char snake[KEY_MOST];

    if (tg_json_get(object, key, &value) == TG_JSON_GOT)
        return value;
    if (snake_of(key, snake) && tg_json_get(object, snake, &value) == TG_JSON_GOT)
        return value;
    return NULL;
}

static const struct tg_json *get_typed(const struct tg_json *object, const char *key,
                                       enum tg_json_type type)
{
    const struct tg_json *value = tg_gemini_get(object, key);

    return value != NULL && tg_json_type(value) == type ? value : NULL;
}

const struct tg_json *tg_gemini_object(const struct tg_json *object, const char *key)
{
    return get_typed(object, key, TG_JSON_OBJECT);
}

const struct tg_json *tg_gemini_array(const struct tg_json *object, const char *key)
{
    return get_typed(object, key, TG_JSON_ARRAY);
}

struct tg_span tg_gemini_text(const struct tg_json *object, const char *key)
{
    const struct tg_json *value = get_typed(object, key, TG_JSON_STRING);
    struct tg_span text = {"", 0};

    return value != NULL && tg_json_string(value, &text) ? text : (struct tg_span){"", 0};
}

bool tg_gemini_true(const struct tg_json *object, const char *key)
{
    return get_typed(object, key, TG_JSON_TRUE) != NULL;
}

bool tg_gemini_key_is(const char *key, const char *camel)
{
    char snake[KEY_MOST];

    return strcmp(key, camel) == 0 || (snake_of(camel, snake) && strcmp(key, snake) == 0);
}

static bool find_member(void *found, const char *key, const struct tg_json *value)
{
    (void)key;
    (void)value;
    *(bool *)found = true;
    return false;
}

bool tg_gemini_is_empty(const struct tg_json *object)
{
    bool found = false;

    tg_json_each(object, find_member, &found);
    return !found;
}

bool tg_span_is(struct tg_span text, const char *word)
{
    return text.len == strlen(word) && memcmp(text.ptr, word, text.len) == 0;
}

/* --- usage ---------------------------------------------------------------------------------- */

static int64_t number(const struct tg_json *object, const char *key)
{
    int64_t value = tg_hub_int(object, key, 0);

    return TG_MIN(TG_MAX(value, 0), (int64_t)1 << 50);
}

struct tg_hub_usage tg_usage_of_gemini(const struct tg_json *usage)
{
    int64_t thoughts = number(usage, "thoughtsTokenCount");
    struct tg_hub_usage made = {
        .read = number(usage, "promptTokenCount") + number(usage, "toolUsePromptTokenCount"),
        .cached = number(usage, "cachedContentTokenCount"),
        .generated = number(usage, "candidatesTokenCount") + thoughts,
        .reasoning = thoughts,
    };

    made.cached = TG_MIN(made.cached, made.read);
    return made;
}

struct tg_json *tg_usage_to_gemini(const struct tg_hub_usage *usage)
{
    struct tg_json *made = tg_json_new_object();

    tg_json_set_int(made, "promptTokenCount", usage->read);
    tg_json_set_int(made, "candidatesTokenCount", usage->generated - usage->reasoning);
    if (usage->reasoning > 0)
        tg_json_set_int(made, "thoughtsTokenCount", usage->reasoning);
    if (usage->cached > 0)
        tg_json_set_int(made, "cachedContentTokenCount", usage->cached);
    tg_json_set_int(made, "totalTokenCount", usage->read + usage->generated);
    return made;
}

/* --- finish reasons ------------------------------------------------------------------------- */

static const struct {
    const char *gemini, *chat;
} finishes[] = {
    {"STOP", "stop"},
    {"MAX_TOKENS", "length"},
    {"CONTINUATION", "length"},
    {"SAFETY", "content_filter"},
    {"RECITATION", "content_filter"},
    {"LANGUAGE", "content_filter"},
    {"BLOCKLIST", "content_filter"},
    {"PROHIBITED_CONTENT", "content_filter"},
    {"SPII", "content_filter"},
    {"IMAGE_SAFETY", "content_filter"},
    {"IMAGE_PROHIBITED_CONTENT", "content_filter"},
    {"IMAGE_RECITATION", "content_filter"},
    {"MODEL_ARMOR", "content_filter"},
};

const char *tg_finish_of_gemini(struct tg_span reason)
{
    for (size_t i = 0; i < TG_COUNT_OF(finishes); i++)
        if (tg_span_is(reason, finishes[i].gemini))
            return finishes[i].chat;
    return "stop";
}

bool tg_finish_is_broken(struct tg_span reason)
{
    static const char *const words[] = {"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL",
                                        "TOO_MANY_TOOL_CALLS", "MISSING_THOUGHT_SIGNATURE",
                                        "MALFORMED_RESPONSE"};

    for (size_t i = 0; i < TG_COUNT_OF(words); i++)
        if (tg_span_is(reason, words[i]))
            return true;
    return false;
}

void tg_error_broken(struct tg_span reason, struct tg_error *ret)
{
    size_t len = TG_MIN(reason.len, sizeof ret->code - 1);

    (void)tg_fail(ret, TG_CLASS_UPSTREAM, "upstream_invalid", "Gemini ended with %.*s", (int)len,
                  reason.ptr);
    ret->status = 502;
    snprintf(ret->type, sizeof ret->type, "server_error");
    for (size_t i = 0; i < len; i++)
        ret->code[i] = (char)tolower((unsigned char)reason.ptr[i]);
    ret->code[len] = '\0';
}

const char *tg_finish_to_gemini(struct tg_span finish, bool refused)
{
    if (refused || tg_span_is(finish, "content_filter"))
        return "SAFETY";
    return tg_span_is(finish, "length") ? "MAX_TOKENS" : "STOP";
}

/* --- errors --------------------------------------------------------------------------------- */

static const struct meaning {
    const char *status;
    int http;
    const char *type, *code;
} meanings[] = {
    {"INVALID_ARGUMENT", 400, "invalid_request_error", "invalid_request"},
    {"FAILED_PRECONDITION", 400, "invalid_request_error", "failed_precondition"},
    {"OUT_OF_RANGE", 400, "invalid_request_error", "out_of_range"},
    {"UNAUTHENTICATED", 401, "authentication_error", "invalid_api_key"},
    {"PERMISSION_DENIED", 403, "permission_error", "permission_denied"},
    {"NOT_FOUND", 404, "invalid_request_error", "not_found"},
    {"ALREADY_EXISTS", 409, "invalid_request_error", "conflict"},
    {"ABORTED", 409, "invalid_request_error", "conflict"},
    {"RESOURCE_EXHAUSTED", 429, "rate_limit_error", "rate_limit_exceeded"},
    {"CANCELLED", 499, "server_error", "cancelled"},
    {"INTERNAL", 500, "server_error", "server_error"},
    {"UNKNOWN", 500, "server_error", "server_error"},
    {"DATA_LOSS", 500, "server_error", "server_error"},
    {"UNIMPLEMENTED", 501, "server_error", "unimplemented"},
    {"UNAVAILABLE", 503, "server_error", "overloaded"},
    {"DEADLINE_EXCEEDED", 504, "server_error", "timeout"},
};

/* The word decides, the number is the fall-back. */
static const struct meaning *meaning_of(const struct tg_json *error)
{
    struct tg_span status = tg_hub_span(error, "status");
    int64_t code = tg_hub_int(error, "code", 0);

    for (size_t i = 0; i < TG_COUNT_OF(meanings); i++)
        if (tg_span_is(status, meanings[i].status))
            return &meanings[i];
    for (size_t i = 0; i < TG_COUNT_OF(meanings); i++)
        if (meanings[i].http == code)
            return &meanings[i];
    return NULL;
}

static void set_message(const struct tg_json *error, struct tg_error *ret)
{
    struct tg_span text = {"The upstream reported an error.", 31};
    struct tg_buf masked;

    tg_hub_text(error, "message", &text);
    tg_buf_init(&masked, 0);
    tg_mask(text, &masked);
    snprintf(ret->message, sizeof ret->message, "%s", tg_buf_text(&masked));
    tg_buf_done(&masked);
}

void tg_error_of_gemini(const struct tg_json *error, struct tg_error *ret)
{
    const struct meaning *meaning = meaning_of(error);
    int64_t code = tg_hub_int(error, "code", 500);

    (void)tg_fail(ret, TG_CLASS_UPSTREAM, meaning != NULL ? meaning->code : "server_error", "%s",
                  "");
    ret->status = meaning != NULL                ? meaning->http
                  : code >= 400 && code < 600 ? (int)code
                                                 : 500;
    snprintf(ret->type, sizeof ret->type, "%s",
             meaning != NULL     ? meaning->type
             : ret->status < 500 ? "invalid_request_error"
                                 : "server_error");
    set_message(error, ret);
    if (ret->status == 400 && strstr(ret->message, "input token count") != NULL &&
        strstr(ret->message, "exceeds") != NULL)
        snprintf(ret->code, sizeof ret->code, "context_length_exceeded");
}

const struct tg_json *tg_gemini_error_in(const struct tg_json *value)
{
    const struct tg_json *error;

    if (tg_json_type(value) == TG_JSON_ARRAY && tg_json_array_len(value) > 0)
        value = tg_json_array_at(value, 0);
    return tg_json_get(value, "error", &error) == TG_JSON_GOT ? error : NULL;
}

/* --- signatures ----------------------------------------------------------------------------- */

struct tg_json *tg_gemini_detail(struct tg_span signature)
{
    struct tg_json *entry = tg_json_new_object();

    tg_json_set_str(entry, "type", "reasoning.encrypted");
    tg_json_set_str(entry, "format", "google-gemini-v1");
    tg_json_set_int(entry, "index", 0);
    tg_json_set_span(entry, "data", signature);
    return entry;
}

struct tg_json *tg_gemini_extra(struct tg_span signature)
{
    struct tg_json *extra = tg_json_new_object(), *google = tg_json_new_object();

    tg_json_set_span(google, "thought_signature", signature);
    tg_json_set(extra, "google", google);
    return extra;
}

struct tg_span tg_gemini_signature_of(const struct tg_json *call)
{
    const struct tg_json *extra, *google;

    if (tg_json_get_object(call, "extra_content", &extra) != TG_JSON_GOT ||
        tg_json_get_object(extra, "google", &google) != TG_JSON_GOT)
        return (struct tg_span){"", 0};
    return tg_hub_span(google, "thought_signature");
}
