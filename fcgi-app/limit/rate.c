#include "fcgi-app/stages.h"

/* Requests per window of a user and a token: off until a limit is set, and none can be set yet. */
enum tg_verdict tg_stage_rate(struct tg_request *req)
{
    (void)req;
    return TG_NEXT;
}
