/* stage - the relay stage inside a test: channels are test servers, the client is a fake.
 *
 * Stands in for worker.c and the snapshot's holder; everything else is the real thing.
 */
#ifndef TOLLGATE_TESTS_RELAY_STAGE_H
#define TOLLGATE_TESTS_RELAY_STAGE_H

#include "fcgi-app/worker.h"
#include "tests/unit/http/server.h"
#include "tests/unit/stream/client_fake.h"

enum { STAGE_CHANNELS_MOST = 3 };

/* What an upstream answers, request after request, the last one for ever. "close" and "reset" end
 * the connection after the request was read; "hang" waits for the peer to close. */
struct upstream {
    struct test_server server;
    const char *const *answers;
    size_t count;
    int served;
};

struct stage {
    struct tg_worker worker;
    struct tg_settings settings;
    struct tg_arena *arena;
    struct tg_snapshot *snapshot;
    struct tg_request req;
    struct upstream upstreams[STAGE_CHANNELS_MOST];
    size_t upstream_count;
    int64_t priorities[STAGE_CHANNELS_MOST];
    const char *mapping; /* of every channel */
    const char *body;
};

int stage_set_up(void **state);
int stage_tear_down(void **state);

/* Adds a channel with id 1, 2, … (priorities fall) whose upstream answers so. */
void stage_channel(struct stage *stage, const char *const *answers, size_t count);
/* Runs the stage on <body> for the model "alias". */
enum tg_verdict stage_run(struct stage *stage, const char *body, bool stream);
void stage_done(struct stage *stage);
/* "1:retry:status 2:success:request_completed" */
const char *stage_events(const struct stage *stage);

#endif
