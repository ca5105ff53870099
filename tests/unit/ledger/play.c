#include "tests/unit/ledger/play.h"

#include "tests/unit/unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/clock.h"
#include "common/base/memory.h"

enum { CALL_US = 10000000, WORDS = 40 };

static const struct tg_kv_script *find_script(const char *name)
{
    static const struct tg_kv_script *const all[] = {
        &tg_script_load, &tg_script_reserve, &tg_script_extend, &tg_script_settle,
        &tg_script_reset, &tg_script_lapse, &tg_script_trim, &tg_script_begin,
        &tg_script_finish, &tg_script_look};

    for (size_t i = 0; i < TG_COUNT_OF(all); i++)
        if (strcmp(all[i]->name, name) == 0)
            return all[i];
    fail_msg("no script '%s'", name);
    return NULL;
}

void play_start(struct play *play)
{
    *play = (struct play){.server = test_redis_start(), .epoch = "1"};
    play->pool = test_redis_pool(play->server, 2);
}

void play_stop(struct play *play)
{
    tg_kv_pool_free(play->pool);
    test_redis_stop(play->server);
}

void play_reset(struct play *play)
{
    play->epoch = "1";
    play->run = NULL;
    play->until_ms = 0;
    test_redis_say(play->server, "FLUSHALL", NULL);
    play_expect(play, "begin", "state", "", "ok");
    play_expect(play, "finish", "state holds", "''", "ok");
}

void play_load(struct play *play, const char *quota, const char *remain, const char *unlimited)
{
    char args[160];

    snprintf(args, sizeof args, "1 %s 1 2 %s %s 0 0 0", quota, remain, unlimited);
    play_expect(play, "load", "state holds user:1 token:2", args, "ok");
}

static void put_answer(struct play *play, const struct tg_kv_reply *reply)
{
    size_t at = 0;

    for (size_t i = 0; i < tg_kv_len(reply); i++) {
        struct tg_span word = tg_kv_string(tg_kv_at(reply, i));

        at += (size_t)snprintf(play->answer + at, sizeof play->answer - at, "%s%.*s",
                               i > 0 ? " " : "", (int)word.len, word.ptr);
    }
}

struct words {
    struct tg_span list[WORDS];
    size_t count;
};

static void add_word(struct words *words, const char *text)
{
    assert_true(words->count < WORDS);
    words->list[words->count++] =
        (struct tg_span){text, strcmp(text, "''") == 0 ? 0 : strlen(text)};
}

/* Cuts <text> into words; it must outlive them. */
static void add_words(struct words *words, char *text)
{
    char *word;

    while ((word = strsep(&text, " ")) != NULL)
        if (word[0] != '\0')
            add_word(words, word);
}

const char *play_call(struct play *play, const char *script, const char *keys, const char *args)
{
    struct words words = {.count = 0};
    char key_text[512] = "", until[24], *key, *rest, *names = tg_strdup(keys);
    char *given = tg_strdup(args);
    const struct tg_kv_reply *reply;
    struct tg_kv_call call = {.tag = "{s01}", .deadline_at_us = tg_now_us() + CALL_US};
    struct tg_kv *kv;
    size_t key_count, len = 0;

    assert_int_equal(tg_kv_acquire(play->pool, call.deadline_at_us, &kv, NULL), TG_OK);
    for (rest = names; (key = strsep(&rest, " ")) != NULL;)
        len += (size_t)snprintf(key_text + len, sizeof key_text - len, "tg:{s01}:%s ", key);
    add_words(&words, key_text);
    key_count = words.count;
    snprintf(until, sizeof until, "%" PRId64,
             play->until_ms != 0 ? play->until_ms : tg_kv_server_ms(kv) + 60000);
    add_word(&words, play->epoch);
    add_word(&words, play->run != NULL ? play->run : tg_kv_run_id(kv));
    add_word(&words, until);
    add_words(&words, given);
    call.args = words.list;
    call.count = words.count;
    if (tg_kv_run(kv, find_script(script), &call, key_count, &reply) == TG_OK)
        put_answer(play, reply);
    else
        snprintf(play->answer, sizeof play->answer, "%s", tg_kv_error(kv)->message);
    tg_kv_release(kv);
    free(names);
    free(given);
    return play->answer;
}

void play_expect(struct play *play, const char *script, const char *keys, const char *args,
                 const char *answer)
{
    const char *got = play_call(play, script, keys, args);

    if (strcmp(got, answer) != 0)
        fail_msg("%s(%s) answered '%s' instead of '%s'", script, args, got, answer);
}

void play_holds(struct play *play, const char *key, const char *field, const char *value)
{
    char name[96];
    const char *got;

    snprintf(name, sizeof name, "tg:{s01}:%s", key);
    got = test_redis_say(play->server, "HGET", name, field, NULL);
    if (strcmp(got, value) != 0)
        fail_msg("%s %s is '%s' instead of '%s'", key, field, got, value);
}

void play_says(struct play *play, const char *command, const char *key, const char *text)
{
    char name[96];
    const char *got;

    snprintf(name, sizeof name, "tg:{s01}:%s", key);
    got = test_redis_say(play->server, command, name, NULL);
    if (strcmp(got, text) != 0)
        fail_msg("%s %s says '%s' instead of '%s'", command, key, got, text);
}
