/* answers - what the gateway answers by itself, each complete in req->tail or req->error.
 *
 * Threads  the request's.  Blocks  ready, metrics: on the stores, a second at most each.
 */
#ifndef TOLLGATE_ANSWERS_H
#define TOLLGATE_ANSWERS_H

#include "fcgi-app/request.h"

/* {"input_tokens"} of a prompt: of an upstream that speaks the client's protocol, else by a count
 * of our own, which says so in a header. Blocks as long as the upstream may take. */
void tg_answer_count(struct tg_request *req) non_null(1);
void tg_answer_models(struct tg_request *req) non_null(1);  /* list, or one model */
void tg_answer_health(struct tg_request *req) non_null(1);  /* "ok": this process answers */
void tg_answer_ready(struct tg_request *req) non_null(1);   /* JSON; 503: send no traffic here */
void tg_answer_metrics(struct tg_request *req) non_null(1); /* Prometheus text */
/* A call of the console, signed with the internal key. */
void tg_answer_channel_test(struct tg_request *req) non_null(1);

#endif
