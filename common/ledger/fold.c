#include "common/ledger/fold.h"

#include "common/ledger/apply.h"

static bool is_wanted(const struct tg_replay_item *item)
{
    return item->fate == TG_REPLAY_LATER && !item->only_ask;
}

/* The items of one shard in one transaction (or, when one of them cannot be applied, each alone:
 * apply.h). */
static enum tg_class fold_shard(const struct tg_apply *apply, const struct tg_cursor *cursor,
                                struct tg_replay_item *const *items, size_t count)
{
    struct tg_arena *arena = tg_arena_new();
    const struct tg_journal_batch expect = {
        .shard = apply->shard, .epoch = cursor->epoch, .run_id = cursor->run_id,
        .decide_plans = true};
    struct tg_journal_page page = {.count = count};
    size_t inserted;
    enum tg_class class;

    page.entries = tg_arena_calloc(arena, count, sizeof *page.entries);
    for (size_t i = 0; i < count; i++)
        page.entries[i].entry = *items[i]->entry;
    class = tg_apply_entries(apply, &expect, &page, &inserted);
    for (size_t i = 0; class == TG_OK && i < count; i++)
        items[i]->fate = TG_REPLAY_KNOWN;
    tg_arena_free(arena);
    return class;
}

enum tg_class tg_fold(const struct tg_replay *replay, struct tg_replay_item *items, size_t count)
{
    struct tg_cursor cursors[TG_SHARDS];
    struct tg_arena *arena = tg_arena_new();
    struct tg_replay_item **mine = tg_arena_calloc(arena, count + 1, sizeof(void *));
    struct tg_apply apply = {.db = replay->db, .err = replay->err};
    enum tg_class class = tg_store_cursors(replay->db, cursors, replay->err);

    for (int shard = 0; class == TG_OK && shard < TG_SHARDS; shard++) {
        size_t found = 0;

        for (size_t i = 0; i < count; i++)
            if (is_wanted(&items[i]) && tg_shard_of(items[i].entry->user_id) == shard)
                mine[found++] = &items[i];
        apply.shard = shard;
        if (found > 0)
            class = fold_shard(&apply, &cursors[shard], mine, found);
    }
    tg_arena_free(arena);
    return class;
}
