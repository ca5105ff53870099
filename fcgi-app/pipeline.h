/* pipeline - one request from accept to finish: the stages in their order.
 *
 * End of a request, in this order, so that a client that asks again at once finds its money back
 * and nothing is owed while the peer may stall us: bill and record -> spool line -> settle ->
 * last bytes and END_REQUEST -> side effects -> finish. Source  AMENDMENTS L12.
 *
 * Threads  the one that accepted the request.  Blocks  as long as the request takes.
 */
#ifndef TOLLGATE_PIPELINE_H
#define TOLLGATE_PIPELINE_H

#include "fcgi-app/request.h"

/* <arena> is empty and is reset by the caller afterwards. */
void tg_pipeline_serve(struct tg_worker *worker, struct tg_arena *arena, struct tg_fcgi *fcgi)
    non_null(1, 2, 3);

#endif
