#include "common/store/names.h"

#include <stdlib.h>

#include "common/base/arena.h"
#include "common/base/memory.h"
#include "common/store/read.h"

enum { NAMES_MOST = 4096 };

struct name {
    enum tg_name_kind kind;
    int64_t id;
    const char *text;
};
struct tg_names {
    struct tg_db *db;
    struct tg_arena *arena;
    struct name *list;
    size_t count;
};

struct tg_names *tg_names_new(struct tg_db *main_db)
{
    struct tg_names *names = tg_calloc(1, sizeof *names);

    names->db = main_db;
    names->arena = tg_arena_new();
    return names;
}

void tg_names_free(struct tg_names *names)
{
    if (names == NULL)
        return;
    tg_arena_free(names->arena);
    free(names);
}

static const char *ask(struct tg_names *names, enum tg_name_kind kind, int64_t id)
{
    static const char *const sql[] = {
        [TG_NAME_USER] = "SELECT username FROM users WHERE id = ?",
        [TG_NAME_CHANNEL] = "SELECT name FROM channels WHERE id = ?",
        [TG_NAME_PROVIDER] = "SELECT provider FROM channels WHERE id = ?"};
    const char *text = "";
    struct tg_db_rows *rows;

    if (tg_db_select(names->db, sql[kind], &TG_DB_I(id), 1, &rows) != TG_OK)
        return text;
    if (tg_db_next(rows))
        text = tg_store_text(names->arena, rows, 0);
    tg_db_rows_free(rows);
    return text;
}

const char *tg_names_get(struct tg_names *names, enum tg_name_kind kind, int64_t id)
{
    const char *text;

    if (id == 0)
        return "";
    for (size_t i = names->count; i > 0; i--)
        if (names->list[i - 1].id == id && names->list[i - 1].kind == kind)
            return names->list[i - 1].text;
    text = ask(names, kind, id);
    if (names->count < NAMES_MOST) {
        names->list = tg_store_grow(names->arena, names->list, names->count, sizeof *names->list);
        names->list[names->count++] = (struct name){kind, id, text};
    }
    return text;
}
