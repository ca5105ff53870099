#include "tests/unit/stream/scene.h"

#include "common/base/clock.h"

#include <string.h>

/* client.c asks for it in tg_client_init, which no test here calls. */
const struct tg_settings *tg_worker_settings(struct tg_worker *worker)
{
    (void)worker;
    return NULL;
}

struct tg_worker scene_worker;

void scene_begin_with(struct scene *scene, const struct tg_stream_conf *conf)
{
    struct tg_stream_conf whole = *conf;

    if (whole.upstream == NULL)
        whole.upstream = tg_dialect_of(TG_PROTOCOL_CHAT);
    if (whole.spoken == NULL)
        whole.spoken = whole.upstream;
    memset(scene, 0, sizeof *scene);
    client_fake_reset();
    scene_worker = (struct tg_worker){.cut_fd = -1};
    scene->req.worker = &scene_worker;
    scene->req.fcgi = client_fake_fcgi();
    scene->req.stream = true;
    scene->req.started_at_us = tg_now_us() - 1000;
    scene->client = (struct tg_client){.req = &scene->req,
                                       .keepalive_first_us = 15000000,
                                       .keepalive_every_us = 5000000,
                                       .last_sent_at_us = scene->req.started_at_us};
    tg_stream_init(&scene->stream, &scene->client, &whole);
}

static const struct tg_stream_conf usual = {
    .count_as = "gpt-4o", .event_limit = 4096, .refuse_empty = true};

void scene_begin(struct scene *scene)
{
    scene_begin_with(scene, &usual);
}

void scene_end(struct scene *scene, enum tg_http_end how)
{
    const struct tg_http_result result = {.end = how, .status = 200, .body_sent = true};

    tg_stream_end(&scene->stream, &result, false);
}

void scene_done(struct scene *scene)
{
    tg_stream_done(&scene->stream);
    client_fake_reset();
}

bool scene_feed(struct scene *scene, const char *text)
{
    return tg_stream_feed(&scene->stream, text, strlen(text));
}
