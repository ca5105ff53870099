/* hub - pieces of the hub's language (Chat with extensions) that several converters make.
 *
 * Keys that begin with "x_" are the hub's own: they never reach a wire (tg_chat_strip).
 *
 * Pure.  Owns  trees given out are the caller's.  Threads  any.  Source  PROTOCOLS 0.2, 0.4, C3.
 */
#ifndef TOLLGATE_CONVERT_HUB_H
#define TOLLGATE_CONVERT_HUB_H

#include "fcgi-app/convert/convert.h"

/* An id without the prefix of its protocol: "msg_c1", "chatcmpl-c1" and "resp_c1" are "c1". */
struct tg_span tg_id_core(struct tg_span id);
/* <prefix> and the core of <id>; without an id the context's random one. */
const char *tg_id_make(const struct tg_convert *context, const char *prefix, struct tg_span id)
    must_check non_null(1, 2);

/* What every chunk of one stream says. */
struct tg_chunk_head {
    const char *id, *model;
    int64_t created_unix_s;
};
/* {"id":…,"object":"chat.completion.chunk",…,"choices":[{"index":0,"delta":…,"finish_reason":…}]}.
 * Takes <delta>; <finish> NULL writes null. */
struct tg_json *tg_chunk(const struct tg_chunk_head *head, int64_t index, struct tg_json *delta,
                         const char *finish) must_check non_null(1, 3);
/* The same with one string in its delta. */
struct tg_json *tg_chunk_text(const struct tg_chunk_head *head, const char *key,
                              struct tg_span text) must_check non_null(1, 2);
/* The chunk behind the last one: no choices, usage. Takes <usage>. */
struct tg_json *tg_chunk_usage(const struct tg_chunk_head *head, struct tg_json *usage) must_check
    non_null(1, 2);
struct tg_json *tg_chunk_choice(struct tg_json *chunk) must_check non_null(1); /* borrowed */

/* P, R, W, C, T of PROTOCOLS C3: everything read, of it read from and written to a cache,
 * everything generated, of it reasoning. */
struct tg_hub_usage {
    int64_t read, cached, written, generated, reasoning;
};
/* Numbers that are absent, null or no integers count 0. Parts are cut to their whole. */
struct tg_hub_usage tg_usage_of_chat(const struct tg_json *usage) non_null(1);
struct tg_hub_usage tg_usage_of_messages(const struct tg_json *usage) non_null(1);
struct tg_json *tg_usage_to_chat(const struct tg_hub_usage *usage) must_check non_null(1);
struct tg_json *tg_usage_to_messages(const struct tg_hub_usage *usage) must_check non_null(1);

/* "stop" for an end_turn …; NULL: no such word. */
const char *tg_finish_of_messages(struct tg_span stop_reason);
/* Why a message ended, from what Chat says. Sets stop_reason, stop_sequence and, for a refusal,
 * stop_details. */
struct tg_stop_facts {
    struct tg_span finish; /* "" when there was none */
    struct tg_span stop_sequence, refusal;
    bool has_calls;
};
void tg_stop_set(const struct tg_stop_facts *facts, struct tg_json *to) non_null(1, 2);

/* An error object of Messages ({"type":…,"message":…}) in our words. */
void tg_error_of_messages(const struct tg_json *error, struct tg_error *ret) non_null(1, 2);
/* The upstream's stream was cut. */
void tg_error_truncated(struct tg_error *ret) non_null(1);

/* TG_CLASS_INVALID "invalid_request": "<param> <problem>". */
enum tg_class tg_hub_invalid(struct tg_error *err, const char *param, const char *problem)
    must_check non_null(2, 3);
/* Keeps <value> as long as the context: it is freed with tg_convert_done. */
const struct tg_json *tg_hub_keep(const struct tg_convert *context, struct tg_json *value)
    must_check non_null(1, 2);

/* The arguments of a call as an object; what is none goes into {"_raw_arguments":…} and is noted at
 * <path>. */
struct tg_json *tg_hub_arguments(const struct tg_convert *context, struct tg_span text,
                                 const char *path) must_check non_null(1, 3);
/* A list that has elements; takes <list>. */
void tg_hub_set_list(struct tg_json *object, const char *key, struct tg_json *list)
    non_null(1, 2, 3);
/* "model": what the client calls it, else what <from> says. */
void tg_hub_set_model(const struct tg_convert *context, struct tg_json *to,
                      const struct tg_json *from) non_null(1, 2, 3);

/* A string member that is filled; false when it is absent, null, empty or no string. */
bool tg_hub_text(const struct tg_json *object, const char *key, struct tg_span *ret)
    non_null(1, 2, 3);
/* The same; "" instead of false. */
struct tg_span tg_hub_span(const struct tg_json *object, const char *key) non_null(1, 2);
bool tg_hub_is(const struct tg_json *object, const char *key, const char *word) non_null(1, 2, 3);
int64_t tg_hub_int(const struct tg_json *object, const char *key, int64_t otherwise)
    non_null(1, 2);

#endif
