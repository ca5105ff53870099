#include "common/store/read.h"

#include <stdio.h>
#include <string.h>

#include "common/base/clock.h"

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
