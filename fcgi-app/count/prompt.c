#include "fcgi-app/count/prompt.h"

#include "common/base/buf.h"

#include <string.h>

enum { EXACT_MOST = 4 * 1024 * 1024 };

/* OpenAI's figures; for others those of PER_…_ELSEWHERE. */
enum {
    PER_ANSWER = 3,
    PER_MESSAGE = 3,
    PER_NAME = 1,
    PER_NAME_ELSEWHERE = 3,
    PER_TOOL = 7,
    PER_TOOL_OLDER = 10, /* models with cl100k_base */
    PER_TOOL_ELSEWHERE = 8,
    ANY_TOOLS = 12,
    ANY_PROPERTIES = 3,
    PER_PROPERTY = 3,
    ANY_CHOICES = -3,
    PER_CHOICE = 3
};

void tg_prompt_begin(struct tg_prompt *prompt, const struct tg_encoders *encoders,
                     const char *model)
{
    *prompt = (struct tg_prompt){.model = model, .tokens = PER_ANSWER};
    prompt->bpe = tg_encoders_for(encoders, model);
    tg_estimate_init(&prompt->rough, tg_estimate_table_of(model));
}

int64_t tg_prompt_end(const struct tg_prompt *prompt)
{
    int64_t tokens = prompt->tokens + tg_estimate_total(&prompt->rough);

    if (prompt->bpe != NULL && prompt->tools > 0)
        tokens += ANY_TOOLS;
    return tokens;
}

static void add(struct tg_prompt *prompt, int64_t here, int64_t elsewhere)
{
    prompt->tokens += prompt->bpe != NULL ? here : elsewhere;
}

void tg_prompt_text(struct tg_prompt *prompt, struct tg_span text)
{
    struct tg_tokens tokens = {NULL, 0, 0};

    if (text.len == 0)
        return;
    if (prompt->bpe != NULL && text.len <= EXACT_MOST - prompt->exact_bytes &&
        tg_bpe_encode(prompt->bpe, text, &tokens, NULL) == TG_OK) {
        prompt->exact_bytes += text.len;
        prompt->tokens += (int64_t)tokens.count;
        return;
    }
    if (prompt->has_text)
        tg_estimate_add(&prompt->rough, "\n", 1);
    prompt->has_text = true;
    tg_estimate_add(&prompt->rough, text.ptr, text.len);
}

bool tg_prompt_has(const struct tg_json *object, const char *key)
{
    const struct tg_json *value;

    return tg_json_get(object, key, &value) == TG_JSON_GOT;
}

void tg_prompt_member(struct tg_prompt *prompt, const struct tg_json *object, const char *key)
{
    struct tg_span text;

    if (tg_json_get_string(object, key, &text) == TG_JSON_GOT)
        tg_prompt_text(prompt, text);
}

void tg_prompt_message(struct tg_prompt *prompt, struct tg_span role)
{
    prompt->tokens += PER_MESSAGE;
    if (prompt->bpe != NULL)
        tg_prompt_text(prompt, role);
}

void tg_prompt_name(struct tg_prompt *prompt, struct tg_span name)
{
    add(prompt, PER_NAME, PER_NAME_ELSEWHERE);
    tg_prompt_text(prompt, name);
}

/* --- tools --------------------------------------------------------------------------------- */

static void append(struct tg_buf *line, const struct tg_json *object, const char *key)
{
    struct tg_span text;

    if (tg_json_get_string(object, key, &text) == TG_JSON_GOT)
        tg_buf_add(line, text.ptr, text.len);
}

/* ":" and the description, less the stop at its end. */
static void append_description(struct tg_buf *line, const struct tg_json *object)
{
    size_t begin;

    tg_buf_char(line, ':');
    begin = line->len;
    append(line, object, "description");
    while (line->len > begin && line->data[line->len - 1] == '.')
        line->data[--line->len] = '\0';
}

