/* Streams with Messages on one side or on both: what reaches the client, whatever the cuts; and
 * that a stream which ends early is never taken for a whole one. */
#include "tests/unit/unit.h"

#include "tests/unit/convert/sample.h"
#include "tests/unit/stream/scene.h"

#include <stdio.h>

#define EVENT(type, rest) "event: " type "\ndata: {\"type\":\"" type "\"" rest "}\n\n"
#define START \
    EVENT("message_start", ",\"message\":{\"id\":\"msg_1\",\"type\":\"message\",\"role\":" \
          "\"assistant\",\"model\":\"claude\",\"content\":[],\"stop_reason\":null,\"usage\":" \
          "{\"input_tokens\":11,\"cache_read_input_tokens\":4,\"output_tokens\":1}}")
#define PING EVENT("ping", "")
#define OPEN(index, block) \
    EVENT("content_block_start", ",\"index\":" index ",\"content_block\":{" block "}")
#define DELTA(index, delta) \
    EVENT("content_block_delta", ",\"index\":" index ",\"delta\":{" delta "}")
#define CLOSE(index) EVENT("content_block_stop", ",\"index\":" index)
#define SAY(index, text) DELTA(index, "\"type\":\"text_delta\",\"text\":\"" text "\"")
#define STOPS \
    EVENT("message_delta", ",\"delta\":{\"stop_reason\":\"tool_use\",\"stop_sequence\":null}," \
          "\"usage\":{\"output_tokens\":7}")
#define STOP EVENT("message_stop", "")
#define THINKING \
    OPEN("0", "\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"") \
    DELTA("0", "\"type\":\"thinking_delta\",\"thinking\":\"hm\"") \
    DELTA("0", "\"type\":\"signature_delta\",\"signature\":\"c2ln\"") CLOSE("0")
#define CALL(index) \
    OPEN(index, "\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"f\",\"input\":{}") \
    DELTA(index, "\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"a\\\":\"") \
    DELTA(index, "\"type\":\"input_json_delta\",\"partial_json\":\"1}\"") CLOSE(index)
#define TEXT_BLOCK(index) \
    OPEN(index, "\"type\":\"text\",\"text\":\"\"") SAY(index, "h\xc3\xa9llo") CLOSE(index)

/* As an upstream writes it, and as a client of its own protocol gets it. */
static const char messages_stream[] =
    START PING THINKING TEXT_BLOCK("1") ": nothing\n\n" CALL("2") STOPS STOP;
static const char messages_sent[] = "<begin>" START THINKING TEXT_BLOCK("1") CALL("2") STOPS;

static const char chat_stream[] =
    ROLE CHUNK("\"choices\":[{\"index\":0,\"delta\":{\"reasoning_content\":\"hm\"}}]")
    TEXT("h\xc3\xa9llo")
    CHUNK("\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"t1\","
          "\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"a\\\":\"}}]}}]")
    CHUNK("\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":"
          "{\"arguments\":\"1}\"}}]}}]")
    CHUNK("\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]")
    USAGE DONE;

static const struct pair {
    enum tg_protocol client, upstream;
    const char *stream;
    const char *marker; /* by which the client knows that it has all */
    int64_t input, output;
} pairs[] = {
    {TG_PROTOCOL_MESSAGES, TG_PROTOCOL_MESSAGES, messages_stream, "message_stop", 11, 7},
    {TG_PROTOCOL_CHAT, TG_PROTOCOL_MESSAGES, messages_stream, "[DONE]", 11, 7},
    {TG_PROTOCOL_MESSAGES, TG_PROTOCOL_CHAT, chat_stream, "message_stop", 11, 7},
    {TG_PROTOCOL_CHAT, TG_PROTOCOL_CHAT, chat_stream, "[DONE]", 11, 7},
};

/* A scene of two protocols, and what its conversion works with. */
struct play {
    struct scene scene;
    struct tg_arena *arena;
    struct tg_convert *convert;
};

