#include "fcgi-app/stream/failure.h"

#include "common/json/tree.h"
#include "fcgi-app/convert/responses.h"
#include "fcgi-app/convert/splice.h"
#include "fcgi-app/convert/value.h"
#include "fcgi-app/reply_error.h"

#include <string.h>

void tg_failure_shown(const struct tg_error *error, const char *request_id, int attempts,
                      struct tg_error *ret)
{
    const struct tg_error_scene scene = {TG_PROTOCOL_RESPONSES, request_id, attempts, false};
    struct tg_error_view view;

    tg_error_view(error, &scene, &view);
    (void)tg_fail(ret, TG_CLASS_UPSTREAM, view.code != NULL ? view.code : "server_error", "%s",
                  view.message);
    ret->status = view.status;
}

void tg_opening_keep(struct tg_opening *opening, struct tg_span data, const char *model)
{
    struct tg_value value;
    int64_t number;

    if (tg_value_at(data, "sequence_number", &value) && tg_value_count(&value, &number))
        opening->next_sequence = number + 1;
    if (opening->response.len > 0 || !tg_value_at(data, "response", &value) ||
        value.type != TG_JSON_OBJECT)
        return;
    if (model != NULL)
        tg_chat_event_rename(value.text, model, &opening->response);
    else
        tg_buf_add(&opening->response, value.text.ptr, value.text.len);
}

void tg_opening_fail(const struct tg_opening *opening, const struct tg_error *error,
                     struct tg_buf *out)
{
    struct tg_json *response, *event, *said;

    if (opening->response.len == 0 || tg_json_parse(opening->response.data, opening->response.len,
                                                    &response, NULL) != TG_OK)
        return;
    event = tg_json_new_object();
    said = tg_json_new_object();
    tg_json_set_str(said, "code", error->code[0] != '\0' ? error->code
                                                        : tg_response_error_code(error->status));
    tg_json_set_str(said, "message", error->message);
    tg_json_set_str(response, "status", "failed");
    tg_json_set(response, "error", said);
    tg_json_set_str(event, "type", "response.failed");
    tg_json_set_int(event, "sequence_number", opening->next_sequence);
    tg_json_set(event, "response", response);
    tg_buf_str(out, "event: response.failed\ndata: ");
    tg_json_print(event, out);
    tg_buf_str(out, "\n\n");
    tg_json_free(event);
}
