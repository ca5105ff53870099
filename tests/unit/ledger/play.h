/* play - the ledger's scripts on a private Redis, one call a line.
 *
 *     play_expect(play, "reserve", "state user:1 token:2 holds ended",
 *                 "R1 1 2 100 0 1 node 5 60000 0", "ok");
 *     play_holds(play, "user:1", "quota", "900");
 *
 * Keys are words behind "tg:{s01}:"; arguments are words, "''" is an empty one. The fence's three
 * arguments come from the fields below.
 */
#ifndef TOLLGATE_TESTS_LEDGER_PLAY_H
#define TOLLGATE_TESTS_LEDGER_PLAY_H

#include "common/ledger/scripts.h"
#include "tests/unit/lib/redis.h"

struct play {
    struct test_redis *server;
    struct tg_kv_pool *pool;
    const char *epoch;
    const char *run;  /* NULL: the server's own */
    int64_t until_ms; /* 0: a minute from now */
    char answer[512]; /* of the last call, words joined by blanks */
};

/* What most calls of one request use: user 1, token 2. */
#define RESERVE "state user:1 token:2 holds ended"
#define EXTEND RESERVE
#define SETTLE "state user:1 holds ended journal token:2"
#define RESET "state sub:7 holds ended journal"
#define LAPSE "state user:1 token:2 holds"

void play_start(struct play *play);
void play_stop(struct play *play);
/* Empties the server; the shard is on with epoch 1. */
void play_reset(struct play *play);
/* User 1 with <quota> and authver 1, token 2 with <remain>. */
void play_load(struct play *play, const char *quota, const char *remain, const char *unlimited);

/* The script's answer, or the server's error. */
const char *play_call(struct play *play, const char *script, const char *keys, const char *args);
void play_expect(struct play *play, const char *script, const char *keys, const char *args,
                 const char *answer);
/* A field of one of the shard's hashes. */
void play_holds(struct play *play, const char *key, const char *field, const char *value);
/* Any command on one of the shard's keys, e.g. ("XLEN", "journal"). */
void play_says(struct play *play, const char *command, const char *key, const char *text);

#endif
