#include "common/store/rebuild_note.h"

enum tg_class tg_rebuild_note_begin(struct tg_db *db, struct tg_rebuild_note *note,
                                    struct tg_error *err)
{
    static const char sql[] = "INSERT INTO ledger_rebuild (shard, epoch, run_id, node, reason)"
                              " VALUES (?, ?, ?, ?, ?)";
    struct tg_db_value values[] = {TG_DB_I(note->shard), TG_DB_I(note->epoch),
                                   TG_DB_S(note->run_id), TG_DB_S(note->node),
                                   TG_DB_S(note->reason)};
    enum tg_class class = tg_db_run(db, sql, values, 5, err);

    if (class == TG_OK)
        note->id = tg_db_done(db).last_id;
    return class;
}

enum tg_class tg_rebuild_note_end(struct tg_db *db, const struct tg_rebuild_note *note,
                                  struct tg_error *err)
{
    static const char sql[] =
        "UPDATE ledger_rebuild SET entries = ?, finished_at = NOW(6) WHERE id = ?";
    struct tg_db_value values[] = {TG_DB_I(note->entries), TG_DB_I(note->id)};

    return tg_db_run(db, sql, values, 2, err);
}
