#include "fcgi-app/convert/citations.h"

#include "fcgi-app/convert/hub.h"

static void note(const struct tg_convert *context, const char *path)
{
    tg_diagnose(context->diagnostics, TG_SEVERITY_INFO, "CITATION_DROPPED", path, "");
}

static struct tg_json *annotation_of(const struct tg_json *citation,
                                     struct tg_citations_range range)
{
    struct tg_json *made = tg_json_new_object(), *inner = tg_json_new_object();

    tg_json_set_str(made, "type", "url_citation");
    tg_json_set_int(inner, "start_index", range.from);
    tg_json_set_int(inner, "end_index", range.to);
    tg_json_set_span(inner, "title", tg_hub_span(citation, "title"));
    tg_json_set_span(inner, "url", tg_hub_span(citation, "url"));
    tg_json_set(made, "url_citation", inner);
    return made;
}

void tg_citations_to_chat(const struct tg_convert *context, const struct tg_json *block,
                          struct tg_citations_range range, struct tg_json *annotations)
{
    const struct tg_json *list;

    if (tg_json_get_array(block, "citations", &list) != TG_JSON_GOT)
        return;
    for (size_t i = 0; i < tg_json_array_len(list); i++) {
        const struct tg_json *citation = tg_json_array_at(list, i);

        if (tg_hub_is(citation, "type", "web_search_result_location"))
            tg_json_push(annotations, annotation_of(citation, range));
        else
            note(context, "response");
    }
}

/* Chat does not tell what the source says, and has no index into the search. */
static struct tg_json *citation_of(const struct tg_json *inner)
{
    struct tg_json *made = tg_json_new_object();

    tg_json_set_str(made, "type", "web_search_result_location");
    tg_json_set_str(made, "cited_text", "");
    tg_json_set_str(made, "encrypted_index", "");
    tg_json_set_span(made, "title", tg_hub_span(inner, "title"));
    tg_json_set_span(made, "url", tg_hub_span(inner, "url"));
    return made;
}

void tg_citations_to_messages(const struct tg_convert *context, const struct tg_json *message,
                              struct tg_json *block)
{
    struct tg_json *made = tg_json_new_array();
    const struct tg_json *list, *inner;

    if (tg_json_get_array(message, "annotations", &list) == TG_JSON_GOT)
        for (size_t i = 0; i < tg_json_array_len(list); i++) {
            const struct tg_json *annotation = tg_json_array_at(list, i);

            if (tg_json_get_object(annotation, "url_citation", &inner) == TG_JSON_GOT)
                tg_json_push(made, citation_of(inner));
            else
                note(context, "response");
        }
    tg_hub_set_list(block, "citations", made);
}

void tg_citations_dropped(const struct tg_convert *context, const struct tg_json *owner,
                          const char *key, const char *path)
{
    const struct tg_json *list;

    if (tg_json_get_array(owner, key, &list) == TG_JSON_GOT && tg_json_array_len(list) > 0)
        note(context, path);
}
