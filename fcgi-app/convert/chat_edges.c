#include "fcgi-app/convert/chat_edges.h"
#include "fcgi-app/convert/chat_read.h"

#include "common/base/memory.h"
#include "fcgi-app/convert/hub.h"

#include <stdlib.h>
#include <string.h>

/* --- the source: what servers do differently ------------------------------------------------ */

/* A tool call of one choice: under which index or id it came, and which one it is. */
struct call {
    int64_t raw_index; /* -1: it had none */
    char *id;
};

struct choice {
    int64_t index;
    struct call *calls;
    size_t count, cap;
    size_t last; /* the call that was spoken of last */
};

struct source {
    struct tg_hop hop;
    struct choice *choices;
    size_t count, cap;
};

static struct choice *choice_of(struct source *source, int64_t index)
{
    for (size_t i = 0; i < source->count; i++)
        if (source->choices[i].index == index)
            return &source->choices[i];
    if (source->count == source->cap) {
        source->cap = source->cap != 0 ? 2 * source->cap : 1;
        source->choices = tg_realloc(source->choices, source->cap * sizeof *source->choices);
    }
    source->choices[source->count] = (struct choice){.index = index};
    return &source->choices[source->count++];
}

static size_t new_call(struct choice *choice, int64_t raw_index, struct tg_span id)
{
    if (choice->count == choice->cap) {
        choice->cap = choice->cap != 0 ? 2 * choice->cap : 2;
        choice->calls = tg_realloc(choice->calls, choice->cap * sizeof *choice->calls);
    }
    choice->calls[choice->count] =
        (struct call){raw_index, id.len > 0 ? tg_strndup(id.ptr, id.len) : NULL};
    return choice->count++;
}

static bool same_id(const struct call *call, struct tg_span id)
{
    return call->id != NULL && strlen(call->id) == id.len && memcmp(call->id, id.ptr, id.len) == 0;
}

/* Which call a fragment belongs to: the latest with its index; without an index the one with its
 * id, else the last one. A header whose id differs is a new call, whatever its index. */
static size_t find_call(struct choice *choice, int64_t raw_index, struct tg_span id)
{
    for (size_t i = choice->count; i-- > 0;)
        if (raw_index >= 0 ? choice->calls[i].raw_index == raw_index
                           : id.len > 0 && same_id(&choice->calls[i], id))
            return i;
    return raw_index < 0 && id.len == 0 && choice->count > 0 ? choice->last : choice->count;
}

static void number_call(struct choice *choice, struct tg_json *call)
{
    int64_t raw_index = tg_hub_int(call, "index", -1);
    const struct tg_json *function;
    struct tg_span id = {NULL, 0}, name;
    size_t at;

    tg_hub_text(call, "id", &id);
    at = find_call(choice, raw_index, id);
    if (at < choice->count && id.len > 0 && choice->calls[at].id != NULL &&
        !same_id(&choice->calls[at], id) &&
        tg_json_get_object(call, "function", &function) == TG_JSON_GOT &&
        tg_hub_text(function, "name", &name))
        at = choice->count;
    if (at == choice->count)
        at = new_call(choice, raw_index, id);
    else if (choice->calls[at].id == NULL && id.len > 0)
        choice->calls[at].id = tg_strndup(id.ptr, id.len);
    choice->last = at;
    tg_json_set_int(call, "index", (int64_t)at);
}

/* The finish reasons that Chat has; words of other protocols are translated, all else is "stop". */
static const char *known_finish(struct tg_span word)
{
    static const char *const words[] = {"stop", "length", "tool_calls", "content_filter",
                                        "function_call"};
    const char *translated = tg_finish_of_messages(word);

    for (size_t i = 0; i < TG_COUNT_OF(words); i++)
        if (strlen(words[i]) == word.len && memcmp(words[i], word.ptr, word.len) == 0)
            return words[i];
    return translated != NULL ? translated : "stop";
}