static void take_line(struct tg_prompt *prompt, struct tg_buf *line)
{
    tg_prompt_text(prompt, (struct tg_span){tg_buf_text(line), line->len});
    tg_buf_done(line);
}

/* "string", or "string|null" for a list of types. */
static void append_type(struct tg_buf *line, const struct tg_json *property)
{
    const struct tg_json *types;
    struct tg_span text;

    append(line, property, "type");
    if (tg_json_get_array(property, "type", &types) != TG_JSON_GOT)
        return;
    for (size_t i = 0; i < tg_json_array_len(types); i++) {
        if (i > 0)
            tg_buf_char(line, '|');
        if (tg_json_string(tg_json_array_at(types, i), &text))
            tg_buf_add(line, text.ptr, text.len);
    }
}

static void add_choices(struct tg_prompt *prompt, const struct tg_json *property)
{
    const struct tg_json *choices;
    struct tg_span text;

    if (tg_json_get_array(property, "enum", &choices) != TG_JSON_GOT)
        return;
    add(prompt, ANY_CHOICES, 0);
    for (size_t i = 0; i < tg_json_array_len(choices); i++) {
        add(prompt, PER_CHOICE, 0);
        if (tg_json_string(tg_json_array_at(choices, i), &text))
            tg_prompt_text(prompt, text);
        else
            prompt->tokens++; /* a number, true, null */
    }
}

static bool add_property(void *context, const char *key, const struct tg_json *property)
{
    struct tg_prompt *prompt = context;
    struct tg_buf line;

    tg_buf_init(&line, 0);
    tg_buf_str(&line, key);
    tg_buf_char(&line, ':');
    append_type(&line, property);
    append_description(&line, property);
    add(prompt, PER_PROPERTY, 0);
    take_line(prompt, &line);
    add_choices(prompt, property);
    tg_prompt_schema(prompt, property);
    return true;
}

static bool add_definition(void *context, const char *key, const struct tg_json *definition)
{
    struct tg_prompt *prompt = context;

    tg_prompt_text(prompt, (struct tg_span){key, strlen(key)});
    tg_prompt_schema(prompt, definition);
    return true;
}

/* The gate bounds how deep a body nests. */
void tg_prompt_schema(struct tg_prompt *prompt, const struct tg_json *schema)
{
    static const char *const lists[] = {"anyOf", "oneOf", "allOf"};
    const struct tg_json *inner;

    if (tg_json_get_object(schema, "properties", &inner) == TG_JSON_GOT) {
        int64_t before = prompt->tokens;

        tg_json_each(inner, add_property, prompt);
        if (prompt->tokens > before)
            add(prompt, ANY_PROPERTIES, 0);
    }
    if (tg_json_get_object(schema, "$defs", &inner) == TG_JSON_GOT)
        tg_json_each(inner, add_definition, prompt);
    if (tg_json_get_object(schema, "items", &inner) == TG_JSON_GOT)
        tg_prompt_schema(prompt, inner);
    for (size_t i = 0; i < TG_COUNT_OF(lists); i++)
        if (tg_json_get_array(schema, lists[i], &inner) == TG_JSON_GOT)
            for (size_t k = 0; k < tg_json_array_len(inner); k++)
                tg_prompt_schema(prompt, tg_json_array_at(inner, k));
}

void tg_prompt_tool(struct tg_prompt *prompt, const struct tg_json *definition,
                    const struct tg_json *schema)
{
    bool older = tg_encoding_of(prompt->model) == TG_ENCODING_CL100K;
    struct tg_buf line;

    prompt->tools++;
    add(prompt, older ? PER_TOOL_OLDER : PER_TOOL, PER_TOOL_ELSEWHERE);
    tg_buf_init(&line, 0);
    append(&line, definition, "name");
    if (line.len > 0)
        append_description(&line, definition);
    take_line(prompt, &line);
    if (schema != NULL)
        tg_prompt_schema(prompt, schema);
}
