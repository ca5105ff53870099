#include "fcgi-app/relay/test.h"

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/json/writer.h"
#include "common/price/price.h"
#include "common/store/channel_watch.h"
#include "fcgi-app/relay/ask.h"
#include "fcgi-app/relay/relay.h"
#include "fcgi-app/reply.h"
#include "fcgi-app/shared.h"

#include <string.h>

/* A test is somebody's wait in front of a screen, and costs money. */
enum {
    TEST_LIMIT_US = 60000000,
    ANSWER_MOST = 64 * 1024,
    SHOWN_MOST = 400,
    TOKENS_MOST = 16,
    STORE_WAIT_US = 2000000
};

struct probe {
    struct tg_channel channel;
    const struct tg_provider *provider;
    const char *model;
    const struct tg_price *price; /* NULL: none is set */
    size_t key_count;
    struct tg_ask ask;
};

static void write_messages(struct tg_json_writer *json)
{
    tg_json_key(json, "messages");
    tg_json_begin_array(json);
    tg_json_begin_object(json);
    tg_json_put_str(json, "role", "user");
    tg_json_put_str(json, "content", "hi");
    tg_json_end_object(json);
    tg_json_end_array(json);
    tg_json_put_int(json, "max_tokens", TOKENS_MOST);
}

static void write_gemini(struct tg_buf *out)
{
    tg_buf_printf(out,
                  "{\"contents\":[{\"role\":\"user\",\"parts\":[{\"text\":\"hi\"}]}],"
                  "\"generationConfig\":{\"maxOutputTokens\":%d}}",
                  TOKENS_MOST);
}

static void write_body(struct tg_buf *out, const struct probe *probe)
{
    struct tg_json_writer json;

    if (probe->provider->protocol == TG_PROTOCOL_GEMINI) {
        write_gemini(out);
        return;
    }
    tg_json_writer_init(&json, out);
    tg_json_begin_object(&json);
    tg_json_put_str(&json, "model", probe->model);
    if (probe->provider->protocol == TG_PROTOCOL_RESPONSES) {
        tg_json_put_str(&json, "input", "hi");
        tg_json_put_int(&json, "max_output_tokens", TOKENS_MOST);
        tg_json_put_bool(&json, "store", false);
    } else {
        write_messages(&json);
    }
    tg_json_end_object(&json);
}

static void call_once(struct tg_request *req, const struct tg_channel_test *test,
                      struct probe *probe, struct tg_error *ret)
{
    struct tg_provider_call call = {0};
    struct tg_buf body;
    struct tg_provider_input input = {
        .arena = req->arena,
        .channel = &probe->channel,
        .client_model = probe->model,
        .model = probe->model,
        .client = probe->provider->protocol,
    };

    tg_buf_init(&body, 0);
    write_body(&body, probe);
    input.body = (struct tg_span){body.data, body.len};
    if (probe->provider->prepare(&input, &call, ret) == TG_OK) {
        probe->ask = (struct tg_ask){.channel = &probe->channel,
                                     .call = &call,
                                     .limit_us = test->limit_us > 0 ? test->limit_us
                                                                    : TEST_LIMIT_US,
                                     .stop = test->stop,
                                     .most = ANSWER_MOST};
        tg_ask_run(req, &probe->ask);
        *ret = probe->ask.error;
    }
    tg_buf_done(&body);
}

/* At most so many bytes, cut between two characters. */
static size_t shown_len(const char *text, size_t len)
{
    if (len <= SHOWN_MOST)
        return len;
    len = SHOWN_MOST;
    while (len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80)
        len--;
    return len;
}

/* What came, what it used, and what that costs by the price that is set, before any group's ratio.
 * Nobody is billed for a test. */
static void write_answer(const struct probe *probe, struct tg_json_writer *json)
{
    struct tg_span body = {tg_buf_text(&probe->ask.body), probe->ask.body.len};
    struct tg_chat_event read = {0};
    struct tg_buf content;
    int64_t cost = 0;

    tg_buf_init(&content, 0);
    tg_dialect_of(probe->provider->protocol)->read_answer(body, &read, &content);
    tg_json_key(json, "answer");
    tg_json_write_strn(json, tg_buf_text(&content), shown_len(content.data, content.len));
    tg_buf_done(&content);
    if (!read.has_usage)
        return;
    tg_usage_clamp(&read.usage);
    tg_json_put_int(json, "input", read.usage.input);
    tg_json_put_int(json, "output", read.usage.output);
    if (probe->price != NULL && tg_bill(probe->price, &read.usage, "1", NULL, &cost) == TG_OK)
        tg_json_put_int(json, "cost_quota", cost);
}

static void answer(struct tg_request *req, const struct probe *probe, const struct tg_error *error)
{
    struct tg_json_writer json;
    struct tg_buf out;

    tg_buf_init(&out, 0);
    tg_json_writer_init(&json, &out);
    tg_json_begin_object(&json);
    tg_json_put_bool(&json, "ok", error->class == TG_OK);
    tg_json_put_int(&json, "status", probe->ask.http.status);
    tg_json_put_int(&json, "ms", probe->ask.took_us / 1000);
    tg_json_put_str(&json, "model", probe->model);
    tg_json_put_str(&json, "code", error->class == TG_OK ? NULL : error->code);
    tg_json_put_str(&json, "error", error->class == TG_OK ? NULL : error->message);
    if (error->class == TG_OK && probe->provider != NULL)
        write_answer(probe, &json);
    tg_json_end_object(&json);
    tg_reply_set_json(req, 200, out.data, out.len);
    tg_buf_done(&out);
}

