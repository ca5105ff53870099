#include "common/store/ledger_export.h"

#include <inttypes.h>
#include <string.h>

#include "common/store/read.h"

static enum tg_class write_lines(struct tg_db *db, const char *sql, FILE *out,
                                 struct tg_error *err)
{
    struct tg_db_rows *rows;
    enum tg_class class = tg_db_select(db, sql, NULL, 0, &rows);

    if (class != TG_OK)
        return tg_store_failed(db, class, err);
    while (tg_db_next(rows))
        fprintf(out, "%s\n", tg_db_text(rows, 0));
    tg_db_rows_free(rows);
    return TG_OK;
}

enum tg_class tg_ledger_export(struct tg_db *db, FILE *out, struct tg_error *err)
{
    static const char *const queries[] = {
        "SELECT CONCAT('credit ', LOWER(HEX(entry_id)), ' ', user_id, ' ', amount_quota)"
        " FROM credits WHERE applied_at IS NOT NULL",
        "SELECT CONCAT('entry ', LOWER(HEX(request_id)), ' ', user_id, ' ', plan_id, ' ', kind,"
        " ' ', amount_quota) FROM ledger_entry",
        "SELECT CONCAT('day ', day, ' ', user_id, ' ', kind, ' ', amount_quota) FROM ledger_day",
        "SELECT CONCAT('balance ', id, ' ', quota) FROM users",
    };
    enum tg_class class = tg_db_begin_snapshot(db, err);

    for (size_t i = 0; class == TG_OK && i < TG_COUNT_OF(queries); i++)
        class = write_lines(db, queries[i], out, err);
    tg_db_rollback(db);
    if (class == TG_OK && (fflush(out) != 0 || ferror(out) != 0))
        class = tg_fail(err, TG_CLASS_INTERNAL, "export", "the lines could not be written");
    return class;
}

/* ---- reading them */

struct reading {
    struct tg_arena *arena;
    struct tg_verified *ret;
};

/* Users come in any order; most lines are of one that is there. */
static struct tg_verified_user *user_of(struct reading *reading, int64_t id)
{
    struct tg_verified *all = reading->ret;
    size_t from = 0, to = all->count;

    while (from < to) {
        size_t middle = (from + to) / 2;

        if (all->users[middle].id < id)
            from = middle + 1;
        else
            to = middle;
    }
    if (from < all->count && all->users[from].id == id)
        return &all->users[from];
    all->users = tg_store_grow(reading->arena, all->users, all->count, sizeof *all->users);
    memmove(all->users + from + 1, all->users + from, (all->count - from) * sizeof *all->users);
    all->count++;
    all->users[from] = (struct tg_verified_user){.id = id};
    return &all->users[from];
}

/* Kinds of requests paid by a plan ("charge/plan" in ledger_day) do not touch the wallet. */
static void add_amount(struct tg_verified_user *user, const char *kind, int64_t plan,
                       int64_t amount)
{
    if (strcmp(kind, "credit") == 0)
        user->entries -= amount;
    else if (plan == 0 && strchr(kind, '/') == NULL)
        user->charges += amount;
}

static bool read_line(struct reading *reading, const char *line)
{
    int64_t user = 0, plan = 0, amount = 0;
    char word[64], kind[32];

    if (sscanf(line, "credit %63s %" SCNd64 " %" SCNd64, word, &user, &amount) == 3) {
        user_of(reading, user)->credits += amount;
    } else if (sscanf(line, "entry %63s %" SCNd64 " %" SCNd64 " %31s %" SCNd64, word, &user, &plan,
                      kind, &amount) == 5) {
        add_amount(user_of(reading, user), kind, plan, amount);
    } else if (sscanf(line, "day %63s %" SCNd64 " %31s %" SCNd64, word, &user, kind, &amount) ==
               4) {
        add_amount(user_of(reading, user), kind, 0, amount);
    } else if (sscanf(line, "balance %" SCNd64 " %" SCNd64, &user, &amount) == 2) {
        user_of(reading, user)->balance = amount;
        user_of(reading, user)->has_balance = true;
    } else {
        return false;
    }
    return true;
}

enum tg_class tg_ledger_verify(FILE *in, struct tg_arena *arena, struct tg_verified *ret,
                               struct tg_error *err)
{
    struct reading reading = {.arena = arena, .ret = ret};
    char line[256];

    *ret = (struct tg_verified){0};
    while (fgets(line, sizeof line, in) != NULL) {
        ret->lines++;
        ret->unread += !read_line(&reading, line);
    }
    if (ferror(in) != 0)
        return tg_fail(err, TG_CLASS_INVALID, "verify", "the file cannot be read");
    return TG_OK;
}
