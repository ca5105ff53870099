/* Random sequences of all scripts: credits - charges = balance + open holds, for user and token. */
#include "tests/unit/unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/ledger/play.h"

static struct play play;

#define SAY(...) test_redis_say(play.server, __VA_ARGS__)

static int64_t number_of(const char *key, const char *field)
{
    char name[96];
    int64_t value = -1;

    snprintf(name, sizeof name, "tg:{s01}:%s", key);
    assert_int_equal(sscanf(SAY("HGET", name, field, NULL), "%" SCNd64, &value), 1);
    return value;
}

enum { REQUESTS = 12, STEPS = 2000 };

/* What the books say, kept beside the scripts in the plainest way. */
struct books {
    int64_t quota, remain, charged, credited, token_delta;
    int64_t held[REQUESTS]; /* amount of the open hold, -1: none */
    bool ended[REQUESTS];
    int round; /* makes new request ids when all have ended */
};

static unsigned seed = 20261130;

static int64_t pick(int64_t below)
{
    seed = seed * 1103515245u + 12345u;
    return (int64_t)(seed >> 8) % below;
}

static void agree(const struct books *books)
{
    int64_t held = 0;

    for (int i = 0; i < REQUESTS; i++)
        held += books->held[i] > 0 ? books->held[i] : 0;
    assert_true(number_of("user:1", "quota") + held ==
                books->quota + books->credited - books->charged);
    assert_true(number_of("token:2", "remain") + held ==
                books->remain + books->token_delta - books->charged);
    assert_int_equal(sscanf(play_call(&play, "look", "state user:1 holds", "1"),
                            "ok %*d %*d %" SCNd64, &held), 1);
    for (int i = 0; i < REQUESTS; i++)
        held -= books->held[i] > 0 ? books->held[i] : 0;
    assert_true(held == 0);
}

static void end_one(struct books *books, int i, const char *args, int64_t amount)
{
    play_expect(&play, "settle", SETTLE, args, books->ended[i] ? "ended" : "ok");
    if (books->ended[i])
        return;
    books->ended[i] = true;
    books->held[i] = -1;
    books->charged += amount;
}

static void reserve_one(struct books *books, int i, int64_t amount)
{
    char args[128];
    const char *answer;

    snprintf(args, sizeof args, "Q%d-%d 1 2 %" PRId64 " 0 1 n 5 -1 0", books->round, i, amount);
    answer = play_call(&play, "reserve", RESERVE, args);
    if (books->ended[i])
        assert_string_equal(answer, "ended");
    else if (books->held[i] >= 0)
        assert_string_equal(answer, "duplicate");
    else if (strcmp(answer, "ok 0") == 0)
        books->held[i] = amount;
    else
        assert_true(strcmp(answer, "user_short") == 0 || strncmp(answer, "token_short ", 12) == 0);
}

static void extend_one(struct books *books, int i, int64_t amount)
{
    char args[128];

    snprintf(args, sizeof args, "Q%d-%d 1 2 0 %" PRId64 " 1 0 n 5 -1", books->round, i, amount);
    play_expect(&play, "extend", EXTEND, args, books->ended[i] ? "ended" : "ok");
    if (!books->ended[i] && amount > books->held[i])
        books->held[i] = amount;
}

static void lapse_one(struct books *books, int i)
{
    char args[64];

    snprintf(args, sizeof args, "Q%d-%d 1 2 0", books->round, i);
    play_expect(&play, "lapse", LAPSE, args,
                books->ended[i] || books->held[i] < 0 ? "ended" : "ok");
    if (books->held[i] > 0)
        books->held[i] = 0;
}

/* Another epoch: accounts come back from what MySQL would say, a hold may be lost. */
static void rebuild(struct books *books, int lost)
{
    static char epoch[16];
    char name[32], quota[24], remain[24];

    snprintf(epoch, sizeof epoch, "%ld", strtol(play.epoch, NULL, 10) + 1);
    play.epoch = epoch;
    play_expect(&play, "begin", "state", "", "ok");
    snprintf(name, sizeof name, "Q%d-%d", books->round, lost);
    SAY("HDEL", "tg:{s01}:holds", name, NULL);
    books->held[lost] = -1;
    play_expect(&play, "finish", "state holds", "''", "ok");
    snprintf(quota, sizeof quota, "%" PRId64, books->quota + books->credited - books->charged);
    snprintf(remain, sizeof remain, "%" PRId64,
             books->remain + books->token_delta - books->charged);
    play_load(&play, quota, remain, "0");
}

static void step(struct books *books, int at)
{
    int i = (int)pick(REQUESTS);
    int64_t amount = pick(60);
    char args[128];

    switch (pick(11)) {
    case 0:
    case 1:
    case 2:
        reserve_one(books, i, amount);
        break;
    case 3:
    case 4:
        extend_one(books, i, amount);
        break;
    case 5:
        lapse_one(books, i);
        break;
    case 6:
    case 7:
        snprintf(args, sizeof args, "Q%d-%d charge 1 2 0 %" PRId64 " 0 0 -1 0 ''", books->round, i,
                 amount);
        end_one(books, i, args, amount);
        break;
    case 8:
        snprintf(args, sizeof args, "Q%d-%d refund 1 2 0 0 0 0 -1 0 ''", books->round, i);
        end_one(books, i, args, 0);
        break;
    case 9:
        snprintf(args, sizeof args, "C%d adjust 1 2 0 %" PRId64 " 0 %" PRId64 " -1 0 ''", at,
                 -amount, amount - 20);
        play_expect(&play, "settle", SETTLE, args, "ok");
        play_expect(&play, "settle", SETTLE, args, "ended");
        books->credited += amount;
        books->token_delta += amount + amount - 20;
        break;
    default:
        if (pick(10) == 0)
            rebuild(books, i);
    }
}

static void random_sequences_keep_the_sums(void **state)
{
    struct books books = {.quota = 400, .remain = 500};

    (void)state;
    play_load(&play, "400", "500", "0");
    memset(books.held, -1, sizeof books.held);
    for (int i = 0; i < STEPS; i++) {
        step(&books, i);
        if (i % 10 == 0)
            agree(&books);
        if (i % 200 == 199) {
            memset(books.ended, 0, sizeof books.ended);
            for (int r = 0; r < REQUESTS; r++)
                lapse_one(&books, r); /* the old round's holds stay, and hold nothing */
            memset(books.held, -1, sizeof books.held);
            books.round++;
        }
    }
    agree(&books);
}

static int set_up(void **state)
{
    (void)state;
    play_reset(&play);
    return 0;
}

static int start(void **state)
{
    (void)state;
    play_start(&play);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    play_stop(&play);
    return 0;
}

#define CASE(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(random_sequences_keep_the_sums),
    };

    return cmocka_run_group_tests(tests, start, stop);
}
