#include "common/ledger/step.h"

#include "common/base/clock.h"

#include <string.h>

enum { INT_TEXT = 20 };

static const char *const words[] = {
    [TG_WORD_OK] = "ok",
    [TG_WORD_LATE] = "late",
    [TG_WORD_REBUILDING] = "rebuilding",
    [TG_WORD_MISSING] = "missing",
    [TG_WORD_BOUNDS] = "bounds",
    [TG_WORD_ENDED] = "ended",
    [TG_WORD_DUPLICATE] = "duplicate",
    [TG_WORD_STALE] = "stale",
    [TG_WORD_USER_SHORT] = "user_short",
    [TG_WORD_TOKEN_SHORT] = "token_short",
    [TG_WORD_CLAMPED] = "clamped",
    [TG_WORD_PLAN] = "plan",
    [TG_WORD_MISMATCH] = "mismatch",
    [TG_WORD_FENCED] = "fenced",
};

const char *tg_step_word_name(enum tg_step_word word)
{
    return words[word];
}

void tg_step_begin(struct tg_step *step, const struct tg_kv_script *script, int shard)
{
    tg_assert(shard >= 0 && shard < 100);
    step->script = script;
    memcpy(step->tag, "{s00}", sizeof "{s00}");
    step->tag[2] = (char)('0' + shard / 10);
    step->tag[3] = (char)('0' + shard % 10);
    step->key_count = step->count = step->text_len = 0;
}

void tg_step_span(struct tg_step *step, const void *ptr, size_t len)
{
    tg_assert(step->count < TG_STEP_PARTS);
    step->parts[step->count++] = (struct tg_span){ptr, len};
}

/* ---- texts are written by hand: a step has about twenty, and printf takes longer than Redis */

static void put(struct tg_step *step, const char *text, size_t len)
{
    tg_assert(len <= sizeof step->text - step->text_len);
    memcpy(step->text + step->text_len, text, len);
    step->text_len += len;
}

static size_t int_text(int64_t value, char ret[INT_TEXT])
{
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    char digits[INT_TEXT];
    size_t at = sizeof digits;

    do
        digits[--at] = (char)('0' + rest % 10);
    while ((rest /= 10) != 0);
    if (value < 0)
        digits[--at] = '-';
    memcpy(ret, digits + at, sizeof digits - at);
    return sizeof digits - at;
}

static void put_int(struct tg_step *step, int64_t value)
{
    char text[INT_TEXT];

    put(step, text, int_text(value, text));
}

/* "tg:{s17}:user" */
static void put_key(struct tg_step *step, const char *name)
{
    put(step, "tg:", 3);
    put(step, step->tag, 5);
    put(step, ":", 1);
    put(step, name, strlen(name));
}

/* What was put since <from> is the next part. */
static void add_part(struct tg_step *step, size_t from)
{
    tg_step_span(step, step->text + from, step->text_len - from);
}

void tg_step_key(struct tg_step *step, const char *name)
{
    size_t from = step->text_len;

    put_key(step, name);
    add_part(step, from);
    step->key_count = step->count;
}

void tg_step_key_of(struct tg_step *step, const char *name, int64_t id)
{
    size_t from = step->text_len;

    put_key(step, name);
    put(step, ":", 1);
    put_int(step, id);
    add_part(step, from);
    step->key_count = step->count;
}

void tg_step_fence(struct tg_step *step)
{
    for (int i = 0; i < 3; i++)
        tg_step_span(step, "", 0);
}

void tg_step_int(struct tg_step *step, int64_t value)
{
    size_t from = step->text_len;

    put_int(step, value);
    add_part(step, from);
}

static bool read_outcome(const struct tg_kv_reply *reply, struct tg_outcome *ret)
{
    size_t count = tg_kv_len(reply);
    struct tg_span word;
    size_t i = 0;

    if (count == 0)
        return false;
    word = tg_kv_string(tg_kv_at(reply, 0));
    while (i < TG_COUNT_OF(words) &&
           (strlen(words[i]) != word.len || memcmp(words[i], word.ptr, word.len) != 0))
        i++;
    if (i == TG_COUNT_OF(words))
        return false;
    *ret = (struct tg_outcome){.word = (enum tg_step_word)i};
    for (i = 1; i < count && i <= TG_STEP_NUMBERS; i++)
        if (!tg_kv_int(tg_kv_at(reply, i), &ret->numbers[i - 1]))
            return false;
    return true;
}

static enum tg_class run_once(struct tg_step *step, struct tg_kv *kv, int64_t epoch,
                              int64_t deadline_at_us, struct tg_outcome *ret)
{
    int64_t left_ms = (deadline_at_us - tg_now_us()) / 1000;
    char epoch_text[INT_TEXT], until_text[INT_TEXT];
    const char *run_id = tg_kv_run_id(kv);
    struct tg_span *fence = step->parts + step->key_count;
    const struct tg_kv_reply *reply;
    enum tg_class class;

    fence[0] = (struct tg_span){epoch_text, int_text(epoch, epoch_text)};
    fence[1] = (struct tg_span){run_id, strlen(run_id)};
    fence[2] =
        (struct tg_span){until_text, int_text(tg_kv_server_ms(kv) + left_ms, until_text)};
    class = tg_kv_run(kv, step->script,
                      &(struct tg_kv_call){.tag = step->tag,
                                           .args = step->parts,
                                           .count = step->count,
                                           .deadline_at_us = deadline_at_us},
                      step->key_count, &reply);
    tg_assert(class != TG_OK || read_outcome(reply, ret));
    return class;
}

enum tg_class tg_step_run(struct tg_step *step, struct tg_kv *kv, int64_t epoch,
                          int64_t deadline_at_us, struct tg_outcome *ret)
{
    enum tg_class class = run_once(step, kv, epoch, deadline_at_us, ret);

    if (class != TG_OK || ret->word != TG_WORD_LATE)
        return class;
    class = tg_kv_sync_clock(kv, deadline_at_us, NULL);
    return class == TG_OK ? run_once(step, kv, epoch, deadline_at_us, ret) : class;
}
