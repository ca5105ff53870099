#include "fcgi-app/convert/chat_read.h"

#include "common/base/buf.h"
#include "fcgi-app/convert/error_body.h"
#include "fcgi-app/convert/hub.h"

#include <string.h>

static void note_choice(const struct tg_convert *context)
{
    tg_diagnose(context->diagnostics, TG_SEVERITY_WARN, "CHOICES_DROPPED", "response", "");
}

const struct tg_json *tg_chat_only_choice(const struct tg_convert *context,
                                          const struct tg_json *answer)
{
    const struct tg_json *choices;

    if (tg_json_get_array(answer, "choices", &choices) != TG_JSON_GOT ||
        tg_json_array_len(choices) == 0)
        return NULL;
    if (tg_json_array_len(choices) > 1)
        note_choice(context);
    return tg_json_array_at(choices, 0);
}

const struct tg_json *tg_chat_chunk_choice(const struct tg_convert *context,
                                           const struct tg_json *chunk)
{
    const struct tg_json *choices, *first = NULL;

    if (tg_json_get_array(chunk, "choices", &choices) != TG_JSON_GOT)
        return NULL;
    for (size_t i = 0; i < tg_json_array_len(choices); i++) {
        const struct tg_json *choice = tg_json_array_at(choices, i);

        if (tg_hub_int(choice, "index", 0) == 0)
            first = first != NULL ? first : choice;
        else
            note_choice(context);
    }
    return first;
}

enum tg_class tg_chat_error(const struct tg_json *said, struct tg_error *err)
{
    struct tg_buf text;

    tg_buf_init(&text, 0);
    tg_json_print(said, &text);
    tg_error_body_read(0, (struct tg_span){text.data, text.len}, err);
    tg_buf_done(&text);
    return err->class;
}

void tg_chat_note_audio(const struct tg_convert *context, const struct tg_json *request)
{
    const struct tg_json *list;
    struct tg_span word;

    if (tg_json_get_array(request, "modalities", &list) != TG_JSON_GOT)
        return;
    for (size_t i = 0; i < tg_json_array_len(list); i++)
        if (tg_json_string(tg_json_array_at(list, i), &word) && word.len == 5 &&
            memcmp(word.ptr, "audio", 5) == 0)
            tg_diagnose(context->diagnostics, TG_SEVERITY_ERROR, "PARAM_DROPPED", "modalities",
                        "audio");
}
