/* The conversation of a Gemini request in the order that Chat wants (PROTOCOLS B3): a call is
 * followed by its results, in the order of the calls, before anything else. */
#include "fcgi-app/convert/gemini_hub.h"
#include "fcgi-app/convert/gemini_to_chat.h"
#include "fcgi-app/convert/names.h"

#include <string.h>

enum side { SIDE_USER, SIDE_MODEL, SIDE_UNKNOWN };

struct walk {
    const struct tg_convert *context;
    struct tg_json *messages;
    const char *detail;            /* of images; NULL: not said */
    const struct tg_json *calls;   /* of the message before; NULL: none */
    struct tg_json **answers;      /* one for each call, NULL: none yet */
    struct tg_json *media, *texts; /* parts that stood in results; results of nothing */
};

static void note(const struct walk *walk, enum tg_severity severity, const char *code,
                 const char *path)
{
    tg_diagnose(walk->context->diagnostics, severity, code, path, "");
}

static enum side side_of(const struct tg_json *content)
{
    struct tg_span role = tg_gemini_text(content, "role");

    if (role.len == 0 || tg_span_is(role, "user") || tg_span_is(role, "function") ||
        tg_span_is(role, "tool"))
        return SIDE_USER;
    return tg_span_is(role, "model") || tg_span_is(role, "assistant") ? SIDE_MODEL : SIDE_UNKNOWN;
}

/* --- the system instruction ----------------------------------------------------------------- */

static struct tg_json *text_part(struct tg_span text)
{
    struct tg_json *part = tg_json_new_object();

    tg_json_set_str(part, "type", "text");
    tg_json_set_span(part, "text", text);
    return part;
}

/* Parts of text alone; one of them is a string. Takes <parts>. */
static struct tg_json *content_of(struct tg_json *parts)
{
    struct tg_json *text;

    if (tg_json_array_len(parts) != 1 || !tg_hub_is(tg_json_array_at(parts, 0), "type", "text"))
        return parts;
    text = tg_json_new_string(tg_hub_span(tg_json_array_at(parts, 0), "text"));
    tg_json_free(parts);
    return text;
}

/* Takes <parts>; a message without any is none. */
static void push_message(struct walk *walk, const char *role, struct tg_json *parts)
{
    struct tg_json *message;

    if (tg_json_array_len(parts) == 0) {
        tg_json_free(parts);
        return;
    }
    message = tg_json_new_object();
    tg_json_set_str(message, "role", role);
    tg_json_set(message, "content", content_of(parts));
    tg_json_push(walk->messages, message);
}

static void push_system(struct walk *walk, const struct tg_json *system)
{
    struct tg_json *parts = tg_json_new_array();
    const struct tg_json *list = tg_gemini_array(system, "parts");
    struct tg_span text;

    if (tg_json_string(system, &text) && text.len > 0)
        tg_json_push(parts, text_part(text));
    for (size_t i = 0; list != NULL && i < tg_json_array_len(list); i++) {
        text = tg_gemini_text(tg_json_array_at(list, i), "text");
        if (text.len > 0)
            tg_json_push(parts, text_part(text));
        else
            note(walk, TG_SEVERITY_WARN, "PART_DROPPED", "systemInstruction");
    }
    push_message(walk, "system", parts);
}

/* --- results of calls ----------------------------------------------------------------------- */

static bool count_member(void *count, const char *key, const struct tg_json *value)
{
    (void)key;
    (void)value;
    return ++*(size_t *)count < 2;
}

/* The only member of <response>, when it is one of the names that stand for the whole; NULL: there
 * are others. */
static const struct tg_json *only_member(const struct tg_json *response, bool *ret_error)
{
    static const char *const keys[] = {"output", "result", "error"};
    const struct tg_json *value;
    size_t count = 0;

    tg_json_each(response, count_member, &count);
    for (size_t i = 0; i < TG_COUNT_OF(keys) && count == 1; i++) {
        if (tg_json_get(response, keys[i], &value) != TG_JSON_GOT)
            continue;
        *ret_error = i == 2;
        return *ret_error || tg_json_type(value) == TG_JSON_STRING ? value : NULL;
    }
    return NULL;
}

