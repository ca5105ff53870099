#include "common/store/lease.h"

#include "common/store/read.h"

enum tg_class tg_lease_take(struct tg_db *db, const struct tg_lease *lease, bool *ret_mine,
                            struct tg_error *err)
{
    /* node is assigned first and decides: assignments of one statement run from left to right */
    static const char take[] =
        "INSERT INTO node_lease (name, node, until_at)"
        " VALUES (?, ?, NOW(6) + INTERVAL ? SECOND) ON DUPLICATE KEY UPDATE"
        " node = IF(node_lease.until_at < NOW(6), VALUES(node), node_lease.node),"
        " until_at = IF(node_lease.node = VALUES(node), VALUES(until_at), node_lease.until_at)";
    static const char owner[] = "SELECT node = ? AND until_at > NOW(6) FROM node_lease"
                                " WHERE name = ?";
    struct tg_db_value values[] = {TG_DB_S(lease->name), TG_DB_S(lease->node),
                                   TG_DB_I(lease->seconds)};
    struct tg_db_value asked[] = {TG_DB_S(lease->node), TG_DB_S(lease->name)};
    struct tg_db_rows *rows;
    enum tg_class class = tg_db_run(db, take, values, 3, err);

    if (class != TG_OK)
        return class;
    class = tg_db_select(db, owner, asked, 2, &rows);
    if (class != TG_OK)
        return tg_store_failed(db, class, err);
    *ret_mine = tg_db_next(rows) && tg_db_int(rows, 0) == 1;
    tg_db_rows_free(rows);
    return TG_OK;
}
