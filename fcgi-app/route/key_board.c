#include "fcgi-app/route/key_board.h"

#include <stdatomic.h>
#include <sys/mman.h>

/* Events and moments share a word, so that both change at once: 3 bits of state, 32 of seconds,
 * the rest counts. */
enum { PLACES = 16384, PROBES = 64, STATE_BITS = 3, UNTIL_BITS = 32 };
#define EVENT_MOST ((INT64_C(1) << (64 - STATE_BITS - UNTIL_BITS)) - 1)

struct place {
    _Atomic int64_t id; /* of a key; of a channel: negative; 0: free */
    _Atomic uint64_t word;
    _Atomic int64_t period_s, used; /* used: the cursor of a channel */
};
struct tg_key_board {
    struct place places[PLACES];
};

static uint64_t pack(const struct tg_key_seen *seen)
{
    uint64_t event = (uint64_t)TG_MAX(TG_MIN(seen->event, EVENT_MOST), 0);
    uint64_t until = (uint64_t)TG_MAX(TG_MIN(seen->until_s, UINT32_MAX), 0);

    return event << (STATE_BITS + UNTIL_BITS) | until << STATE_BITS | (uint64_t)seen->state;
}

static struct tg_key_seen unpack(uint64_t word)
{
    return (struct tg_key_seen){
        .event = (int64_t)(word >> (STATE_BITS + UNTIL_BITS)),
        .state = (enum tg_key_state)(word & ((1u << STATE_BITS) - 1)),
        .until_s = (int64_t)(word >> STATE_BITS & UINT32_MAX),
    };
}

struct tg_key_board *tg_key_board_new(void)
{
    struct tg_key_board *board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE,
                                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    tg_assert(board != MAP_FAILED);
    return board;
}

/* NULL: it has none, and no free one is near. */
static struct place *place_of(struct tg_key_board *board, int64_t id, bool make)
{
    uint64_t at = (uint64_t)id * UINT64_C(0x9e3779b97f4a7c15) >> 40;

    for (int i = 0; i < PROBES; i++) {
        struct place *place = &board->places[(at + (uint64_t)i) % PLACES];
        int64_t there = atomic_load(&place->id);

        if (there == 0 && !make)
            return NULL;
        if (there == 0 && atomic_compare_exchange_strong(&place->id, &there, id))
            return place;
        if (there == id)
            return place;
    }
    return NULL;
}

/* Equal events: the row, which is what an operator sees. */
static struct tg_key_seen newer(const struct tg_key_seen *row, uint64_t word)
{
    struct tg_key_seen seen = unpack(word);

    return seen.event > row->event ? seen : *row;
}

struct tg_key_seen tg_key_board_look(struct tg_key_board *board, int64_t key_id,
                                     const struct tg_key_seen *row)
{
    struct place *place = place_of(board, key_id, false);

    return place == NULL ? *row : newer(row, atomic_load(&place->word));
}

void tg_key_board_tell(struct tg_key_board *board, int64_t key_id, const struct tg_key_seen *seen)
{
    struct place *place = place_of(board, key_id, true);
    uint64_t word;

    if (place == NULL)
        return;
    word = atomic_load(&place->word);
    while (unpack(word).event < seen->event &&
           !atomic_compare_exchange_weak(&place->word, &word, pack(seen)))
        continue;
}

bool tg_key_verdict_holds(const struct tg_key_seen *now, int64_t judged_event,
                          enum tg_key_state state, int64_t until_s)
{
    if (now->state == TG_KEY_DISABLED)
        return false;
    if (now->event <= judged_event)
        return true;
    if (now->state == TG_KEY_ACTIVE || state == TG_KEY_ACTIVE)
        return false;
    return state > now->state || (state == now->state && until_s > now->until_s);
}

bool tg_key_board_judge(struct tg_key_board *board, int64_t key_id, const struct tg_key_seen *row,
                        int64_t judged_event, struct tg_key_seen *seen)
{
    struct place *place = place_of(board, key_id, true);
    uint64_t word;

    if (place == NULL) { /* not remembered here, but it can be stored */
        seen->event = row->event + 1;
        return tg_key_verdict_holds(row, judged_event, seen->state, seen->until_s);
    }
    word = atomic_load(&place->word);
    do {
        struct tg_key_seen now = newer(row, word);

        if (!tg_key_verdict_holds(&now, judged_event, seen->state, seen->until_s))
            return false;
        seen->event = now.event + 1;
    } while (!atomic_compare_exchange_weak(&place->word, &word, pack(seen)));
    return true;
}

bool tg_key_board_claim(struct tg_key_board *board, int64_t key_id, const struct tg_key_seen *seen,
                        int64_t until_s)
{
    const struct tg_key_seen claimed = {
        .event = seen->event + 1, .state = seen->state, .until_s = until_s};
    struct place *place = place_of(board, key_id, true);
    uint64_t word;

    if (place == NULL)
        return true;
    word = atomic_load(&place->word);
    return newer(seen, word).event == seen->event &&
           atomic_compare_exchange_strong(&place->word, &word, pack(&claimed));
}

/* --- counts -------------------------------------------------------------------------------- */

int64_t tg_key_board_used(struct tg_key_board *board, int64_t key_id, int64_t period_s)
{
    struct place *place = place_of(board, key_id, false);

    return place != NULL && atomic_load(&place->period_s) == period_s ? atomic_load(&place->used)
                                                                      : 0;
}

/* Period and use are two words: between them a reader may take the one with the other, and choose
 * an order that is a moment old. What counts is reserved elsewhere. */
void tg_key_board_set_used(struct tg_key_board *board, int64_t key_id, int64_t period_s,
                           int64_t used)
{
    struct place *place = place_of(board, key_id, true);

    if (place == NULL || atomic_load(&place->period_s) > period_s)
        return;
    atomic_store(&place->used, used);
    atomic_store(&place->period_s, period_s);
}

uint32_t tg_key_board_turn(struct tg_key_board *board, int64_t channel_id)
{
    struct place *place = place_of(board, -channel_id, true);

    return place == NULL ? 0 : (uint32_t)atomic_fetch_add(&place->used, 1);
}