/* {"output":"…"} and {"result":"…"} are their string, {"error":…} is a failure; all else stays
 * JSON. */
static struct tg_json *result_text(const struct tg_json *response, bool *ret_error)
{
    const struct tg_json *only;
    struct tg_json *made;
    struct tg_span text;
    struct tg_buf json;

    *ret_error = false;
    only = only_member(response, ret_error);
    if (only != NULL && tg_json_string(only, &text))
        return tg_json_new_string(text);
    tg_buf_init(&json, 0);
    tg_json_print(only != NULL ? only : response, &json);
    made = tg_json_new_string((struct tg_span){tg_buf_text(&json), json.len});
    tg_buf_done(&json);
    return made;
}

static struct tg_json *tool_message(struct tg_span id, struct tg_span name, struct tg_json *content,
                                    bool is_error)
{
    struct tg_json *message = tg_json_new_object();

    tg_json_set_str(message, "role", "tool");
    tg_json_set_span(message, "tool_call_id", id);
    tg_json_set(message, "content", content);
    tg_json_set_span(message, "x_name", name);
    if (is_error)
        tg_json_set_bool(message, "x_is_error", true);
    return message;
}

static struct tg_span call_name(const struct tg_json *call)
{
    const struct tg_json *function;

    return tg_json_get_object(call, "function", &function) == TG_JSON_GOT
               ? tg_hub_span(function, "name")
               : (struct tg_span){"", 0};
}

static bool same(struct tg_span a, struct tg_span b)
{
    return a.len == b.len && memcmp(a.ptr, b.ptr, a.len) == 0;
}

/* Which call a response answers: the one with its id; without an id the first unanswered one of
 * its name, else the first unanswered one at all. */
static size_t find_call(const struct walk *walk, const struct tg_json *response)
{
    size_t count = walk->calls != NULL ? tg_json_array_len(walk->calls) : 0;
    struct tg_span id = tg_gemini_text(response, "id");
    const char *made = tg_call_id_make(walk->context->arena, id, TG_CALL_ID_CHAT);
    const char *name = tg_toolset_wire_name(walk->context, tg_gemini_text(response, "name"));

    for (size_t i = 0; i < count && id.len > 0; i++)
        if (walk->answers[i] == NULL && tg_hub_is(tg_json_array_at(walk->calls, i), "id", made))
            return i;
    for (size_t i = 0; i < count; i++)
        if (walk->answers[i] == NULL &&
            same(call_name(tg_json_array_at(walk->calls, i)),
                 (struct tg_span){name, strlen(name)}))
            return i;
    for (size_t i = 0; i < count && id.len == 0; i++)
        if (walk->answers[i] == NULL)
            return i;
    return count;
}

static void push_orphan(struct walk *walk, const struct tg_json *response,
                        const struct tg_json *content, const char *path)
{
    struct tg_span name = tg_gemini_text(response, "name"), text;
    struct tg_buf said;

    tg_buf_init(&said, 0);
    tg_buf_str(&said, "[result of unknown tool call ");
    tg_buf_add(&said, name.ptr, name.len);
    tg_buf_str(&said, "] ");
    if (tg_json_string(content, &text))
        tg_buf_add(&said, text.ptr, text.len);
    tg_json_push(walk->texts, text_part((struct tg_span){said.data, said.len}));
    tg_buf_done(&said);
    note(walk, TG_SEVERITY_WARN, "TOOL_RESULT_ORPHAN", path);
}

static void read_response(struct walk *walk, const struct tg_json *response, const char *path)
{
    const struct tg_json *said = tg_gemini_get(response, "response");
    const struct tg_json *parts = tg_gemini_array(response, "parts"), *call;
    size_t at = find_call(walk, response);
    struct tg_json *content;
    bool is_error = false;

    content = said != NULL ? result_text(said, &is_error) : tg_json_new_str("{}");
    for (size_t i = 0; parts != NULL && i < tg_json_array_len(parts); i++) {
        tg_gemini_to_chat_part(walk->context, tg_json_array_at(parts, i), path, walk->detail,
                               walk->media);
        note(walk, TG_SEVERITY_WARN, "TOOL_RESULT_MEDIA_MOVED", path);
    }
    if (walk->calls == NULL || at == tg_json_array_len(walk->calls)) {
        push_orphan(walk, response, content, path);
        tg_json_free(content);
        return;
    }
    call = tg_json_array_at(walk->calls, at);
    walk->answers[at] =
        tool_message(tg_hub_span(call, "id"), call_name(call), content, is_error);
}