static void begin(struct play *play, const struct pair *pair)
{
    struct tg_stream_conf conf = {.count_as = "gpt-4o",
                                  .event_limit = 4096,
                                  .refuse_empty = true,
                                  .upstream = tg_dialect_of(pair->upstream),
                                  .spoken = tg_dialect_of(pair->client),
                                  .route = tg_route_find(pair->client, pair->upstream)};

    memset(play, 0, sizeof *play);
    play->arena = tg_arena_new();
    play->convert = sample_context(play->arena, pair->client, pair->upstream);
    play->convert->include_usage = false;
    conf.convert = play->convert;
    scene_begin_with(&play->scene, &conf);
}

static void done(struct play *play)
{
    scene_done(&play->scene);
    tg_json_free(play->convert->kept);
    tg_arena_free(play->arena);
}

/* Everything the client gets: the stream, and what ends it behind the settlement. */
static void read_all(const struct play *play, struct tg_buf *out)
{
    tg_buf_reset(out);
    tg_buf_add(out, client_fake.sent.data, client_fake.sent.len);
    tg_buf_add(out, play->scene.stream.terminal.data, play->scene.stream.terminal.len);
}

static void assert_whole(const struct play *play, const struct pair *pair)
{
    assert_int_equal(play->scene.stream.error.class, TG_OK);
    assert_int_equal(play->scene.stream.end_reason, TG_END_DONE);
    assert_true(play->scene.stream.has_usage);
    assert_int_equal(play->scene.stream.usage.input, pair->input);
    assert_int_equal(play->scene.stream.usage.output, pair->output);
}

static void play_uncut(const struct pair *pair, struct tg_buf *ret_all, int64_t *ret_count)
{
    struct play play;

    begin(&play, pair);
    assert_true(scene_feed(&play.scene, pair->stream));
    scene_end(&play.scene, TG_HTTP_DONE);
    assert_whole(&play, pair);
    read_all(&play, ret_all);
    *ret_count = tg_count_so_far(&play.scene.stream.count);
    done(&play);
}

static void a_stream_of_its_own_protocol_is_relayed_but_for_pings(void **state)
{
    int64_t count;
    struct tg_buf all;

    (void)state;
    tg_buf_init(&all, 0);
    play_uncut(&pairs[0], &all, &count);
    assert_int_equal(all.len, sizeof messages_sent - 1 + sizeof STOP - 1);
    assert_memory_equal(all.data, messages_sent, sizeof messages_sent - 1);
    assert_string_equal(tg_buf_text(&all) + sizeof messages_sent - 1, STOP);
    tg_buf_done(&all);
}

static size_t times(const char *text, const char *word)
{
    size_t count = 0;

    for (; (text = strstr(text, word)) != NULL; text += strlen(word))
        count++;
    return count;
}

/* Every event of Messages is framed with its name, of Chat without; the marker comes last, once. */
static void a_converted_stream_is_framed_as_the_client_wants_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(pairs); i++) {
        bool named = pairs[i].client == TG_PROTOCOL_MESSAGES;
        int64_t count;
        struct tg_buf all;
        const char *text;

        tg_buf_init(&all, 0);
        play_uncut(&pairs[i], &all, &count);
        text = tg_buf_text(&all);
        assert_int_equal(times(text, "event: "), named ? times(text, "data: ") : 0);
        assert_int_equal(times(text, "data: "), times(text, "\n\n"));
        assert_int_equal(times(text, named ? STOP : DONE), 1);
        assert_string_equal(text + all.len - strlen(named ? STOP : DONE), named ? STOP : DONE);
        assert_int_equal(times(text, "h\xc3\xa9llo"), 1);
        assert_in_range(count, 3, 20);
        tg_buf_done(&all);
    }
}

/* In two at every byte, and byte by byte. */
static void play_cut(const struct pair *pair, size_t cut, struct tg_buf *ret_all,
                     int64_t *ret_count)
{
    size_t len = strlen(pair->stream);
    struct play play;

    begin(&play, pair);
    if (cut > len) {
        for (size_t i = 0; i < len; i++)
            assert_true(tg_stream_feed(&play.scene.stream, pair->stream + i, 1));
    } else {
        assert_true(tg_stream_feed(&play.scene.stream, pair->stream, cut));
        assert_true(tg_stream_feed(&play.scene.stream, pair->stream + cut, len - cut));
    }
    scene_end(&play.scene, TG_HTTP_DONE);
    assert_whole(&play, pair);
    read_all(&play, ret_all);
    *ret_count = tg_count_so_far(&play.scene.stream.count);
    done(&play);
}

