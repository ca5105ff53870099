/* registry - the way from a client's protocol to a channel's, and back.
 *
 * One table of direct converters and of compositions through the hub. A matrix that is broken
 * (two routes for a pair, a route that is both direct and composed, steps that do not meet) is
 * found at start-up, not by a request.
 *
 *     route = tg_route_find(TG_PROTOCOL_MESSAGES, TG_PROTOCOL_CHAT);
 *     tg_route_request(route, &context, request, &converted, &err);
 *     chain = tg_chain_open(route, &context, on_event, to);
 *     while (…) tg_chain_feed(chain, event);
 *     tg_chain_end(chain, TG_HOP_END_EOF, NULL);
 *     tg_chain_close(chain);
 *
 * Threads  any; a chain has one owner.  Blocks  no.  Source  PROTOCOLS E.
 */
#ifndef TOLLGATE_CONVERT_REGISTRY_H
#define TOLLGATE_CONVERT_REGISTRY_H

#include "fcgi-app/convert/convert.h"

enum { TG_ROUTE_STEPS = 2 };

struct tg_route {
    enum tg_protocol client, upstream;
    /* In the order of a request: the first step takes the client's protocol. None: same protocol,
     * nothing is converted. */
    const struct tg_converter *steps[TG_ROUTE_STEPS];
    size_t step_count;
};

/* NULL: there is no way. Equal protocols have a route without steps. */
const struct tg_route *tg_route_find(enum tg_protocol client, enum tg_protocol upstream);
char tg_route_grade(const struct tg_route *route) non_null(1); /* the worst of its steps */
/* What is wrong with a table; NULL: nothing. */
const char *tg_routes_check(const struct tg_route *table, size_t count) non_null(1);
/* The same of this program's own table: a program that has routes looks before it serves. */
const char *tg_routes_problem(void);

enum tg_class tg_route_request(const struct tg_route *route, const struct tg_convert *context,
                               const struct tg_json *request, struct tg_json **ret,
                               struct tg_error *err) must_check non_null(1, 2, 3, 4);
enum tg_class tg_route_answer(const struct tg_route *route, const struct tg_convert *context,
                              const struct tg_json *answer, struct tg_json **ret,
                              struct tg_error *err) must_check non_null(1, 2, 3, 4);

/* The hops of one stream. */
struct tg_chain;
typedef void tg_chain_event_fn(void *to, const struct tg_json *event);

struct tg_chain *tg_chain_open(const struct tg_route *route, const struct tg_convert *context,
                               tg_chain_event_fn *event, void *to) must_check non_null(1, 2, 3);
void tg_chain_close(struct tg_chain *chain); /* NULL is fine */
/* One event of the upstream. False: the stream has ended, stop reading. */
bool tg_chain_feed(struct tg_chain *chain, const struct tg_json *event) must_check non_null(1, 2);
/* The transport has ended: DONE ("[DONE]" was read), EOF, or ERROR with <error>. After the end
 * of the chain a no-op. */
void tg_chain_end(struct tg_chain *chain, enum tg_hop_end end, const struct tg_error *error)
    non_null(1);
/* How the chain ended: OPEN, DONE or ERROR; <ret_error> (NULL allowed) is set for ERROR. */
enum tg_hop_end tg_chain_state(const struct tg_chain *chain, struct tg_error *ret_error)
    non_null(1);

#endif