/* Results behind their calls; a call that nobody answered is said to have failed. */
static void push_answers(struct walk *walk, size_t at)
{
    size_t count = walk->calls != NULL ? tg_json_array_len(walk->calls) : 0;

    for (size_t i = 0; i < count; i++) {
        const struct tg_json *call = tg_json_array_at(walk->calls, i);

        if (walk->answers[i] == NULL) {
            walk->answers[i] =
                tool_message(tg_hub_span(call, "id"), call_name(call),
                             tg_json_new_str("[no result provided]"), true);
            note(walk, TG_SEVERITY_WARN, "TOOL_RESULT_MISSING",
                 tg_arena_printf(walk->context->arena, "contents[%zu]", at));
        }
        tg_json_push(walk->messages, walk->answers[i]);
    }
    walk->calls = NULL;
    push_message(walk, "user", walk->texts);
    push_message(walk, "user", walk->media);
    walk->texts = tg_json_new_array();
    walk->media = tg_json_new_array();
}

/* --- runs of contents of one side ----------------------------------------------------------- */

static const struct tg_json *part_list(const struct tg_json *content)
{
    return tg_gemini_array(content, "parts");
}

/* What several contents of the model say together is one message: its calls are answered behind
 * all of them. */
static size_t read_model(struct walk *walk, const struct tg_json *contents, size_t at)
{
    struct tg_gemini_turn *turn = tg_gemini_turn_open(walk->context);
    struct tg_json *message;
    const struct tg_json *parts;

    for (; at < tg_json_array_len(contents) &&
           side_of(tg_json_array_at(contents, at)) == SIDE_MODEL;
         at++) {
        parts = part_list(tg_json_array_at(contents, at));
        for (size_t i = 0; parts != NULL && i < tg_json_array_len(parts); i++)
            tg_gemini_turn_part(turn, tg_json_array_at(parts, i), at, i);
    }
    message = tg_gemini_turn_close(turn);
    if (message == NULL)
        return at;
    tg_json_push(walk->messages, message);
    if (tg_json_get_array(message, "tool_calls", &walk->calls) == TG_JSON_GOT)
        walk->answers = tg_arena_calloc(walk->context->arena, tg_json_array_len(walk->calls),
                                        sizeof(void *));
    else
        walk->calls = NULL;
    return at;
}

static void read_responses(struct walk *walk, const struct tg_json *content, size_t at)
{
    const struct tg_json *parts = part_list(content), *response;

    for (size_t i = 0; parts != NULL && i < tg_json_array_len(parts); i++) {
        response = tg_gemini_object(tg_json_array_at(parts, i), "functionResponse");
        if (response != NULL)
            read_response(walk, response,
                          tg_arena_printf(walk->context->arena, "contents[%zu].parts[%zu]", at,
                                          i));
    }
}

static void push_rest(struct walk *walk, const struct tg_json *content, size_t at)
{
    const struct tg_json *parts = part_list(content);
    struct tg_json *list = tg_json_new_array();

    for (size_t i = 0; parts != NULL && i < tg_json_array_len(parts); i++)
        if (tg_gemini_object(tg_json_array_at(parts, i), "functionResponse") == NULL)
            tg_gemini_to_chat_part(walk->context, tg_json_array_at(parts, i),
                                   tg_arena_printf(walk->context->arena,
                                                   "contents[%zu].parts[%zu]", at, i),
                                   walk->detail, list);
    push_message(walk, "user", list);
}

