#include "common/store/story.h"

#include <string.h>

struct words {
    const char *word, *sentence;
};

static const struct words chosen[] = {
    {"pinned", "the token's suffix names it"},
    {"only", "it is the only one that can be used"},
    {"priority", "drawn by weight among the untried ones of the highest priority in turn"},
    {"repeat", "called again, for no untried one was left"},
    {"probe", "its rest after failures is over, and one call finds out whether it works again"},
};

static const struct words again[] = {
    {"channel_error", "the fault is the channel's own, another may do better"},
    {"transport", "no whole answer came"},
    {"status", "another try may help after this status"},
    {"key_error", "the fault is the key's, another may do better"},
};

static const struct words stopped[] = {
    {"committed", "content had gone to the client already, and a second answer must not follow it"},
    {"client_gone", "the client had left"},
    {"strict_session", "the session is bound to this channel"},
    {"pinned", "a channel that is chosen by the token gets one attempt"},
    {"channel_error", "no other channel was left"},
    {"not_retryable", "the request itself was refused: another channel would say the same, and "
                      "nobody is punished for it"},
    {"budget", "the calls, the time or the repeats that a request may have were used up"},
    {"excluded", "after such an end a repeat may cost twice: none is made"},
    {"status_not_retryable", "no try is made again after this status"},
};

static const struct words effects[] = {
    {"breaker_opened", "After this failure the channel rests for the model."},
    {"breaker_closed", "The channel is in use again for the model."},
    {"channel_disable", "The channel is to be disabled: its account was refused."},
};

static const char *say(const struct words *list, size_t count, const char *word)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i].word, word) == 0)
            return list[i].sentence;
    return word;
}
#define SAY(list, word) say(list, TG_COUNT_OF(list), word)

static const char *text_of(const struct tg_json *object, const char *key)
{
    struct tg_span text;

    return tg_json_get_string(object, key, &text) == TG_JSON_GOT ? text.ptr : "";
}

static int64_t number_of(const struct tg_json *object, const char *key)
{
    int64_t number = 0;

    return tg_json_get_int(object, key, &number) == TG_JSON_GOT ? number : 0;
}

static void put_seconds(struct tg_buf *out, int64_t us)
{
    tg_buf_printf(out, "%lld.%03lld s", (long long)(us / 1000000),
                  (long long)(us / 1000 % 1000));
}

static void write_line(struct tg_json_writer *out, struct tg_buf *line)
{
    tg_json_write_strn(out, tg_buf_text(line), line->len);
    tg_buf_reset(line);
}

static void tell_question(const struct tg_json *request, struct tg_buf *line)
{
    const char *group = text_of(request, "group_name");
    bool stream = false;

    if (tg_json_get_bool(request, "stream", &stream) != TG_JSON_GOT)
        stream = number_of(request, "stream") != 0;
    tg_buf_printf(line, "The client asked for %s%s",
                  text_of(request, "requested_model")[0] != '\0'
                      ? text_of(request, "requested_model")
                      : "no model",
                  stream ? " as a stream" : "");
    tg_buf_printf(line, group[0] != '\0' ? ", in the group %s." : ".%s", group);
}

static void tell_choice(const struct tg_json *attempt, struct tg_buf *line)
{
    const char *name = text_of(attempt, "channel_name"), *hint = text_of(attempt, "key_hint");
    int64_t resting = number_of(attempt, "resting");

    tg_buf_printf(line, "Call %lld went to channel %lld", (long long)number_of(attempt, "number"),
                  (long long)number_of(attempt, "channel_id"));
    if (name[0] != '\0')
        tg_buf_printf(line, " (%s)", name);
    if (hint[0] != '\0')
        tg_buf_printf(line, " with the key …%s", hint);
    tg_buf_printf(line, ", tier %lld", (long long)number_of(attempt, "tier") + 1);
    if (text_of(attempt, "group")[0] != '\0')
        tg_buf_printf(line, " of the group %s", text_of(attempt, "group"));
    if (text_of(attempt, "chosen")[0] != '\0')
        tg_buf_printf(line, ": %s", SAY(chosen, text_of(attempt, "chosen")));
    if (resting > 0)
        tg_buf_printf(line, " (%lld of %lld rested after failures)", (long long)resting,
                      (long long)number_of(attempt, "channels"));
    tg_buf_char(line, '.');
}

