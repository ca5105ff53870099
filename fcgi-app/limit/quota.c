#include "fcgi-app/stages.h"

/* Tokens per minute, period quotas, daily caps, concurrency: off until set, and none can be set
 * yet. */
enum tg_verdict tg_stage_quota(struct tg_request *req)
{
    (void)req;
    return TG_NEXT;
}