static const struct tg_channel_key *choose_key(struct tg_request *req,
                                               const struct tg_channel *channel, size_t wish)
{
    struct tg_key_board *board = tg_shared_keys(req->worker->shared);

    if (channel->key_count == 0)
        return NULL;
    if (wish > 0)
        return &channel->keys[(wish - 1) % channel->key_count];
    for (size_t i = 0; i < channel->key_count; i++)
        if (tg_key_board_look(board, channel->keys[i].id, &channel->keys[i].row).state ==
            TG_KEY_ACTIVE)
            return &channel->keys[i];
    return &channel->keys[0];
}

static void copy_channel(struct tg_request *req, const struct tg_channel *channel,
                         const struct tg_channel_test *test, struct probe *ret)
{
    const struct tg_channel_key *key = choose_key(req, channel, test->key);
    struct tg_channel chosen = *channel;

    if (key != NULL) {
        chosen.key_id = key->id;
        chosen.key = key->key;
        chosen.key_hint = key->hint;
    }
    ret->channel = tg_relay_copy_channel(req->arena, &chosen);
    ret->key_count = channel->key_count;
    ret->provider = tg_provider_find(channel->provider);
    if (ret->model == NULL && *channel->test_model != '\0')
        ret->model = tg_arena_strdup(req->arena, channel->test_model);
}

static void prepare(struct tg_request *req, const struct tg_channel_test *test,
                    struct probe *ret)
{
    struct tg_snapshot_holder *holder = req->worker->snapshots;
    const struct tg_snapshot *snapshot = tg_snapshot_acquire_from(holder, test->version);
    const struct tg_channel *channel =
        snapshot == NULL ? NULL : tg_snapshot_channel(snapshot, test->channel_id);
    const struct tg_price *price = NULL;

    if (channel != NULL) {
        copy_channel(req, channel, test, ret);
        if (ret->model != NULL)
            price = tg_snapshot_price(snapshot, ret->model);
    }
    if (price != NULL) {
        struct tg_price *copy = tg_arena_alloc(req->arena, sizeof *copy);

        *copy = tg_price_copy(req->arena, price);
        ret->price = copy;
    }
    tg_snapshot_release(holder, snapshot);
}

static bool is_stopped(const struct tg_channel_test *test)
{
    return test->stop != NULL && atomic_load(test->stop);
}

/* For whoever looks at the channel later. */
static void note(struct tg_request *req, const struct probe *probe, const struct tg_error *error)
{
    const struct tg_channel_test_row row = {.channel_id = probe->channel.id,
                                            .ms = probe->ask.took_us / 1000,
                                            .code = error->class == TG_OK ? "" : error->code};
    struct tg_error err = {0};
    struct tg_db *db = NULL;
    enum tg_class class =
        tg_db_acquire(req->worker->main_db, tg_now_us() + STORE_WAIT_US, &db, &err);

    if (class == TG_OK)
        class = tg_store_channel_tested(db, &row, &err);
    tg_db_release(db);
    if (class != TG_OK)
        tg_log_error(TG_LOG_INFO, "test", &err);
}

/* tg_ask_done is the caller's. */
static void run(struct tg_request *req, const struct tg_channel_test *test, struct probe *probe,
                struct tg_error *error)
{
    *probe = (struct probe){.model = test->model};
    memset(error, 0, sizeof *error);
    prepare(req, test, probe);
    tg_buf_init(&probe->ask.body, 0);
    if (probe->channel.id == 0) {
        (void)tg_fail(error, TG_CLASS_NOT_FOUND, "channel_not_found",
                      "no such channel, or it is disabled");
        return;
    }
    if (probe->provider == NULL || probe->channel.key[0] == '\0')
        (void)tg_fail(error, TG_CLASS_CONFIG, "channel_unusable",
                      "the channel's provider is unknown or it has no usable key");
    else if (probe->model == NULL)
        (void)tg_fail(error, TG_CLASS_CONFIG, "channel_unusable", "the channel names no model");
    else
        call_once(req, test, probe, error);
    if (!is_stopped(test))
        note(req, probe, error);
}

void tg_channel_test(struct tg_request *req, const struct tg_channel_test *test)
{
    struct tg_error error;
    struct probe probe;

    run(req, test, &probe, &error);
    answer(req, &probe, &error);
    tg_ask_done(&probe.ask);
}

void tg_channel_try(struct tg_request *req, const struct tg_channel_test *test,
                    struct tg_channel_tested *ret)
{
    struct probe probe;

    run(req, test, &probe, &ret->error);
    ret->took_us = probe.ask.took_us;
    ret->key_id = probe.channel.key_id;
    ret->key_count = probe.key_count;
    ret->off = probe.channel.off;
    tg_ask_done(&probe.ask);
}