static void cuts_at_every_byte_change_nothing(void **state)
{
    struct tg_buf wanted, all;
    int64_t wanted_count, count;

    (void)state;
    tg_buf_init(&wanted, 0);
    tg_buf_init(&all, 0);
    for (size_t i = 0; i < TG_COUNT_OF(pairs); i++) {
        play_uncut(&pairs[i], &wanted, &wanted_count);
        for (size_t cut = 0; cut <= strlen(pairs[i].stream) + 1; cut++) {
            play_cut(&pairs[i], cut, &all, &count);
            assert_string_equal(tg_buf_text(&all), tg_buf_text(&wanted));
            assert_int_equal(count, wanted_count);
        }
    }
    tg_buf_done(&wanted);
    tg_buf_done(&all);
}

/* Where the upstream has said why it stopped: an orderly end from there on is the answer's. */
static size_t finish_at(const struct pair *pair)
{
    const char *event = strstr(pair->stream, pair->upstream == TG_PROTOCOL_CHAT
                                                 ? "\"finish_reason\":\"tool_calls\"}]}"
                                                 : "\"usage\":{\"output_tokens\":7}}");

    return (size_t)(strchr(event, '\n') - pair->stream);
}

static void play_truncated(const struct pair *pair, size_t len, enum tg_http_end how)
{
    struct play play;
    struct tg_buf all;
    const struct tg_stream *stream = &play.scene.stream;
    size_t whole_at = how == TG_HTTP_DONE ? finish_at(pair) : strlen(pair->stream) - 2;

    tg_buf_init(&all, 0);
    begin(&play, pair);
    assert_true(tg_stream_feed(&play.scene.stream, pair->stream, len));
    scene_end(&play.scene, how);
    read_all(&play, &all);
    if (stream->error.class == TG_OK) {
        assert_true(len >= whole_at);
        assert_int_equal(times(tg_buf_text(&all), pair->marker),
                         pair->client == TG_PROTOCOL_MESSAGES ? 2 : 1);
    } else {
        assert_true(len < whole_at);
        assert_int_equal(stream->terminal.len, 0);
        assert_int_equal(times(tg_buf_text(&all), pair->marker), 0);
        assert_int_equal(times(tg_buf_text(&all), "\"error\""), 0);
        assert_string_equal(stream->error.code, "upstream_truncated");
        assert_int_equal(stream->error.class,
                         stream->arrived ? TG_CLASS_UPSTREAM : TG_CLASS_TRANSPORT);
    }
    done(&play);
    tg_buf_done(&all);
}

/* The relay writes the one error that a client sees from what stands in <error>. */
static void every_truncation_is_an_error_and_never_a_success(void **state)
{
    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(pairs); i++)
        for (size_t len = 0; len <= strlen(pairs[i].stream); len++) {
            play_truncated(&pairs[i], len, TG_HTTP_DONE);
            play_truncated(&pairs[i], len, TG_HTTP_RESET);
        }
}

static const struct {
    size_t pair;
    const char *stream;
    enum tg_class class;
    const char *code;
    bool arrived;
} ends[] = {
    {0, EVENT("error", ",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}"),
     TG_CLASS_UPSTREAM, "overloaded", false},
    {0, START OPEN("0", "\"type\":\"text\",\"text\":\"\"") SAY("0", "hi")
        EVENT("error", ",\"error\":{\"type\":\"api_error\",\"message\":\"x\"}") STOP,
     TG_CLASS_UPSTREAM, "server_error", true},
    {1, START OPEN("0", "\"type\":\"text\",\"text\":\"\"") SAY("0", "hi")
        EVENT("error", ",\"error\":{\"type\":\"api_error\",\"message\":\"x\"}") STOP,
     TG_CLASS_UPSTREAM, "server_error", true},
    {2, TEXT("hi") "data: {\"error\":{\"message\":\"x\",\"code\":\"boom\"}}\n\n" DONE,
     TG_CLASS_UPSTREAM, "boom", true},
    {0, START SAY("0", "hi") "event: x\ndata: {\"type\":\n\n", TG_CLASS_TRANSPORT,
     "upstream_invalid", true},
    {1, START SAY("0", "hi") "event: x\ndata: {\"type\":\n\n", TG_CLASS_TRANSPORT,
     "upstream_invalid", true},
    {0, START STOPS STOP, TG_CLASS_TRANSPORT, "empty_answer", false},
    {1, START STOPS STOP, TG_CLASS_TRANSPORT, "empty_answer", false},
    {2, ROLE FINISH DONE, TG_CLASS_TRANSPORT, "empty_answer", false},
};

