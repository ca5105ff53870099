/* breaker - which channels of the node rest for which models, after failures of calls.
 *
 * closed -> open after `failures` in a row, or when more than `ratio` percent of at least `calls`
 * calls of the last minute failed -> after open_us one probe of the whole node -> closed when it
 * succeeds, open again for twice as long (up to open_most_us) when it fails.
 *
 * The table lies in memory that all workers share and needs no lock: a breaker is one word (state,
 * generation, until) changed by compare-and-swap, its counts are words that only say a number of a
 * period. The right to probe ends at `until`, so a prober that died costs one period. A place is
 * taken by the first call; with no place left a breaker counts as closed. Source  SCHEDULING "Side
 * effects"; AMENDMENTS T4.
 *
 * Threads  any, of any process that came from the one that made the table; lock-free.
 */
#ifndef TOLLGATE_ROUTE_BREAKER_H
#define TOLLGATE_ROUTE_BREAKER_H

#include "common/base/base.h"

struct tg_breakers;
struct tg_breaker;

struct tg_breaker_rules {
    int64_t failures; /* 0: no breaker opens */
    int64_t ratio, calls;
    int64_t open_us, open_most_us;
};

struct tg_breakers *tg_breakers_new(void) must_check; /* shared with children; never freed */

/* NULL: nothing is known of it, which is as good as closed. */
struct tg_breaker *tg_breaker_find(struct tg_breakers *breakers, int64_t channel_id,
                                   const char *model) non_null(1, 3);
/* May a call go there, be it as a probe? *ret_until_us: else when it may (monotonic). */
bool tg_breaker_admits(const struct tg_breaker *breaker, int64_t now_us, int64_t *ret_until_us)
    non_null(3); /* NULL is fine */
/* Does any breaker of the node not stand closed? May say yes for long. */
bool tg_breakers_any(const struct tg_breakers *breakers) non_null(1);

/* The right to one call. */
struct tg_breaker_pass {
    struct tg_breaker *breaker; /* NULL: the table is full */
    uint64_t key, probe;        /* probe 0: an ordinary call */
};
struct tg_breaker_call {
    int64_t channel_id;
    const char *model;
    int64_t now_us;
};
/* False: it is open, or somebody else's probe runs. */
bool tg_breaker_take(struct tg_breakers *breakers, const struct tg_breaker_rules *rules,
                     const struct tg_breaker_call *call, struct tg_breaker_pass *ret) must_check
    non_null(1, 2, 3, 4);

enum tg_breaker_outcome {
    TG_BREAKER_SUCCESS,
    TG_BREAKER_FAILURE,
    TG_BREAKER_NEUTRAL /* says nothing about the channel; gives a probe's right back */
};
enum tg_breaker_change { TG_BREAKER_SAME, TG_BREAKER_OPENED, TG_BREAKER_CLOSED };
enum tg_breaker_change tg_breaker_report(struct tg_breakers *breakers,
                                         const struct tg_breaker_rules *rules,
                                         const struct tg_breaker_pass *pass,
                                         enum tg_breaker_outcome outcome, int64_t now_us)
    non_null(1, 2, 3);

/* Takes one of the repeats that the channel has for the model in these ten seconds: a tenth of its
 * calls, and always as many as one request could make. */
bool tg_breaker_may_repeat(const struct tg_breaker_pass *pass, int64_t now_us) must_check
    non_null(1);

/* --- what is seen of it --- */

enum { TG_BREAKER_MODEL = 192 };
struct tg_breaker_view {
    int64_t channel_id;
    char model[TG_BREAKER_MODEL];
    bool probing;        /* else open */
    int64_t until_us;    /* monotonic; past: the next call is a probe */
    int64_t doublings;
};
typedef void tg_breaker_view_fn(void *context, const struct tg_breaker_view *view);
/* All that are not closed. */
void tg_breakers_each(const struct tg_breakers *breakers, tg_breaker_view_fn *visit, void *context)
    non_null(1, 2);
int64_t tg_breakers_opened(const struct tg_breakers *breakers) non_null(1); /* how often, in all */

#endif
