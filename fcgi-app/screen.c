#include "fcgi-app/stages.h"

/* The operator's word lists: there are none yet. */
enum tg_verdict tg_stage_screen(struct tg_request *req)
{
    (void)req;
    return TG_NEXT;
}
