#include "fcgi-app/stages.h"

/* The plan is the requested model alone; whether it is known and offered is estimate's question,
 * which reads the snapshot for its price anyway. */
enum tg_verdict tg_stage_rules(struct tg_request *req)
{
    req->quotes = tg_arena_calloc(req->arena, 1, sizeof *req->quotes);
    req->quotes[0] = (struct tg_quote){.model = req->model, .group = req->group};
    req->quote_count = 1;
    return TG_NEXT;
}
