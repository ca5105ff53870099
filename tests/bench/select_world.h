/* select_world - 10,000 abilities: "group-0" to "group-9", "model-0" to "model-99" in each, and ten
 * channels in two tiers for each of those, out of 200 channels. */
#ifndef TOLLGATE_BENCH_SELECT_WORLD_H
#define TOLLGATE_BENCH_SELECT_WORLD_H

#include "fcgi-app/route/snapshot.h"

enum { WORLD_GROUPS = 10, WORLD_MODELS = 100 };

struct tg_snapshot *select_world_new(void);
void select_world_free(struct tg_snapshot *snapshot);

#endif