static void repair_finish(struct tg_json *choice, bool has_calls)
{
    struct tg_span word;

    if (!tg_hub_text(choice, "finish_reason", &word)) {
        tg_json_set_null(choice, "finish_reason");
        return;
    }
    tg_json_set_str(choice, "finish_reason", known_finish(word));
    if (has_calls && tg_hub_is(choice, "finish_reason", "stop"))
        tg_json_set_str(choice, "finish_reason", "tool_calls");
}

/* --- content in parts ----------------------------------------------------------------------- */

static void add_text(struct tg_buf *to, const struct tg_json *part)
{
    struct tg_span text = tg_hub_span(part, "text");

    tg_buf_add(to, text.ptr, text.len);
}

static void set_text(struct tg_json *said, const char *key, struct tg_buf *text)
{
    if (text->len > 0)
        tg_json_set_span(said, key, (struct tg_span){text->data, text->len});
    tg_buf_done(text);
}

/* Mistral's reasoning models answer in parts: {"type":"thinking","thinking":[{"text":…}]} and
 * {"type":"text","text":…}. Elsewhere the one is reasoning_content and the other the content. */
static void repair_content(struct tg_json *said)
{
    const struct tg_json *parts, *thoughts;
    struct tg_buf content, reasoning;

    if (tg_json_get_array(said, "content", &parts) != TG_JSON_GOT)
        return;
    tg_buf_init(&content, 0);
    tg_buf_init(&reasoning, 0);
    for (size_t i = 0; i < tg_json_array_len(parts); i++) {
        const struct tg_json *part = tg_json_array_at(parts, i);

        if (tg_json_get_array(part, "thinking", &thoughts) != TG_JSON_GOT)
            add_text(&content, part);
        else
            for (size_t k = 0; k < tg_json_array_len(thoughts); k++)
                add_text(&reasoning, tg_json_array_at(thoughts, k));
    }
    tg_json_set_null(said, "content");
    set_text(said, "content", &content);
    set_text(said, "reasoning_content", &reasoning);
}

/* What an upstream sends may be of any type, but only an object can be mended. */
static bool is_object(const struct tg_json *value)
{
    return tg_json_type(value) == TG_JSON_OBJECT;
}

static void repair_choice(struct source *source, struct tg_json *choice)
{
    struct choice *state = choice_of(source, tg_hub_int(choice, "index", 0));
    struct tg_json *delta = tg_json_member(choice, "delta"), *calls;

    if (delta == NULL || !is_object(delta))
        tg_json_set(choice, "delta", delta = tg_json_new_object());
    repair_content(delta);
    calls = tg_json_member(delta, "tool_calls");
    for (size_t i = 0; calls != NULL && i < tg_json_array_len(calls); i++)
        if (is_object(tg_json_element(calls, i)))
            number_call(state, tg_json_element(calls, i));
    repair_finish(choice, state->count > 0);
}

/* {"error":…} in any of its shapes. */
static bool read_error(const struct tg_json *event, struct tg_error *ret)
{
    const struct tg_json *error;

    if (tg_json_get(event, "error", &error) != TG_JSON_GOT)
        return false;
    (void)tg_chat_error(event, ret);
    return true;
}

static void feed_source(struct tg_hop *hop, const struct tg_json *event, struct tg_hop_out *out)
{
    struct source *source = (struct source *)hop;
    struct tg_json *copy, *choices;

    if (!is_object(event))
        return;
    if (read_error(event, &out->error)) {
        out->end = TG_HOP_END_ERROR;
        return;
    }
    copy = tg_json_copy(event);
    choices = tg_json_member(copy, "choices");
    if (choices == NULL)
        tg_json_set(copy, "choices", choices = tg_json_new_array());
    for (size_t i = 0; i < tg_json_array_len(choices); i++)
        if (is_object(tg_json_element(choices, i)))
            repair_choice(source, tg_json_element(choices, i));
    out->event(out->to, copy);
}

