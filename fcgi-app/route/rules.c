#include "fcgi-app/stages.h"
#include "fcgi-app/worker.h"

/* A quote for the model in every group of the request that offers it. False: none does. */
static bool quote_groups(struct tg_request *req, const struct tg_snapshot *snapshot)
{
    size_t count;

    req->quotes = tg_arena_calloc(req->arena, req->group_count, sizeof *req->quotes);
    req->quote_count = 0;
    for (size_t i = 0; i < req->group_count; i++) {
        const char *ratio =
            tg_snapshot_ratio(snapshot, req->credential->user_group, req->groups[i]);

        (void)tg_snapshot_abilities(snapshot, req->groups[i], req->model, &count);
        if (count == 0 || ratio == NULL)
            continue;
        req->quotes[req->quote_count++] =
            (struct tg_quote){.model = req->model,
                              .group = req->groups[i],
                              .group_ratio = tg_arena_strdup(req->arena, ratio)};
    }
    return req->quote_count > 0;
}

/* Was a group taken away since the access stage, a moment ago? */
static bool lost_all_groups(const struct tg_request *req, const struct tg_snapshot *snapshot)
{
    for (size_t i = 0; i < req->group_count; i++)
        if (tg_snapshot_ratio(snapshot, req->credential->user_group, req->groups[i]) != NULL)
            return false;
    return true;
}

/* The plan is the requested model alone. Which groups offer it decides what is said when the
 * requester's own do not. */
static enum tg_class plan(struct tg_request *req, const struct tg_snapshot *snapshot)
{
    if (!tg_snapshot_knows_model(snapshot, req->model))
        return tg_fail(&req->error, TG_CLASS_NOT_FOUND, "model_not_found",
                       "The model '%s' does not exist.", req->model);
    if (quote_groups(req, snapshot))
        return TG_OK;
    if (lost_all_groups(req, snapshot))
        return tg_fail(&req->error, TG_CLASS_FORBIDDEN, "access_denied",
                       "This API token's group is not available to its account.");
    return tg_fail(&req->error, TG_CLASS_FORBIDDEN, "model_not_allowed",
                   "The model '%s' is not available to your group.", req->model);
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
