#include "tests/unit/relay/stage.h"

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "fcgi-app/endpoint.h"
#include "fcgi-app/route/snapshot_build.h"
#include "fcgi-app/shared.h"
#include "fcgi-app/stages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct stage *current;
static struct tg_secrets secrets;
static struct tg_conf *conf;
static const struct tg_credential credential = {.loss_policy = ""};

static const char conf_text[] =
    "upstream: { first_byte = \"300ms\"; idle = \"300ms\"; };\n"
    "retry: { attempts = 3; backoff_base = \"1ms\"; backoff_cap = \"2ms\"; };\n"
    "breaker: { failures = 4; open = \"1h\"; };\n"
    "request: { deadline = \"20s\"; };\n";

/* --- in place of worker.c and the holder --------------------------------------------------- */

const struct tg_settings *tg_worker_settings(struct tg_worker *worker)
{
    (void)worker;
    return &current->settings;
}

const struct tg_snapshot *tg_snapshot_acquire(struct tg_snapshot_holder *holder)
{
    (void)holder;
    return current->snapshot;
}

void tg_snapshot_release(struct tg_snapshot_holder *holder, const struct tg_snapshot *snapshot)
{
    (void)holder;
    (void)snapshot;
}

int stage_set_up(void **state)
{
    char path[] = "/tmp/tollgate-relay-XXXXXX";
    int fd = mkstemp(path);
    struct tg_error err;
    bool fine;

    (void)state;
    fine = fd >= 0 && write(fd, conf_text, strlen(conf_text)) == (ssize_t)strlen(conf_text) &&
           tg_conf_load(path, NULL, 0, &conf, &err) == TG_OK && tg_crypto_init(&err) == TG_OK;
    close(fd);
    unlink(path);
    tg_seal_keypair(secrets.seal_public, secrets.seal_private);
    secrets.private_version = 1;
    return fine ? 0 : -1;
}

int stage_tear_down(void **state)
{
    (void)state;
    tg_conf_free(conf);
    return 0;
}

/* --- upstreams ----------------------------------------------------------------------------- */

static void serve(struct test_server *server, int fd, int connection)
{
    struct upstream *upstream = server->context;
    const char *answer;

    (void)connection;
    if (!test_read_request(server, fd))
        return;
    answer = upstream->answers[TG_MIN((size_t)upstream->served, upstream->count - 1)];
    upstream->served++;
    if (strcmp(answer, "hang") == 0)
        test_wait_closed(server, fd);
    else if (strcmp(answer, "reset") == 0)
        test_reset(fd);
    else if (strcmp(answer, "close") != 0)
        test_send_text(fd, answer); /* and closes: that ends the body */
}

void stage_channel(struct stage *stage, const char *const *answers, size_t count)
{
    struct upstream *upstream = &stage->upstreams[stage->upstream_count];

    stage->priorities[stage->upstream_count] = -(int64_t)stage->upstream_count;
    upstream->answers = answers;
    upstream->count = count;
    upstream->served = 0;
    upstream->server.context = upstream;
    test_server_start(&upstream->server, serve);
    stage->upstream_count++;
}

static void add_key(struct tg_arena *arena, struct tg_channel_key_row *row, int64_t id)
{
    char aad[TG_KEY_AAD_TEXT];
    struct tg_buf sealed;

    tg_channel_key_aad(id, aad);
    tg_buf_init(&sealed, 0);
    tg_seal(secrets.seal_public, aad, "sk-upstream", &sealed);
    *row = (struct tg_channel_key_row){.id = id, .channel_id = id, .hint = "ream", .key_version = 1,
                                        .state = "active", .cap_unit = "", .reset_zone = "UTC"};
    row->sealed.ptr = tg_arena_strndup(arena, sealed.data, sealed.len);
    row->sealed.len = sealed.len;
    tg_buf_done(&sealed);
}

static struct tg_snapshot *snapshot_of(const struct stage *stage)
{
    struct tg_arena *arena = tg_arena_new();
    size_t count = stage->upstream_count;
    struct tg_routing_rows rows = {
        .channels = tg_arena_calloc(arena, count, sizeof *rows.channels),
        .channel_count = count,
        .keys = tg_arena_calloc(arena, count, sizeof *rows.keys),
        .key_count = count,
        .abilities = tg_arena_calloc(arena, count, sizeof *rows.abilities),
        .ability_count = count,
    };

