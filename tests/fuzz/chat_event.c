/* Chat events, answers, error bodies and splices of any bytes: no read outside, and what comes
 * out of a clean text is clean. */
#include "tests/fuzz/fuzz.h"

#include "common/json/scan.h"
#include "fcgi-app/convert/chat_event.h"
#include "fcgi-app/convert/error_body.h"
#include "fcgi-app/convert/splice.h"

#include <string.h>

static void check_event(const struct tg_chat_event *event)
{
    const struct tg_usage *usage = &event->usage;

    tg_assert(!event->malformed ||
              (!event->done && !event->has_error && !event->has_usage && event->content == 0));
    tg_assert(!event->has_usage || !tg_usage_is_empty(usage));
    tg_assert(usage->input >= 0 && usage->input <= TG_USAGE_TOKENS_MAX);
    tg_assert(usage->output >= 0 && usage->output <= TG_USAGE_TOKENS_MAX);
    tg_assert(tg_usage_base_tokens(usage) <= usage->input);
}

static void check_error(struct tg_span text)
{
    struct tg_error err;

    tg_error_body_read(400, text, &err);
    tg_assert(err.status == 400 && err.code[0] != '\0' && err.type[0] != '\0');
    tg_assert(memchr(err.message, '\0', sizeof(err.message)) != NULL);
}

static void check_splice(struct tg_span text, struct tg_buf *out)
{
    const struct tg_splice what = {"n\"ame", true};
    struct tg_arena *arena = tg_arena_new();
    bool clean = tg_json_check(text.ptr, text.len, NULL) == TG_OK;
    struct tg_pieces pieces;

    tg_buf_reset(out);
    tg_chat_event_rename(text, "n\"ame", out);
    tg_assert(!clean || tg_json_check(tg_buf_text(out), out->len, NULL) == TG_OK);
    tg_buf_reset(out);
    if (tg_splice_chat(text, &what, arena, &pieces, NULL) == TG_OK) {
        for (size_t i = 0; i < pieces.count; i++)
            tg_buf_add(out, pieces.spans[i].ptr, pieces.spans[i].len);
        tg_assert(!clean || tg_json_check(tg_buf_text(out), out->len, NULL) == TG_OK);
    }
    tg_arena_free(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct tg_span text = {(const char *)bytes, len};
    struct tg_chat_event event;
    struct tg_buf content;

    tg_buf_init(&content, 0);
    tg_chat_event_read(text, &event, &content);
    check_event(&event);
    tg_assert(content.len <= len * 2); /* no text is made up */
    tg_chat_answer_read(text, &event, NULL);
    check_event(&event);
    check_error(text);
    check_splice(text, &content);
    tg_buf_done(&content);
    return 0;
}