static void tell_failure(const struct tg_json *attempt, struct tg_buf *line)
{
    int64_t status = number_of(attempt, "status");
    const char *reason = text_of(attempt, "reason");
    bool retry = strcmp(text_of(attempt, "action"), "retry") == 0;

    tg_buf_str(line, "It failed after ");
    put_seconds(line, number_of(attempt, "elapsed_us"));
    if (status != 0)
        tg_buf_printf(line, " with status %lld", (long long)status);
    tg_buf_printf(line, ": %s (%s). ", text_of(attempt, "error_code"), text_of(attempt, "source"));
    tg_buf_printf(line, retry ? "It was tried again: %s." : "It was not tried again: %s.",
                  retry ? SAY(again, reason) : SAY(stopped, reason));
}

static void tell_outcome(const struct tg_json *attempt, struct tg_buf *line)
{
    bool maybe = false;

    if (strcmp(text_of(attempt, "action"), "success") == 0) {
        tg_buf_str(line, "It served the request, in ");
        put_seconds(line, number_of(attempt, "elapsed_us"));
        tg_buf_char(line, '.');
    } else {
        tell_failure(attempt, line);
    }
    if (text_of(attempt, "effect")[0] != '\0')
        tg_buf_printf(line, " %s", SAY(effects, text_of(attempt, "effect")));
    if (tg_json_get_bool(attempt, "maybe_accepted", &maybe) == TG_JSON_GOT && maybe)
        tg_buf_str(line, " The upstream may have charged for it.");
}

/* A group that had nothing (more) to choose from. */
static void tell_nothing(const struct tg_json *event, struct tg_buf *line)
{
    tg_buf_printf(line, "No channel of the group %s was left for %s", text_of(event, "group"),
                  text_of(event, "model"));
    tg_buf_printf(line, ": %lld can serve it, %lld of them rest after failures.",
                  (long long)number_of(event, "channels"), (long long)number_of(event, "resting"));
    if (strcmp(text_of(event, "action"), "next_group") == 0)
        tg_buf_str(line, " The next group of the token was looked at.");
}

static void tell_end(const struct tg_json *request, struct tg_buf *line)
{
    const char *code = text_of(request, "error_code");

    tg_buf_printf(line, "The client got status %lld", (long long)number_of(request, "status"));
    if (code[0] != '\0')
        tg_buf_printf(line, " (%s)", code);
    tg_buf_str(line, " after ");
    put_seconds(line, number_of(request, "total_us"));
    tg_buf_printf(line, " and was charged %lld quota.", (long long)number_of(request, "quota"));
}

void tg_story_write(const struct tg_json *request, struct tg_json_writer *out)
{
    const struct tg_json *attempts = NULL;
    struct tg_buf line;
    size_t count = tg_json_get_array(request, "attempts_json", &attempts) == TG_JSON_GOT
                       ? tg_json_array_len(attempts)
                       : 0;

    tg_buf_init(&line, 0);
    tg_json_begin_array(out);
    tell_question(request, &line);
    write_line(out, &line);
    for (size_t i = 0; i < count; i++) {
        const struct tg_json *attempt = tg_json_array_at(attempts, i);

        if (number_of(attempt, "channel_id") == 0) {
            tell_nothing(attempt, &line);
        } else {
            tell_choice(attempt, &line);
            write_line(out, &line);
            tell_outcome(attempt, &line);
        }
        write_line(out, &line);
    }
    if (count == 0) {
        tg_buf_str(&line, "No upstream was called.");
        write_line(out, &line);
    }
    tell_end(request, &line);
    write_line(out, &line);
    tg_json_end_array(out);
    tg_buf_done(&line);
}
