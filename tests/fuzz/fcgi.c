/* Records of a FastCGI peer: the same however they are cut, bounded whatever they claim. */
#include "tests/fuzz/fuzz.h"

#include "common/fcgi/records.h"

#include <string.h>

struct outcome {
    unsigned events; /* a sum over what was said, in order */
    struct tg_buf body, params, replies;
    int id;
    enum tg_fcgi_flaw flaw;
};

static void check_pairs(const struct tg_buf *params)
{
    tg_assert(params->len <= TG_FCGI_PARAMS_BYTES);
}

static void keep_replies(struct tg_fcgi_records *records, struct outcome *outcome)
{
    tg_buf_add(&outcome->replies, tg_buf_text(&records->reply), records->reply.len);
    tg_buf_reset(&records->reply);
}

static void play(const uint8_t *bytes, size_t len, size_t step, struct outcome *outcome)
{
    struct tg_fcgi_records records;
    enum tg_fcgi_event event = TG_FCGI_MORE;

    memset(outcome, 0, sizeof *outcome);
    tg_fcgi_records_init(&records);
    for (size_t at = 0; at < len && event != TG_FCGI_REFUSED;) {
        size_t used;
        struct tg_span piece;

        event = tg_fcgi_records_feed(&records, bytes + at, TG_MIN(step, len - at), &used, &piece);
        tg_assert(used <= TG_MIN(step, len - at));
        at += used;
        if (event == TG_FCGI_BODY)
            tg_buf_add(&outcome->body, piece.ptr, piece.len);
        else if (event != TG_FCGI_MORE)
            outcome->events = outcome->events * 31 + (unsigned)event + 1;
        check_pairs(&records.params);
        keep_replies(&records, outcome);
        if (event == TG_FCGI_END || event == TG_FCGI_ABORTED) {
            tg_buf_add(&outcome->params, tg_buf_text(&records.params), records.params.len);
            outcome->flaw = records.flaw;
            outcome->id = records.id;
            tg_fcgi_records_next(&records);
        }
    }
    keep_replies(&records, outcome);
    tg_fcgi_records_done(&records);
}

static void is_same(const struct tg_buf *a, const struct tg_buf *b)
{
    tg_assert(a->len == b->len && memcmp(tg_buf_text(a), tg_buf_text(b), a->len) == 0);
}

static void done(struct outcome *outcome)
{
    tg_buf_done(&outcome->body);
    tg_buf_done(&outcome->params);
    tg_buf_done(&outcome->replies);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct outcome whole, cut;

    play(bytes, len, SIZE_MAX, &whole);
    for (size_t step = 1; step <= 7; step += 3) {
        play(bytes, len, step, &cut);
        tg_assert(whole.events == cut.events && whole.id == cut.id && whole.flaw == cut.flaw);
        is_same(&whole.body, &cut.body);
        is_same(&whole.params, &cut.params);
        is_same(&whole.replies, &cut.replies);
        done(&cut);
    }
    done(&whole);
    return 0;
}