/* First every result of the run, then what else it says, content by content. */
static size_t read_user(struct walk *walk, const struct tg_json *contents, size_t at)
{
    size_t end = at;

    for (; end < tg_json_array_len(contents) &&
           side_of(tg_json_array_at(contents, end)) == SIDE_USER;
         end++)
        read_responses(walk, tg_json_array_at(contents, end), end);
    push_answers(walk, at);
    for (; at < end; at++)
        push_rest(walk, tg_json_array_at(contents, at), at);
    return end;
}

static enum tg_class read_contents(struct walk *walk, const struct tg_json *contents,
                                   struct tg_error *err)
{
    size_t at = 0;

    while (at < tg_json_array_len(contents)) {
        const struct tg_json *content = tg_json_array_at(contents, at);
        const char *path = tg_arena_printf(walk->context->arena, "contents[%zu]", at);

        if (tg_json_type(content) != TG_JSON_OBJECT)
            return tg_hub_invalid(err, path, "is no object");
        switch (side_of(content)) {
        case SIDE_USER:
            at = read_user(walk, contents, at);
            break;
        case SIDE_MODEL:
            at = read_model(walk, contents, at);
            break;
        case SIDE_UNKNOWN:
            return tg_hub_invalid(err, tg_arena_printf(walk->context->arena, "%s.role", path),
                                  "is not user or model");
        }
    }
    push_answers(walk, at);
    return TG_OK;
}

/* --- all of it ------------------------------------------------------------------------------ */

static const char *detail_of(const struct tg_convert *context, const struct tg_json *request)
{
    static const char *const words[][2] = {{"MEDIA_RESOLUTION_LOW", "low"},
                                           {"MEDIA_RESOLUTION_MEDIUM", "auto"},
                                           {"MEDIA_RESOLUTION_HIGH", "high"}};
    const struct tg_json *config = tg_gemini_object(request, "generationConfig");
    struct tg_span word;

    if (config == NULL)
        return NULL;
    word = tg_gemini_text(config, "mediaResolution");
    for (size_t i = 0; i < TG_COUNT_OF(words); i++)
        if (tg_span_is(word, words[i][0])) {
            tg_diagnose(context->diagnostics, TG_SEVERITY_INFO, "PARAM_APPROXIMATED",
                        "generationConfig.mediaResolution", words[i][1]);
            return words[i][1];
        }
    return NULL;
}

/* "contents" may be a text, one content, or a list of both. The caller's. */
static struct tg_json *contents_of(const struct tg_json *said)
{
    struct tg_json *list = tg_json_new_array();
    size_t count = tg_json_type(said) == TG_JSON_ARRAY ? tg_json_array_len(said) : 1;

    for (size_t i = 0; i < count; i++) {
        const struct tg_json *one =
            tg_json_type(said) == TG_JSON_ARRAY ? tg_json_array_at(said, i) : said;
        struct tg_json *content, *parts, *part;
        struct tg_span text;

        if (!tg_json_string(one, &text)) {
            tg_json_push(list, tg_json_copy(one));
            continue;
        }
        content = tg_json_new_object();
        parts = tg_json_new_array();
        part = tg_json_new_object();
        tg_json_set_span(part, "text", text);
        tg_json_push(parts, part);
        tg_json_set(content, "parts", parts);
        tg_json_push(list, content);
    }
    return list;
}

enum tg_class tg_gemini_to_chat_messages(const struct tg_convert *context,
                                         const struct tg_json *request, struct tg_json *made,
                                         struct tg_error *err)
{
    const struct tg_json *said = tg_gemini_get(request, "contents"), *contents;
    const struct tg_json *system = tg_gemini_get(request, "systemInstruction");
    struct walk walk = {.context = context, .detail = detail_of(context, request)};
    enum tg_class class;

    if (said == NULL)
        return tg_hub_invalid(err, "contents", "is missing");
    contents = tg_hub_keep(context, contents_of(said));
    walk.messages = tg_json_new_array();
    walk.media = tg_json_new_array();
    walk.texts = tg_json_new_array();
    tg_json_set(made, "messages", walk.messages);
    if (system != NULL)
        push_system(&walk, system);
    class = read_contents(&walk, contents, err);
    tg_json_free(walk.media);
    tg_json_free(walk.texts);
    return class;
}
