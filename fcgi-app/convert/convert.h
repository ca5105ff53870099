/* convert - the facts that converters work from, and what they hand from hop to hop.
 *
 * Converters are pure: values in, values out. Time, random bits and everything known of the model
 * behind the channel come with the context, so that a fixture gives the same bytes every time.
 *
 * Chat with the extensions of PROTOCOLS 0.2 is the hub. A request goes client -> hub -> upstream,
 * an answer the other way; a stream has one hop per direct converter, each with a state of its
 * own. What a hop gives out is an event of the next protocol, or of the client's.
 *
 * Owns     trees given out belong to the receiver; trees given in are borrowed.
 * Threads  one owner per context and hop.  Blocks  no.  Source  PROTOCOLS D0, E.
 */
#ifndef TOLLGATE_CONVERT_CONVERT_H
#define TOLLGATE_CONVERT_CONVERT_H

#include "common/base/arena.h"
#include "common/json/tree.h"
#include "fcgi-app/convert/diagnostic.h"
#include "fcgi-app/convert/protocol.h"

struct tg_toolset;     /* toolset.h */
struct tg_model_facts; /* model_facts.h */

struct tg_convert {
    struct tg_arena *arena; /* of the request; hops keep no pointers into an event */
    struct tg_json *kept;   /* an array of trees that live as long as the context */
    enum tg_protocol client, upstream;
    struct tg_diagnostics *diagnostics;
    const struct tg_toolset *tools;      /* NULL: the request has none */
    const struct tg_json *request;       /* the client's, for what an answer repeats; NULL: none */
    const struct tg_model_facts *model;  /* what the upstream's model can do */
    const char *upstream_model;          /* as the upstream calls it */
    const char *client_model;            /* what the answer calls its model; NULL: leave it */
    const char *random_core;             /* 24 of [A-Za-z0-9]: for an answer without an id */
    int64_t now_unix_s;
    int64_t default_max_tokens;
    bool stream;
    bool include_usage; /* a chat client asked for the usage chunk */
    bool include_thoughts;
    bool several; /* the client asked for more than one answer */
};

/* How the transport, or the hop before, ended. */
enum tg_hop_end { TG_HOP_END_OPEN, TG_HOP_END_DONE, TG_HOP_END_EOF, TG_HOP_END_ERROR };

/* What a hop gives out: events in order, then at most one end. */
struct tg_hop_out {
    void (*event)(void *to, struct tg_json *event); /* takes the event */
    void *to;
    enum tg_hop_end end; /* DONE or ERROR once the hop has ended */
    struct tg_error error;
};

/* The state of one hop begins with this. */
struct tg_hop {
    const struct tg_hop_kind *kind;
    const struct tg_convert *context;
};

struct tg_hop_kind {
    const char *name;  /* "messages_to_chat" */
    size_t state_size; /* of the struct that begins with struct tg_hop; cleared by tg_hop_open */
    void (*feed)(struct tg_hop *hop, const struct tg_json *event, struct tg_hop_out *out);
    /* EOF, DONE or ERROR (then <error> is set); called once. Sets out->end. */
    void (*end)(struct tg_hop *hop, enum tg_hop_end end, const struct tg_error *error,
                struct tg_hop_out *out);
    void (*done)(struct tg_hop *hop); /* NULL: nothing to free */
};

struct tg_hop *tg_hop_open(const struct tg_hop_kind *kind, const struct tg_convert *context)
    must_check non_null(1, 2);
void tg_hop_close(struct tg_hop *hop); /* NULL is fine */

/* The direct converters between the hub and one other protocol. <client> speaks, the channel
 * answers in <upstream>; one of the two is Chat. */
struct tg_converter {
    enum tg_protocol client, upstream;
    char grade; /* A cosmetic loss, B some parameters or features, C the semantics differ */
    /* The client's request in the upstream's protocol. Errors: TG_CLASS_INVALID with param. */
    enum tg_class (*request)(const struct tg_convert *context, const struct tg_json *request,
                             struct tg_json **ret, struct tg_error *err);
    /* A whole answer of the upstream in the client's protocol. Errors: TG_CLASS_TRANSPORT
     * "upstream_invalid", or what the upstream says is wrong. */
    enum tg_class (*answer)(const struct tg_convert *context, const struct tg_json *answer,
                            struct tg_json **ret, struct tg_error *err);
    const struct tg_hop_kind *stream;
};

extern const struct tg_converter tg_convert_messages_chat; /* client Messages, upstream Chat */
extern const struct tg_converter tg_convert_chat_messages; /* client Chat, upstream Messages */
extern const struct tg_converter tg_convert_responses_chat, tg_convert_chat_responses;
extern const struct tg_converter tg_convert_gemini_chat;   /* client Gemini, upstream Chat */
extern const struct tg_converter tg_convert_chat_gemini;   /* client Chat, upstream Gemini */

/* Named for the way of the answer: the upstream's protocol first. */
enum tg_class tg_messages_to_chat_answer(const struct tg_convert *context,
                                         const struct tg_json *answer, struct tg_json **ret,
                                         struct tg_error *err) must_check non_null(1, 2, 3);
enum tg_class tg_chat_to_messages_answer(const struct tg_convert *context,
                                         const struct tg_json *answer, struct tg_json **ret,
                                         struct tg_error *err) must_check non_null(1, 2, 3);
enum tg_class tg_responses_to_chat_answer(const struct tg_convert *context,
                                          const struct tg_json *answer, struct tg_json **ret,
                                          struct tg_error *err) must_check non_null(1, 2, 3);
enum tg_class tg_chat_to_responses_answer(const struct tg_convert *context,
                                          const struct tg_json *answer, struct tg_json **ret,
                                          struct tg_error *err) must_check non_null(1, 2, 3);
enum tg_class tg_gemini_to_chat_answer(const struct tg_convert *context,
                                       const struct tg_json *answer, struct tg_json **ret,
                                       struct tg_error *err) must_check non_null(1, 2, 3);
enum tg_class tg_chat_to_gemini_answer(const struct tg_convert *context,
                                       const struct tg_json *answer, struct tg_json **ret,
                                       struct tg_error *err) must_check non_null(1, 2, 3);

/* Named for the way of the stream: the upstream's protocol first. */
extern const struct tg_hop_kind tg_hop_messages_to_chat, tg_hop_chat_to_messages;
extern const struct tg_hop_kind tg_hop_responses_to_chat, tg_hop_chat_to_responses;
extern const struct tg_hop_kind tg_hop_gemini_to_chat, tg_hop_chat_to_gemini;

#endif
