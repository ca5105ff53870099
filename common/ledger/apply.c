#include "common/ledger/apply.h"

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/stop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRIES = 3 };

struct tg_shard_call tg_apply_call(const struct tg_apply *apply, int64_t epoch)
{
    return (struct tg_shard_call){.kv = apply->kv,
                                  .shard = apply->shard,
                                  .epoch = epoch,
                                  .deadline_at_us = tg_now_us() + apply->answer_us,
                                  .err = apply->err};
}

static bool worth_a_repeat(enum tg_class class, const struct tg_error *err)
{
    return class == TG_CLASS_INTERNAL ||
           (class == TG_CLASS_CONFLICT && strcmp(err->code, "db_retry") == 0);
}

static enum tg_class apply_up_to_three_times(const struct tg_apply *apply,
                                             const struct tg_journal_batch *batch,
                                             size_t *ret_inserted)
{
    enum tg_class class = TG_OK;

    for (int i = 0; i < TRIES; i++) {
        class = tg_journal_apply(apply->db, batch, ret_inserted, apply->err);
        if (class == TG_OK || !worth_a_repeat(class, apply->err))
            break;
    }
    return class;
}

static enum tg_class refuse(const struct tg_apply *apply, const struct tg_journal_batch *batch,
                            const struct tg_journal_entry *item, const char *reason)
{
    char id[TG_ID_TEXT];
    struct tg_journal_refused refused = {.stream_id = item->stream_id,
                                         .entry = item->bad == NULL ? &item->entry : NULL,
                                         .reason = reason};

    tg_id_format(&item->entry.id, id);
    tg_log(TG_LOG_ERROR, "ledger", "shard %d: entry %s (%s) is refused: %s", apply->shard,
           item->stream_id, id, reason);
    return tg_journal_refuse(apply->db, batch, &refused, apply->err);
}

static enum tg_class apply_singly(const struct tg_apply *apply,
                                  const struct tg_journal_batch *expect,
                                  const struct tg_journal_page *page, size_t *ret_inserted)
{
    size_t total = 0;
    enum tg_class class = TG_OK;

    for (size_t i = 0; class == TG_OK && i < page->count; i++) {
        const struct tg_journal_entry *item = &page->entries[i];
        const struct tg_entry *entry = &item->entry;
        struct tg_journal_batch batch = *expect;
        size_t inserted = 0;

        batch.entries = &entry;
        batch.count = 1;
        batch.stream_id = expect->stream_id == NULL ? NULL : item->stream_id;
        class = TG_CLASS_INTERNAL;
        if (item->bad == NULL)
            class = apply_up_to_three_times(apply, &batch, &inserted);
        if (class == TG_CLASS_INTERNAL) {
            struct tg_error why = *apply->err;

            class = refuse(apply, &batch, item, item->bad != NULL ? item->bad : why.message);
        }
        total += inserted;
    }
    *ret_inserted = total;
    return class;
}

enum tg_class tg_apply_entries(const struct tg_apply *apply, const struct tg_journal_batch *expect,
                               const struct tg_journal_page *page, size_t *ret_inserted)
{
    const struct tg_entry **entries = tg_calloc(page->count + 1, sizeof(void *));
    struct tg_journal_batch batch = *expect;
    enum tg_class class = TG_OK;
    bool whole = true;

    for (size_t i = 0; i < page->count; i++) {
        entries[i] = &page->entries[i].entry;
        whole = whole && page->entries[i].bad == NULL;
    }
    batch.entries = entries;
    batch.count = page->count;
    if (whole)
        class = apply_up_to_three_times(apply, &batch, ret_inserted);
    if (!whole || class == TG_CLASS_INTERNAL)
        class = apply_singly(apply, expect, page, ret_inserted);
    free(entries);
    return class;
}

enum tg_class tg_apply_page(const struct tg_apply *apply, struct tg_cursor *cursor,
                            size_t *ret_count)
{
    struct tg_shard_call call = tg_apply_call(apply, cursor->epoch);
    struct tg_journal_page page = {.after = cursor->stream_id, .most = apply->batch_count};
    struct tg_journal_batch expect = {
        .shard = apply->shard, .epoch = cursor->epoch, .run_id = cursor->run_id};
    struct tg_arena *arena;
    size_t inserted;
    enum tg_class class;

    *ret_count = 0;
    if (strcmp(cursor->run_id, tg_kv_run_id(apply->kv)) != 0)
        return tg_fail(apply->err, TG_CLASS_CONFLICT, "ledger_moved",
                       "shard %d: the books are of another server", apply->shard);
    arena = tg_arena_new();
    class = tg_shard_journal(&call, arena, &page);
    if (class == TG_OK && page.count > 0) {
        TG_STOP("read");
        expect.stream_id = page.entries[page.count - 1].stream_id;
        class = tg_apply_entries(apply, &expect, &page, &inserted);
        TG_STOP("applied");
    }
    if (class == TG_OK && page.count > 0) {
        snprintf(cursor->stream_id, sizeof cursor->stream_id, "%s", expect.stream_id);
        *ret_count = page.count;
    }
    tg_arena_free(arena);
    return class;
}
