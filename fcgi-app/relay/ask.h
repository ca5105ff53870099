/* ask - one call beside the attempt loop: nobody is billed for it, nothing of it is streamed.
 *
 * Threads  the request's.  Blocks  for limit_us at most between signs of life.
 */
#ifndef TOLLGATE_RELAY_ASK_H
#define TOLLGATE_RELAY_ASK_H

#include "fcgi-app/provider/provider.h"
#include "fcgi-app/request.h"

#include <stdatomic.h>

struct tg_ask {
    /* set by the caller */
    const struct tg_channel *channel;
    const struct tg_provider_call *call;
    int64_t limit_us;
    const char *method;      /* NULL: POST */
    const atomic_bool *stop; /* once it is true the call ends at once; NULL: none */
    size_t most; /* bytes of the answer that are kept; the rest is not waited for */
    /* result */
    struct tg_buf body; /* tg_ask_done frees it */
    struct tg_http_result http;
    int64_t took_us;
    struct tg_error error; /* class TG_OK: an answer of status 2xx that is JSON and no error */
};

void tg_ask_run(struct tg_request *req, struct tg_ask *ask) non_null(1, 2);
void tg_ask_done(struct tg_ask *ask) non_null(1);

#endif
