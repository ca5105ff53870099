#include "common/store/channel_watch.h"

enum tg_class tg_store_channel_tested(struct tg_db *db, const struct tg_channel_test_row *row,
                                      struct tg_error *err)
{
    static const char sql[] = "UPDATE channels SET tested_at = UTC_TIMESTAMP(6), test_ms = ?, "
                              "test_code = LEFT(?, 64) WHERE id = ?";
    const struct tg_db_value values[] = {TG_DB_I(row->ms), TG_DB_S(row->code),
                                         TG_DB_I(row->channel_id)};

    return tg_db_run(db, sql, values, TG_COUNT_OF(values), err);
}
