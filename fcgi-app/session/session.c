#include "fcgi-app/stages.h"

/* Stored turns go in front of the request's own (X-Session-ID): none are stored yet. */
enum tg_verdict tg_stage_session(struct tg_request *req)
{
    (void)req;
    return TG_NEXT;
}
