/* world - what one history works with: clock, dice, two nodes with a worker each, daemons, and
 * Redis servers that can be cut back.
 *
 * Time is the history's own: it moves by what the driver says, in Tollgate's code and in the
 * scripts alike (seam.c). Every choice comes from the dice, which are thrown anew at each step
 * from (seed, step); so a history can be played again, also without some of its steps.
 *
 * Threads  one.  Blocks  on Redis and MariaDB.
 */
#ifndef TOLLGATE_HISTORIES_WORLD_H
#define TOLLGATE_HISTORIES_WORLD_H

#include "common/ledger/ledger.h"
#include "common/ledger/mode.h"
#include "common/ledger/spool_watch.h"
#include "tests/histories/fiber.h"
#include "tests/histories/rules.h"
#include "tests/unit/lib/schema.h"

enum {
    SHARD = 1,
    NODES = 2,
    DAEMONS = 3, /* the third is a second one of node 0, by mistake */
    USERS = 3,
    BEGIN_QUOTA = 1000,
    BEGIN_REMAIN = 1500,
    PLAN_ID = 9,      /* of the first user */
    PLAN_QUOTA = 300, /* of each of its periods */
    ACTORS_MOST = 20,
    LINKS_MOST = 6,   /* connections an actor has at once */
    LEASE_US = 120000000,
    OFFLINE_AFTER_US = 300000,
    ALLOWANCE = 120
};

/* A process that can be killed: a worker, a daemon, or the console. */
struct process {
    const char *node; /* "n0", "n1" */
    int node_index;
    struct tg_kv_pool *kv;
    struct tg_db_pool *db; /* all use the same */
    struct tg_ledger *ledger;
    struct tg_spool *spool;       /* workers */
    struct tg_money_mode mode;    /* of the node, as its workers share it */
    struct tg_spool_watch *watch; /* daemons */
    bool shards_busy, replay_busy, log_busy; /* daemons: one thread each */
    char trim_to[TG_STREAM_ID_TEXT]; /* where the cursor was at <trim_at_us>, in <trim_epoch> */
    int64_t trim_at_us, trim_epoch;
};

struct actor {
    struct fiber *fiber;
    const char *what;
    void (*body)(struct actor *actor);
    struct process *process;
    int64_t a, b, c; /* what the body makes of them */
    bool in_transaction;
    /* a rebuild: has switched its shard off, has told MySQL, was overtaken meanwhile by another one
     * that woke up, has only the last step left */
    bool began, renewed, overtaken, last_step;
    int still;  /* moves that it stands still for */
    struct tg_kv *kvs[LINKS_MOST];
    struct tg_db *dbs[LINKS_MOST];
};

struct world {
    int64_t now_us;
    bool virtual_time; /* off while a server starts */
    bool quiet;        /* no faults any more */
    bool down;         /* Redis does not answer */
    bool mysql_down;
    bool cut[NODES];   /* from Redis */
    bool trace;
    uint64_t seed, dice;
    uint64_t ids;
    struct rules rules;
    struct test_mariadb *mariadb;
    struct process workers[NODES], daemons[DAEMONS], console;
    struct actor *actors[ACTORS_MOST];
    size_t actor_count;
    char spool[64];
    struct tg_db_pool *main_pool, *log_pool; /* the driver's own */
    struct tg_db *main_db, *log_db;
    int64_t moves;   /* of actors, all in all */
    int64_t faults;
    int64_t offline_seen; /* looks at the books that met offline rows */
    bool calm;         /* a history without any fault */
    bool duel;         /* one in which only rebuilds get in each other's way */
};
extern struct world world;

int64_t user_of(int index);
int64_t token_of(int64_t user_id);

/* 0 … n - 1; true in <percent> of a hundred. */
int dice(int n);
bool chance(int percent);
void note(const char *format, ...) printf_like(1, 2); /* with --trace */

void world_start(void);
void world_stop(void);
/* An empty world in which everybody has his first money. */
void world_reset(uint64_t seed);
void process_start(struct process *process);
void process_kill(struct process *process);

/* ---- actors */
void actor_add(const char *what, void (*act)(struct actor *), struct process *process,
               int64_t a);
struct actor *actor_running(void);
/* One move of the actor at <index>. */
void actor_move(size_t index);
void actor_drop(size_t index);
/* Runs <body> to its end, alone. */
void actor_finish(const char *what, void (*act)(struct actor *), struct process *process,
                  int64_t a);

#endif
