/* prompt - input tokens of a request, before any upstream has counted them.
 *
 * For OpenAI's models exact texts and what their documents say of the rest: 3 a message, its role,
 * 1 a name, 3 for the answer to begin; a tool is not the JSON that describes it but a line for
 * itself and one for each parameter. For others texts joined by newlines are estimated, with 3 a
 * message, 3 a name, 8 a tool, 3 for the answer.
 *
 * Exact counting may take a second per MiB of what nothing splits; beyond 4 MiB, more than any
 * model reads, the rest of a prompt is estimated.
 *
 * One reader per protocol (prompt_chat.c, …) feeds what it finds to a struct tg_prompt.
 *
 * Pure.  Threads  one owner.  Blocks  no.
 * Source  gateway-behaviour 9; OpenAI Cookbook, "How to count tokens with tiktoken".
 */
#ifndef TOLLGATE_COUNT_PROMPT_H
#define TOLLGATE_COUNT_PROMPT_H

#include "common/json/json.h"
#include "fcgi-app/count/encoders.h"
#include "fcgi-app/count/estimate.h"

/* Prompt tokens of a body. <encoders> may be NULL. */
typedef int64_t tg_prompt_fn(const struct tg_encoders *encoders, const struct tg_json *body,
                             const char *model);
tg_prompt_fn tg_prompt_chat, tg_prompt_responses, tg_prompt_messages, tg_prompt_gemini,
    tg_prompt_embeddings;

/* --- for readers ---------------------------------------------------------------------------- */

struct tg_prompt {
    const char *model;
    const struct tg_bpe *bpe;  /* NULL: estimated */
    size_t exact_bytes;        /* of texts counted with it */
    struct tg_estimate rough;  /* texts joined by newlines */
    bool has_text;
    int64_t tokens;            /* all but those of <rough> */
    size_t tools;
};

void tg_prompt_begin(struct tg_prompt *prompt, const struct tg_encoders *encoders,
                     const char *model) non_null(1, 3);
int64_t tg_prompt_end(const struct tg_prompt *prompt) must_check non_null(1);

void tg_prompt_text(struct tg_prompt *prompt, struct tg_span text) non_null(1);
bool tg_prompt_has(const struct tg_json *object, const char *key) must_check non_null(1, 2);
/* The text of a member; nothing when it is no string. */
void tg_prompt_member(struct tg_prompt *prompt, const struct tg_json *object, const char *key)
    non_null(1, 2, 3);
/* The elements of a member that is a list; of any other it has none. */
typedef void tg_prompt_visit_fn(struct tg_prompt *prompt, const struct tg_json *element);
void tg_prompt_each(struct tg_prompt *prompt, const struct tg_json *object, const char *key,
                    tg_prompt_visit_fn *visit) non_null(1, 2, 3, 4);
/* A member that is a text or a list of parts. */
void tg_prompt_content(struct tg_prompt *prompt, const struct tg_json *object, const char *key,
                       tg_prompt_visit_fn *visit) non_null(1, 2, 3, 4);
void tg_prompt_message(struct tg_prompt *prompt, struct tg_span role) non_null(1);
void tg_prompt_name(struct tg_prompt *prompt, struct tg_span name) non_null(1);
/* A definition with members name and description; <schema> (NULL: none) is that of its input. */
void tg_prompt_tool(struct tg_prompt *prompt, const struct tg_json *definition,
                    const struct tg_json *schema) non_null(1, 2);
/* The same with the schema in a member of its own. */
void tg_prompt_function(struct tg_prompt *prompt, const struct tg_json *definition,
                        const char *schema_key) non_null(1, 2, 3);
/* A picture, sound, film or file; <base64> (len 0: none) may tell a picture's size. */
void tg_prompt_media(struct tg_prompt *prompt, struct tg_span mime_type, struct tg_span base64)
    non_null(1);
void tg_prompt_picture(struct tg_prompt *prompt, struct tg_span url, bool low_detail) non_null(1);
/* A value as it looks when written compactly: the input of a tool. */
void tg_prompt_value(struct tg_prompt *prompt, const struct tg_json *value) non_null(1, 2);
/* The properties of a schema, and of what it holds. */
void tg_prompt_schema(struct tg_prompt *prompt, const struct tg_json *schema) non_null(1, 2);

#endif
