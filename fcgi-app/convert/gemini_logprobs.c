#include "fcgi-app/convert/gemini_logprobs.h"

#include "fcgi-app/convert/gemini_hub.h"

/* --- to Gemini ------------------------------------------------------------------------------ */

static struct tg_json *to_gemini(const struct tg_json *token)
{
    struct tg_json *made = tg_json_new_object();

    tg_json_set_copy(made, "token", token, "token");
    tg_json_set_copy(made, "logProbability", token, "logprob");
    return made;
}

void tg_logprobs_to_gemini(const struct tg_json *logprobs, struct tg_json *candidate)
{
    const struct tg_json *tokens, *top;
    struct tg_json *result, *chosen, *tops;

    if (tg_json_get_array(logprobs, "content", &tokens) != TG_JSON_GOT)
        return;
    result = tg_json_new_object();
    chosen = tg_json_new_array();
    tops = tg_json_new_array();
    for (size_t i = 0; i < tg_json_array_len(tokens); i++) {
        const struct tg_json *token = tg_json_array_at(tokens, i);
        struct tg_json *one = tg_json_new_object(), *list = tg_json_new_array();

        tg_json_push(chosen, to_gemini(token));
        if (tg_json_get_array(token, "top_logprobs", &top) == TG_JSON_GOT)
            for (size_t k = 0; k < tg_json_array_len(top); k++)
                tg_json_push(list, to_gemini(tg_json_array_at(top, k)));
        tg_json_set(one, "candidates", list);
        tg_json_push(tops, one);
    }
    tg_json_set(result, "chosenCandidates", chosen);
    tg_json_set(result, "topCandidates", tops);
    tg_json_set(candidate, "logprobsResult", result);
}

/* --- from Gemini ---------------------------------------------------------------------------- */

static struct tg_json *of_gemini(const struct tg_json *token)
{
    struct tg_json *made = tg_json_new_object(), *bytes = tg_json_new_array();
    struct tg_span text = tg_hub_span(token, "token");

    for (size_t i = 0; i < text.len; i++)
        tg_json_push(bytes, tg_json_new_int((unsigned char)text.ptr[i]));
    tg_json_set_span(made, "token", text);
    tg_json_set_copy(made, "logprob", token, "logProbability");
    tg_json_set(made, "bytes", bytes);
    return made;
}

static struct tg_json *tops_of_gemini(const struct tg_json *tops, size_t at)
{
    struct tg_json *list = tg_json_new_array();
    const struct tg_json *top;

    if (at < tg_json_array_len(tops) &&
        tg_json_get_array(tg_json_array_at(tops, at), "candidates", &top) == TG_JSON_GOT)
        for (size_t i = 0; i < tg_json_array_len(top); i++)
            tg_json_push(list, of_gemini(tg_json_array_at(top, i)));
    return list;
}

struct tg_json *tg_logprobs_of_gemini(const struct tg_json *candidate)
{
    const struct tg_json *result, *chosen, *tops = NULL;
    struct tg_json *made, *content, *token;

    if (tg_json_get_object(candidate, "logprobsResult", &result) != TG_JSON_GOT ||
        tg_json_get_array(result, "chosenCandidates", &chosen) != TG_JSON_GOT)
        return tg_json_new_null();
    if (tg_json_get_array(result, "topCandidates", &tops) != TG_JSON_GOT)
        tops = result; /* no array: it has no elements */
    made = tg_json_new_object();
    content = tg_json_new_array();
    for (size_t i = 0; i < tg_json_array_len(chosen); i++) {
        token = of_gemini(tg_json_array_at(chosen, i));
        tg_json_set(token, "top_logprobs", tops_of_gemini(tops, i));
        tg_json_push(content, token);
    }
    tg_json_set(made, "content", content);
    tg_json_set_null(made, "refusal");
    return made;
}