static void end_source(struct tg_hop *hop, enum tg_hop_end end, const struct tg_error *error,
                       struct tg_hop_out *out)
{
    (void)hop;
    out->end = end;
    if (error != NULL)
        out->error = *error;
}

static void done_source(struct tg_hop *hop)
{
    struct source *source = (struct source *)hop;

    for (size_t i = 0; i < source->count; i++) {
        for (size_t k = 0; k < source->choices[i].count; k++)
            free(source->choices[i].calls[k].id);
        free(source->choices[i].calls);
    }
    free(source->choices);
}

const struct tg_hop_kind tg_hop_chat_source = {
    .name = "chat_source",
    .state_size = sizeof(struct source),
    .feed = feed_source,
    .end = end_source,
    .done = done_source,
};

void tg_chat_answer_normalise(struct tg_json *answer)
{
    struct tg_json *choices = tg_json_member(answer, "choices");

    for (size_t i = 0; choices != NULL && i < tg_json_array_len(choices); i++) {
        struct tg_json *choice = tg_json_element(choices, i);
        struct tg_json *message = tg_json_member(choice, "message");
        struct tg_json *calls = message != NULL ? tg_json_member(message, "tool_calls") : NULL;

        if (!is_object(choice))
            continue;
        if (message != NULL)
            repair_content(message);
        repair_finish(choice, calls != NULL && tg_json_array_len(calls) > 0);
    }
}

/* --- the sink: what clients do not see ------------------------------------------------------ */

/* What is below them is the client's own, whatever it is called. */
static bool is_opaque(const char *key)
{
    static const char *const keys[] = {"tools", "functions", "response_format", "metadata"};

    for (size_t i = 0; i < TG_COUNT_OF(keys); i++)
        if (strcmp(keys[i], key) == 0)
            return true;
    return false;
}

static bool is_hidden(const char *key)
{
    return strncmp(key, "x_", 2) == 0;
}

static bool keep_visible(void *context, const char *key, struct tg_json *value)
{
    (void)context;
    if (is_hidden(key))
        return false;
    if (!is_opaque(key))
        tg_chat_strip(value);
    return true;
}

void tg_chat_strip(struct tg_json *value)
{
    for (size_t i = 0; i < tg_json_array_len(value); i++)
        tg_chat_strip(tg_json_element(value, i));
    tg_json_filter(value, keep_visible, NULL);
}

static bool look_at(void *context, const char *key, const struct tg_json *value)
{
    bool *found = context;

    *found = is_hidden(key) || (!is_opaque(key) && tg_chat_has_hidden(value));
    return !*found;
}

bool tg_chat_has_hidden(const struct tg_json *value)
{
    bool found = false;

    for (size_t i = 0; i < tg_json_array_len(value) && !found; i++)
        found = tg_chat_has_hidden(tg_json_array_at(value, i));
    if (!found)
        tg_json_each(value, look_at, &found);
    return found;
}

static bool is_usage_only(const struct tg_json *chunk)
{
    const struct tg_json *usage, *choices;

    return tg_json_get_object(chunk, "usage", &usage) == TG_JSON_GOT &&
           (tg_json_get_array(chunk, "choices", &choices) != TG_JSON_GOT ||
            tg_json_array_len(choices) == 0);
}

static void feed_sink(struct tg_hop *hop, const struct tg_json *event, struct tg_hop_out *out)
{
    const struct tg_json *usage;
    struct tg_json *copy;

    if (is_usage_only(event) && !hop->context->include_usage)
        return;
    copy = tg_json_copy(event);
    tg_chat_strip(copy);
    if (hop->context->include_usage &&
        tg_json_get(copy, "usage", &usage) == TG_JSON_GOT_ABSENT)
        tg_json_set_null(copy, "usage");
    out->event(out->to, copy);
}

const struct tg_hop_kind tg_hop_chat_sink = {
    .name = "chat_sink",
    .state_size = sizeof(struct tg_hop),
    .feed = feed_sink,
    .end = end_source,
};
