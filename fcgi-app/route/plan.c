#include "fcgi-app/stages.h"

/* The plan of a request: the models to try, in order. Without an operator's rules it is the model
 * that was asked for. */
enum tg_verdict tg_stage_rules(struct tg_request *req)
{
    req->quotes = tg_arena_calloc(req->arena, 1, sizeof *req->quotes);
    req->quotes[0].model = req->model;
    req->quotes[0].group = req->group;
    req->quote_count = 1;
    return TG_NEXT;
}