static void errors_end_a_stream_without_its_marker(void **state)
{
    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(ends); i++) {
        const struct pair *pair = &pairs[ends[i].pair];
        struct play play;

        begin(&play, pair);
        (void)scene_feed(&play.scene, ends[i].stream);
        scene_end(&play.scene, TG_HTTP_DONE);
        if (strcmp(play.scene.stream.error.code, ends[i].code) != 0)
            fail_msg("case %zu: %s, sent %s", i, play.scene.stream.error.code,
                     tg_buf_text(&client_fake.sent));
        assert_int_equal(play.scene.stream.error.class, ends[i].class);
        assert_int_equal(play.scene.stream.arrived, ends[i].arrived);
        assert_int_equal(times(tg_buf_text(&client_fake.sent), pair->marker), 0);
        assert_int_equal(play.scene.stream.terminal.len, 0);
        if (!ends[i].arrived)
            assert_int_equal(client_fake.sends, 0);
        done(&play);
    }
}

static void the_model_is_renamed_in_the_first_event(void **state)
{
    const struct tg_stream_conf conf = {.count_as = "gpt-4o",
                                        .rename_to = "alias",
                                        .event_limit = 4096,
                                        .upstream = tg_dialect_of(TG_PROTOCOL_MESSAGES)};
    struct scene scene;

    (void)state;
    scene_begin_with(&scene, &conf);
    assert_true(scene_feed(&scene, START SAY("0", "\\\"model\\\":\\\"claude\\\"")));
    assert_int_equal(times(tg_buf_text(&client_fake.sent), "\"model\":\"alias\""), 1);
    assert_int_equal(times(tg_buf_text(&client_fake.sent), "\"model\":\"claude\""), 0);
    assert_int_equal(times(tg_buf_text(&client_fake.sent), "\\\"claude\\\""), 1);
    scene_done(&scene);
}

/* Usage counts once the upstream has said why it stopped: the latest of each figure, and a zero
 * takes none back. */
static void usage_is_summed_over_the_events(void **state)
{
    static const struct {
        const char *stream;
        bool has;
        int64_t input, cached, output;
    } cases[] = {
        {START TEXT_BLOCK("0") STOPS STOP, true, 11, 4, 7},
        {START TEXT_BLOCK("0"), false, 0, 0, 0},
        {START TEXT_BLOCK("0")
             EVENT("message_delta", ",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":"
                   "{\"input_tokens\":20,\"cache_read_input_tokens\":0,\"output_tokens\":9}") STOP,
         true, 20, 4, 9},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++)
        for (size_t pair = 0; pair < 2; pair++) {
            struct play play;

            begin(&play, &pairs[pair]);
            (void)scene_feed(&play.scene, cases[i].stream);
            scene_end(&play.scene, TG_HTTP_DONE);
            assert_int_equal(play.scene.stream.has_usage, cases[i].has);
            if (cases[i].has) {
                assert_int_equal(play.scene.stream.usage.input, cases[i].input);
                assert_int_equal(play.scene.stream.usage.cache_read, cases[i].cached);
                assert_int_equal(play.scene.stream.usage.output, cases[i].output);
            }
            done(&play);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_of_its_own_protocol_is_relayed_but_for_pings),
        cmocka_unit_test(a_converted_stream_is_framed_as_the_client_wants_it),
        cmocka_unit_test(cuts_at_every_byte_change_nothing),
        cmocka_unit_test(every_truncation_is_an_error_and_never_a_success),
        cmocka_unit_test(errors_end_a_stream_without_its_marker),
        cmocka_unit_test(the_model_is_renamed_in_the_first_event),
        cmocka_unit_test(usage_is_summed_over_the_events),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
