#include "common/store/read.h"

#include <stdio.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/json/lex.h"
#include "common/json/writer.h"

enum tg_class tg_store_failed(const struct tg_db *db, enum tg_class class, struct tg_error *err)
{
    if (class != TG_OK && err != NULL)
        *err = *tg_db_error(db);
    return class;
}

bool tg_store_is_duplicate(enum tg_class class, const struct tg_error *err)
{
    return class == TG_CLASS_CONFLICT && strcmp(err->code, "db_duplicate") == 0;
}

void *tg_store_grow(struct tg_arena *arena, void *array, size_t count, size_t size)
{
    void *larger;

    if (count != 0 && (count & (count - 1)) != 0) /* room is made at each power of two */
        return array;
    larger = tg_arena_calloc(arena, count == 0 ? 1 : count * 2, size);
    if (count != 0)
        memcpy(larger, array, count * size);
    return larger;
}

const char *tg_store_text(struct tg_arena *arena, const struct tg_db_rows *rows, int column)
{
    const char *text = tg_db_text(rows, column);

    return text == NULL ? "" : tg_arena_strdup(arena, text);
}

void tg_store_decimal(const struct tg_db_rows *rows, int column, char *text, size_t room)
{
    const char *full = tg_db_text(rows, column);
    size_t len;

    snprintf(text, room, "%s", full == NULL ? "" : full);
    if (strchr(text, '.') == NULL)
        return;
    len = strlen(text);
    while (text[len - 1] == '0')
        text[--len] = '\0';
    if (text[len - 1] == '.')
        text[len - 1] = '\0';
}

int64_t tg_store_time(const struct tg_db_rows *rows, int column)
{
    const char *text = tg_db_text(rows, column);
    int64_t when = 0;

    if (text != NULL && !tg_time_parse(text, &when))
        tg_assert(!"the column is a DATETIME");
    return when;
}

void tg_store_cut(const char *text, char *ret, size_t room)
{
    size_t len = strlen(text), at = 0, used = 0;

    while (at < len) {
        size_t good = tg_utf8_len(text + at, len - at);
        bool plain = good > 0 && (unsigned char)text[at] >= 0x20 && text[at] != 0x7f;

        if (used + (plain ? good : 1) >= room)
            break;
        if (plain)
            memcpy(ret + used, text + at, good);
        else
            ret[used] = '?';
        used += plain ? good : 1;
        at += good > 0 ? good : 1;
    }
    ret[used] = '\0';
}

const char *tg_store_list_json(struct tg_buf *buf, const char *const *list, size_t count)
{
    struct tg_json_writer out;

    if (list == NULL)
        return NULL;
    tg_json_writer_init(&out, buf);
    tg_json_begin_array(&out);
    for (size_t i = 0; i < count; i++)
        tg_json_write_str(&out, list[i]);
    tg_json_end_array(&out);
    return tg_buf_text(buf);
}
