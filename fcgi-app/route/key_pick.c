#include "fcgi-app/route/key_pick.h"

#include <string.h>

enum { PARTS = 10000 }; /* of a cap, when units differ */
/* Wide enough for any room times PARTS. */
__extension__ typedef __int128 wide;

/* --- words --------------------------------------------------------------------------------- */

static const char *const state_names[] = {
    [TG_KEY_ACTIVE] = "active",       [TG_KEY_RESTING] = "resting",
    [TG_KEY_EXHAUSTED] = "exhausted", [TG_KEY_SUSPENDED] = "suspended",
    [TG_KEY_DISABLED] = "disabled",
};

const char *tg_key_state_name(enum tg_key_state state)
{
    return state_names[state];
}

bool tg_key_state_read(const char *name, enum tg_key_state *ret)
{
    for (size_t i = 0; i < TG_COUNT_OF(state_names); i++)
        if (strcmp(state_names[i], name) == 0) {
            *ret = (enum tg_key_state)i;
            return true;
        }
    return false;
}

enum tg_key_mode tg_key_mode_read(const char *name)
{
    if (strcmp(name, "polling") == 0)
        return TG_KEYS_POLLING;
    return strcmp(name, "random") == 0 ? TG_KEYS_RANDOM : TG_KEYS_IN_ORDER;
}

enum tg_cap_unit tg_cap_unit_read(const char *name)
{
    static const char *const names[] = {"", "requests", "tokens", "usd"};

    for (size_t i = 0; i < TG_COUNT_OF(names); i++)
        if (strcmp(names[i], name) == 0)
            return (enum tg_cap_unit)i;
    return TG_CAP_NONE;
}

/* --- one key ------------------------------------------------------------------------------- */

static bool has_room(const struct tg_key_candidate *key)
{
    return key->cap_unit == TG_CAP_NONE || key->room > 0;
}

static bool state_is_open(const struct tg_key_candidate *key, int64_t now_s)
{
    switch (key->state) {
    case TG_KEY_ACTIVE:
        return true;
    case TG_KEY_RESTING:
    case TG_KEY_EXHAUSTED:
        return key->until_s <= now_s;
    default:
        return false;
    }
}

bool tg_key_is_open(const struct tg_key_candidate *key, int64_t now_s)
{
    return !key->tried && has_room(key) && state_is_open(key, now_s);
}

/* --- in order ------------------------------------------------------------------------------ */

static bool one_unit(const struct tg_key_choice *choice)
{
    enum tg_cap_unit unit = TG_CAP_NONE;

    for (size_t i = 0; i < choice->count; i++) {
        const struct tg_key_candidate *key = &choice->keys[i];

        if (!tg_key_is_open(key, choice->now_s) || key->cap_unit == TG_CAP_NONE)
            continue;
        if (unit != TG_CAP_NONE && unit != key->cap_unit)
            return false;
        unit = key->cap_unit;
    }
    return true;
}

static wide measure(const struct tg_key_candidate *key, bool one_unit)
{
    return one_unit || key->cap <= 0 ? (wide)key->room : (wide)key->room * PARTS / key->cap;
}

/* Does <a> come before <b>, which stands in front of it? */
static bool is_better(const struct tg_key_candidate *a, const struct tg_key_candidate *b,
                      bool one_unit)
{
    if ((a->cap_unit == TG_CAP_NONE) != (b->cap_unit == TG_CAP_NONE))
        return a->cap_unit != TG_CAP_NONE;
    return a->cap_unit != TG_CAP_NONE && measure(a, one_unit) > measure(b, one_unit);
}

static bool is_listed(const size_t *list, size_t count, size_t i)
{
    for (size_t k = 0; k < count; k++)
        if (list[k] == i)
            return true;
    return false;
}

static size_t pick_in_order(const struct tg_key_choice *choice, size_t ret[TG_KEY_CHOICES])
{
    bool same = one_unit(choice);
    size_t count = 0;

    for (; count < TG_KEY_CHOICES; count++) {
        size_t best = choice->count;

        for (size_t i = 0; i < choice->count; i++) {
            if (!tg_key_is_open(&choice->keys[i], choice->now_s) || is_listed(ret, count, i))
                continue;
            if (best == choice->count || is_better(&choice->keys[i], &choice->keys[best], same))
                best = i;
        }
        if (best == choice->count)
            break;
        ret[count] = best;
    }
    return count;
}

/* --- in turn and by chance ----------------------------------------------------------------- */

static size_t pick_from(const struct tg_key_choice *choice, size_t first,
                        size_t ret[TG_KEY_CHOICES])
{
    size_t count = 0;

    for (size_t i = 0; i < choice->count && count < TG_KEY_CHOICES; i++) {
        size_t at = (first + i) % choice->count;

        if (tg_key_is_open(&choice->keys[at], choice->now_s))
            ret[count++] = at;
    }
    return count;
}

/* The open key number <turn>, counted round and round. */
static size_t open_key(const struct tg_key_choice *choice)
{
    size_t open = 0, wanted;

    for (size_t i = 0; i < choice->count; i++)
        open += tg_key_is_open(&choice->keys[i], choice->now_s);
    if (open == 0)
        return 0;
    wanted = (size_t)((uint64_t)choice->turn * open >> 32);
    for (size_t i = 0; i < choice->count; i++)
        if (tg_key_is_open(&choice->keys[i], choice->now_s) && wanted-- == 0)
            return i;
    return 0;
}

size_t tg_key_pick(const struct tg_key_choice *choice, size_t ret[TG_KEY_CHOICES])
{
    if (choice->count == 0)
        return 0;
    switch (choice->mode) {
    case TG_KEYS_POLLING:
        return pick_from(choice, choice->turn % choice->count, ret);
    case TG_KEYS_RANDOM:
        return pick_from(choice, open_key(choice), ret);
    default:
        return pick_in_order(choice, ret);
    }
}

/* --- when again ---------------------------------------------------------------------------- */

/* 0: no known moment. */
static int64_t open_at_s(const struct tg_key_candidate *key)
{
    int64_t at_s = has_room(key) ? 0 : key->reset_s;

    switch (key->state) {
    case TG_KEY_ACTIVE:
        return at_s;
    case TG_KEY_RESTING:
    case TG_KEY_EXHAUSTED:
        return TG_MAX(at_s, key->until_s);
    default:
        return 0;
    }
}

int64_t tg_keys_open_at_s(const struct tg_key_choice *choice)
{
    int64_t first_s = 0;

    for (size_t i = 0; i < choice->count; i++) {
        int64_t at_s = open_at_s(&choice->keys[i]);

        if (at_s > choice->now_s && (first_s == 0 || at_s < first_s))
            first_s = at_s;
    }
    return first_s;
}
