#include "common/store/ids.h"

void tg_ids_add(struct tg_buf *json, const struct tg_id *id)
{
    char text[TG_ID_TEXT];

    tg_id_format(id, text);
    tg_buf_printf(json, "%s\"%s\"", json->len == 0 ? "[" : ",", text);
}

void tg_ids_end(struct tg_buf *json)
{
    tg_buf_str(json, json->len == 0 ? "[]" : "]");
}
