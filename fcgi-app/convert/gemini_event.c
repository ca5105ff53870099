#include "fcgi-app/convert/gemini_event.h"

#include "common/json/writer.h"
#include "fcgi-app/convert/error_body.h"
#include "fcgi-app/convert/usage_figures.h"
#include "fcgi-app/convert/value.h"

struct reading {
    struct tg_chat_event *event;
    struct tg_buf *content; /* NULL: not wanted */
};

static void add_text(const struct reading *reading, const struct tg_value *value)
{
    if (reading->content != NULL)
        tg_value_append(value, reading->content);
}

/* The arguments of a call count as they are written. */
static void read_call(const struct reading *reading, struct tg_span call)
{
    struct tg_value name, args;

    reading->event->content |= TG_CHAT_TOOL_CALL;
    if (tg_value_at(call, "name", &name))
        add_text(reading, &name);
    if (reading->content != NULL && tg_value_at(call, "args", &args) && tg_value_is_filled(&args))
        tg_buf_add(reading->content, args.text.ptr, args.text.len);
}

/* Media that came, by their type. */
static unsigned kind_of_blob(struct tg_span blob)
{
    struct tg_value type;
    char text[8] = "";

    if (tg_value_at(blob, "mimeType", &type))
        tg_value_string(&type, text, sizeof text);
    return text[0] == 'a' ? TG_CHAT_AUDIO : TG_CHAT_IMAGE;
}

static void read_part(const struct reading *reading, const struct tg_value *part)
{
    enum { TEXT, THOUGHT, CALL, BLOB, CODE, RESULT, COUNT };
    static const char *const keys[COUNT] = {"text",           "thought",
                                            "functionCall",   "inlineData",
                                            "executableCode", "codeExecutionResult"};
    struct tg_value found[COUNT], inner;

    tg_value_members(part, keys, found, COUNT);
    if (found[TEXT].type == TG_JSON_STRING && tg_value_is_filled(&found[TEXT])) {
        reading->event->content |=
            found[THOUGHT].type == TG_JSON_TRUE ? TG_CHAT_REASONING : TG_CHAT_TEXT;
        add_text(reading, &found[TEXT]);
    }
    if (found[CALL].type == TG_JSON_OBJECT)
        read_call(reading, found[CALL].text);
    if (found[BLOB].type == TG_JSON_OBJECT)
        reading->event->content |= kind_of_blob(found[BLOB].text);
    if (found[CODE].type == TG_JSON_OBJECT || found[RESULT].type == TG_JSON_OBJECT)
        reading->event->content |= TG_CHAT_TEXT;
    if (found[CODE].type == TG_JSON_OBJECT && tg_value_at(found[CODE].text, "code", &inner))
        add_text(reading, &inner);
    if (found[RESULT].type == TG_JSON_OBJECT && tg_value_at(found[RESULT].text, "output", &inner))
        add_text(reading, &inner);
}

static void read_candidate(const struct reading *reading, const struct tg_value *candidate)
{
    struct tg_value parts, part, reason;
    struct tg_walk walk;

    if (tg_value_at(candidate->text, "finishReason", &reason) &&
        reading->event->finish_reason[0] == '\0')
        tg_value_string(&reason, reading->event->finish_reason,
                        sizeof reading->event->finish_reason);
    if (!tg_value_at(candidate->text, "content.parts", &parts) || parts.type != TG_JSON_ARRAY)
        return;
    for (tg_walk_begin(&walk, &parts); tg_walk_next(&walk, &part);)
        if (part.type == TG_JSON_OBJECT)
            read_part(reading, &part);
}

static void read_candidates(const struct reading *reading, const struct tg_value *candidates)
{
    struct tg_value candidate;
    struct tg_walk walk;

    if (candidates->type != TG_JSON_ARRAY)
        return;
    reading->event->choices = TG_CHAT_EMPTY_CHOICES;
    for (tg_walk_begin(&walk, candidates); tg_walk_next(&walk, &candidate);) {
        reading->event->choices = TG_CHAT_CHOICES;
        if (candidate.type == TG_JSON_OBJECT)
            read_candidate(reading, &candidate);
    }
}

/* Servers that stream in an array wrap their errors as well: [{"error":…}]. */
static bool is_error(struct tg_span text)
{
    struct tg_value root, first;

    if (!tg_value_at(text, "", &root))
        return false;
    if (root.type == TG_JSON_ARRAY && tg_value_at(text, "0", &first))
        return tg_error_body_is(first.text);
    return tg_error_body_is(text);
}

static void read_usage(struct tg_span text, struct tg_chat_event *event)
{
    struct tg_figures figures;

    tg_figures_init(&figures, TG_FIGURES_GEMINI);
    tg_figures_read(&figures, text);
    event->has_usage = tg_figures_usage(&figures, &event->usage);
}

void tg_gemini_event_read(struct tg_span data, struct tg_chat_event *ret, struct tg_buf *content)
{
    enum { CANDIDATES, MODEL, FEEDBACK, COUNT };
    static const char *const keys[COUNT] = {"candidates", "modelVersion", "promptFeedback"};
    const struct reading reading = {ret, content};
    struct tg_value root, found[COUNT], reason;

    *ret = (struct tg_chat_event){.malformed = data.len == 0 || !tg_value_at(data, "", &root) ||
                                               tg_json_check(data.ptr, data.len, NULL) != TG_OK};
    if (ret->malformed)
        return;
    ret->has_error = is_error(data);
    if (ret->has_error) {
        tg_error_body_read(0, data, &ret->error);
        return;
    }
    ret->malformed = root.type != TG_JSON_OBJECT;
    if (ret->malformed)
        return;
    tg_value_members(&root, keys, found, COUNT);
    read_usage(data, ret);
    read_candidates(&reading, &found[CANDIDATES]);
    if (found[MODEL].type == TG_JSON_STRING)
        ret->model = found[MODEL].text;
    if (ret->choices != TG_CHAT_CHOICES && found[FEEDBACK].type == TG_JSON_OBJECT &&
        tg_value_at(found[FEEDBACK].text, "blockReason", &reason))
        tg_value_string(&reason, ret->finish_reason, sizeof ret->finish_reason);
}

void tg_gemini_event_rename(struct tg_span text, const char *model, struct tg_buf *out)
{
    struct tg_json_writer json;
    struct tg_value version;

    if (!tg_value_at(text, "modelVersion", &version) || version.type != TG_JSON_STRING) {
        tg_buf_add(out, text.ptr, text.len);
        return;
    }
    tg_buf_add(out, text.ptr, (size_t)(version.text.ptr - text.ptr));
    tg_json_writer_init(&json, out);
    tg_json_write_str(&json, model);
    tg_buf_add(out, version.text.ptr + version.text.len,
               (size_t)(text.ptr + text.len - (version.text.ptr + version.text.len)));
}
