/* endpoint - which protocol and operation is this path? One table.
 *
 * The path comes from REQUEST_URI (PATH_INFO and SCRIPT_NAME differ between web servers); a
 * doubled slash and a doubled /v1 are tolerated (PROTOCOLS A1).
 */
#ifndef TOLLGATE_ENDPOINT_H
#define TOLLGATE_ENDPOINT_H

#include "fcgi-app/convert/protocol.h"
#include "fcgi-app/request.h"

enum tg_operation {
    TG_OPERATION_GENERATE,     /* relayed and billed */
    TG_OPERATION_COUNT,        /* tokens of a prompt; free */
    TG_OPERATION_MODELS,       /* list or one model */
    TG_OPERATION_HEALTH,       /* /healthz */
    TG_OPERATION_READY,        /* /readyz */
    TG_OPERATION_METRICS,      /* /metrics */
    TG_OPERATION_CHANNEL_TEST, /* internal, signed by the console's key */
    TG_OPERATION_ABSENT        /* knowingly not offered: 501 */
};

struct tg_endpoint {
    const char *name; /* for the record: "chat_completions" */
    const char *method;
    const char *path; /* a star matches the rest, up to what stands behind it */
    enum tg_protocol protocol;
    enum tg_operation operation;
};

/* Brings a decoded path into the table's form, in place: "//v1//v1/models/" is "/v1/models". */
void tg_endpoint_tidy(char *path) non_null(1);
/* Pure, <path> is tidy. NULL: unknown path; *ret_method_wrong tells 405 from 404. */
const struct tg_endpoint *tg_endpoint_find(const char *method, const char *path,
                                           bool *ret_method_wrong) must_check non_null(1, 2, 3);
/* The same operation as a client of <protocol> knows it; <endpoint> itself when it has one form. */
const struct tg_endpoint *tg_endpoint_of(const struct tg_endpoint *endpoint,
                                         enum tg_protocol protocol) must_check non_null(1);
/* Its body is a prompt for a model. */
bool tg_endpoint_asks_model(const struct tg_endpoint *endpoint) must_check non_null(1);
/* The path itself asks for a stream: in other protocols the body does. */
bool tg_endpoint_streams(const struct tg_endpoint *endpoint) must_check non_null(1);
/* What the star of the endpoint's path stands for in <path>, to its end; "" without a star. */
const char *tg_endpoint_rest(const struct tg_endpoint *endpoint, const char *path) non_null(1, 2);
/* The same without what the endpoint's path has behind its star: a model's name. */
const char *tg_endpoint_model(struct tg_arena *arena, const struct tg_endpoint *endpoint,
                              const char *path) must_check non_null(1, 2, 3);
/* The methods that <path> has, for the Allow header of a 405: "GET, POST". */
void tg_endpoint_allow(const char *path, char *text, size_t room) non_null(1, 2);

#endif
