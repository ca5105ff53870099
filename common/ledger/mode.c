#include "common/ledger/mode.h"

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/ledger/run.h"
#include "common/ledger/shard.h"
#include "common/store/node.h"
#include "common/store/offline_hold.h"

#include <string.h>

enum {
    LOOK_EVERY_US = 1000000,
    LOOK_US = 500000,
    SETTLED_US = 2000000 /* what ended later is on its way to the replay */
};

void tg_mode_note(struct tg_money_mode *mode, bool success)
{
    int64_t none = 0;

    if (!success)
        atomic_compare_exchange_strong(&mode->failing_since_us, &none, tg_now_us());
    else if (atomic_load(&mode->failing_since_us) != 0)
        atomic_store(&mode->failing_since_us, 0);
}

bool tg_ledger_is_up(const struct tg_ledger *ledger)
{
    int64_t since_us = atomic_load(&ledger->mode->failing_since_us);

    return since_us == 0 || tg_now_us() - since_us < ledger->conf.offline_after_us;
}

enum tg_ledger_money tg_ledger_money(const struct tg_ledger *ledger)
{
    if (ledger->conf.single)
        return TG_LEDGER_SINGLE;
    return atomic_load(&ledger->mode->state) == TG_MONEY_OFFLINE ? TG_LEDGER_OFFLINE
                                                                 : TG_LEDGER_ONLINE;
}

/* One thread of the node, once a second. */
static bool my_turn(struct tg_money_mode *mode)
{
    int64_t now_us = tg_now_us(), last_us = atomic_load(&mode->looked_at_us);

    return (last_us == 0 || now_us - last_us >= LOOK_EVERY_US) &&
           atomic_compare_exchange_strong(&mode->looked_at_us, &last_us, now_us);
}

/* Is the shard on, on the server that answers? */
static bool redis_is_back(struct tg_ledger *ledger, int shard)
{
    int64_t until_us = tg_now_us() + LOOK_US;
    struct tg_error err;
    struct tg_shard_call call = {.shard = shard, .deadline_at_us = until_us, .err = &err};
    struct tg_shard_state state = {0};
    bool on;

    if (tg_kv_acquire(ledger->conf.kv, until_us, &call.kv, &err) != TG_OK)
        return false;
    on = tg_shard_read_state(&call, &state) == TG_SHARD_OK && state.exists && state.on &&
         strcmp(state.run_id, tg_kv_run_id(call.kv)) == 0;
    tg_kv_release(call.kv);
    return on;
}

static enum tg_class write_row(struct tg_ledger *ledger, const char *state, struct tg_error *err)
{
    struct tg_db *db;
    enum tg_class class = tg_db_acquire(ledger->conf.main_db, tg_now_us() + LOOK_US, &db, err);

    if (class != TG_OK)
        return class;
    class = tg_node_set_state(db, ledger->node, state, err);
    tg_db_release(db);
    return class;
}

/* Has everything that ended offline been told to Redis, but for the last moment? */
static bool replay_is_done(struct tg_ledger *ledger)
{
    struct tg_error err;
    struct tg_db *db;
    bool waits = true;

    if (tg_db_acquire(ledger->conf.main_db, tg_now_us() + LOOK_US, &db, &err) != TG_OK)
        return false;
    if (tg_offline_waits(db, ledger->node, SETTLED_US, &waits, &err) != TG_OK)
        waits = true;
    tg_db_release(db);
    return !waits;
}

static bool go(struct tg_ledger *ledger, enum tg_money_state to)
{
    bool online = to == TG_MONEY_ONLINE;
    struct tg_error err = {0};
    int was;

    if (write_row(ledger, online ? "online" : "offline", &err) != TG_OK) {
        tg_log_error(TG_LOG_WARNING, "ledger", &err);
        return false;
    }
    if (online)
        atomic_store(&ledger->mode->failing_since_us, 0);
    was = atomic_exchange(&ledger->mode->state, (int)to);
    if (was != (int)to && (was != TG_MONEY_UNKNOWN || !online))
        tg_log(TG_LOG_WARNING, "ledger", online ? "money is online again"
                                                : "Redis is away: money goes on in MySQL");
    return true;
}

bool tg_mode_is_offline(struct tg_ledger *ledger, int shard)
{
    struct tg_money_mode *mode = ledger->mode;
    int state;

    if (ledger->conf.single)
        return true;
    if (!ledger->conf.may_go_offline)
        return false;
    state = atomic_load(&mode->state);
    if (state == TG_MONEY_OFFLINE) {
        if (my_turn(mode) && redis_is_back(ledger, shard) && replay_is_done(ledger))
            (void)go(ledger, TG_MONEY_ONLINE);
    } else if (!tg_ledger_is_up(ledger)) {
        if (!my_turn(mode))
            return false;
        if (redis_is_back(ledger, shard))
            atomic_store(&mode->failing_since_us, 0);
        else
            (void)go(ledger, TG_MONEY_OFFLINE);
    } else if (state == TG_MONEY_UNKNOWN && my_turn(mode)) {
        (void)go(ledger, TG_MONEY_ONLINE); /* this node's row may be of before a crash */
    }
    return atomic_load(&mode->state) == TG_MONEY_OFFLINE;
}

void tg_ledger_probed(struct tg_ledger *ledger, bool redis_answers)
{
    if (!redis_answers)
        tg_mode_note(ledger->mode, false);
    (void)tg_mode_is_offline(ledger, 0);
}
