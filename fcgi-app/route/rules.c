#include "fcgi-app/stages.h"
#include "fcgi-app/worker.h"

/* The plan is the requested model alone. Which groups offer it decides what is said when the
 * requester's own does not. */
static enum tg_class plan(struct tg_request *req, const struct tg_snapshot *snapshot)
{
    const char *ratio = tg_snapshot_ratio(snapshot, req->credential->user_group, req->group);
    size_t count;

    if (!tg_snapshot_knows_model(snapshot, req->model))
        return tg_fail(&req->error, TG_CLASS_NOT_FOUND, "model_not_found",
                       "The model '%s' does not exist.", req->model);
    (void)tg_snapshot_abilities(snapshot, req->group, req->model, &count);
    if (count == 0)
        return tg_fail(&req->error, TG_CLASS_FORBIDDEN, "model_not_allowed",
                       "The model '%s' is not available to your group.", req->model);
    if (ratio == NULL) /* it was allowed a moment ago, at the access stage */
        return tg_fail(&req->error, TG_CLASS_FORBIDDEN, "access_denied",
                       "This API token's group is not available to its account.");
    req->quotes = tg_arena_calloc(req->arena, 1, sizeof *req->quotes);
    req->quotes[0] = (struct tg_quote){.model = req->model,
                                       .group = req->group,
                                       .group_ratio = tg_arena_strdup(req->arena, ratio)};
    req->quote_count = 1;
    return TG_OK;
}

enum tg_verdict tg_stage_rules(struct tg_request *req)
{
    const struct tg_snapshot *snapshot = tg_snapshot_acquire(req->worker->snapshots);
    enum tg_class class;

    if (snapshot == NULL) {
        tg_fail(&req->error, TG_CLASS_DOWN, "no_snapshot", "routing data was never read");
        return TG_ANSWER;
    }
    class = plan(req, snapshot);
    tg_snapshot_release(req->worker->snapshots, snapshot);
    return class == TG_OK ? TG_NEXT : TG_ANSWER;
}
