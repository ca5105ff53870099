/* snapshot_build - from rows to the index that requests read.
 *
 * Owns     a snapshot owns the arena that its rows and itself live in; opened keys are wiped when
 *          it goes.
 * Threads  built by one, read by any.  Blocks  no.
 */
#ifndef TOLLGATE_ROUTE_SNAPSHOT_BUILD_H
#define TOLLGATE_ROUTE_SNAPSHOT_BUILD_H

#include "common/base/pattern.h"
#include "fcgi-app/route/snapshot.h"

/* Abilities of one (group, model name or pattern), highest priority first. */
struct tg_route {
    const char *group, *model;
    const struct tg_ability *abilities;
    size_t count;
    bool pattern; /* <model> has a star */
};

struct tg_snapshot {
    struct tg_arena *arena;
    int64_t version;
    int references; /* under the holder's lock */
    struct tg_channel *channels; /* by id */
    size_t channel_count;
    struct tg_channel_key *keys; /* of one channel side by side, by position */
    size_t key_count;
    struct tg_zone **zones; /* each once */
    const char **zone_names;
    size_t zone_count;
    struct tg_zone *pacific; /* of its own; NULL: unknown */
    struct tg_route *routes; /* by group, then model */
    size_t route_count;
    struct tg_route **slots; /* exact names: open addressing, slot_count is a power of two */
    size_t slot_count;
    struct tg_route **patterns; /* the most exact first */
    size_t pattern_count;
    const char **names; /* exact model names of all groups, sorted, some more than once */
    size_t name_count;
    const struct tg_price_row *prices; /* patterns, the most exact first, then names, sorted */
    size_t price_count, price_pattern_count;
    const struct tg_group_row *groups;
    size_t group_count;
    const struct tg_group_access_row *access;
    size_t access_count;
};

/* Takes <arena> (which holds <rows>). A channel whose key does not open stays, with an empty key,
 * and the loss is logged. */
struct tg_snapshot *tg_snapshot_build(struct tg_routing_rows *rows, struct tg_arena *arena,
                                      const struct tg_secrets *secrets) must_check
    non_null(1, 2, 3);
void tg_snapshot_free(struct tg_snapshot *snapshot); /* NULL is fine */

uint64_t tg_route_hash(const char *group, const char *model) non_null(1, 2);

#endif
