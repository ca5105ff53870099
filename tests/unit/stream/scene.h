/* scene - one stream between a scripted upstream and a fake client. */
#ifndef TOLLGATE_TESTS_STREAM_SCENE_H
#define TOLLGATE_TESTS_STREAM_SCENE_H

#include "fcgi-app/stream/engine.h"
#include "fcgi-app/worker.h"
#include "tests/unit/stream/client_fake.h"

#define CHUNK(rest) "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\"," rest "}\n\n"
#define ROLE \
    CHUNK("\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]")
#define TEXT(text) CHUNK("\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" text "\"}}]")
#define FINISH CHUNK("\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]")
#define USAGE \
    CHUNK("\"choices\":[],\"usage\":{\"prompt_tokens\":11,\"completion_tokens\":7," \
          "\"total_tokens\":18}")
#define DONE "data: [DONE]\n\n"

extern struct tg_worker scene_worker; /* of every scene; tests set `cut` */

struct scene {
    struct tg_request req;
    struct tg_client client;
    struct tg_stream stream;
};

void scene_begin(struct scene *scene);
/* Without dialects both sides speak Chat. */
void scene_begin_with(struct scene *scene, const struct tg_stream_conf *conf);
/* False: the engine wants the exchange to stop. */
bool scene_feed(struct scene *scene, const char *text);
void scene_end(struct scene *scene, enum tg_http_end how);
void scene_done(struct scene *scene);

#endif