    for (size_t i = 0; i < count; i++) {
        const int64_t id = (int64_t)i + 1;

        rows.channels[i] = (struct tg_channel_row){
            .id = id,
            .name = "c",
            .provider = "openai",
            .base_url = tg_arena_printf(arena, "%s/",
                                        test_server_url(&stage->upstreams[i].server, "/v1")),
            .organisation = "",
            .loss_policy = "",
            .proxy = "",
            .model_mapping = stage->mapping,
            .timeouts = "",
            .key_mode = "",
        };
        add_key(arena, &rows.keys[i], id);
        rows.abilities[i] =
            (struct tg_ability_row){"default", "alias", id, stage->priorities[i], 1};
    }
    return tg_snapshot_build(&rows, arena, &secrets);
}

/* --- the run ------------------------------------------------------------------------------- */

static void prepare(struct stage *stage, const char *body, bool stream)
{
    static const struct tg_endpoint endpoint = {"chat_completions", "POST", "/v1/chat/completions",
                                                TG_PROTOCOL_CHAT, TG_OPERATION_GENERATE};
    static const struct tg_cidr loopback = {
        .base = {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 0}}, .prefix_len = 104};
    static struct tg_cidr allow[1];
    static max_align_t nothing;
    const struct tg_http_pool_conf pool = {.idle_most = 8, .idle_age_us = 1000000, .ca_path = ""};
    struct tg_error err;
    int descriptor = client_fake.descriptor;

    client_fake_reset();
    client_fake.descriptor = descriptor;
    allow[0] = loopback;
    current = stage;
    stage->settings.conf = conf;
    stage->settings.channel_allow = allow;
    stage->settings.channel_allow_count = 1;
    tg_assert(tg_status_ranges_parse(tg_conf_text(conf, TG_OPTION_RETRY_STATUSES),
                                     &stage->settings.retry_statuses));
    tg_assert(tg_http_pool_new(&pool, &stage->worker.http, &err) == TG_OK);
    /* The breakers of one node, unless a test goes on with those of another stage. */
    if (stage->worker.shared == NULL)
        stage->worker.shared = tg_shared_new(1);
    stage->worker.cut_fd = -1;
    stage->worker.snapshots = (struct tg_snapshot_holder *)&nothing; /* never looked into */
    stage->arena = tg_arena_new();
    if (stage->mapping == NULL)
        stage->mapping = "";
    stage->snapshot = snapshot_of(stage);
    stage->req.worker = &stage->worker;
    stage->req.arena = stage->arena;
    stage->req.fcgi = client_fake_fcgi();
    stage->req.endpoint = &endpoint;
    stage->req.started_at_us = tg_now_us();
    stage->req.group = "default";
    stage->req.credential = &credential;
    stage->req.model = "alias";
    stage->req.stream = stream;
    stage->req.body = (struct tg_span){body, strlen(body)};
    stage->req.input_estimate = 21;
    stage->req.quotes = tg_arena_calloc(stage->arena, 1, sizeof *stage->req.quotes);
    stage->req.quotes[0] = (struct tg_quote){.model = "alias", .group = "default"};
    stage->req.quote_count = 1;
}

enum tg_verdict stage_run(struct stage *stage, const char *body, bool stream)
{
    prepare(stage, body, stream);
    return tg_stage_relay(&stage->req);
}

void stage_done(struct stage *stage)
{
    tg_http_pool_free(stage->worker.http);
    for (size_t i = 0; i < stage->upstream_count; i++)
        test_server_stop(&stage->upstreams[i].server);
    tg_snapshot_free(stage->snapshot);
    tg_buf_done(&stage->req.tail);
    tg_arena_free(stage->arena);
    client_fake_reset();
}

const char *stage_events(const struct stage *stage)
{
    const char *text = "";

    for (const struct tg_attempt *at = stage->req.attempts; at != NULL; at = at->next)
        text = tg_arena_printf(stage->arena, "%s%s%lld:%s:%s", text, text[0] == '\0' ? "" : " ",
                               (long long)at->channel_id, at->action, at->reason);
    return text;
}
