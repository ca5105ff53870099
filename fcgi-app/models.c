#include "common/json/writer.h"
#include "fcgi-app/access/access.h"
#include "fcgi-app/answers.h"
#include "fcgi-app/endpoint.h"
#include "fcgi-app/reply.h"
#include "fcgi-app/worker.h"

#include <string.h>

/* The models that the group offers and the token may use; of one name, or all, on one page. */
struct listing {
    struct tg_request *req;
    struct tg_json_writer json;
    bool of_messages; /* as Anthropic lists them, else as OpenAI does */
    const char *only; /* NULL: all */
    const char *first, *last; /* of those that were found; NULL: none */
    const struct tg_snapshot *snapshot;
    size_t at; /* the group whose models are visited */
};

/* As Google lists them; what it knows of limits is not known here. */
static void write_gemini(struct tg_json_writer *json, struct tg_arena *arena, const char *name)
{
    static const char *const methods[] = {"generateContent", "countTokens"};

    tg_json_begin_object(json);
    tg_json_put_str(json, "name", tg_arena_printf(arena, "models/%s", name));
    tg_json_put_str(json, "version", "001");
    tg_json_put_str(json, "displayName", name);
    tg_json_key(json, "supportedGenerationMethods");
    tg_json_begin_array(json);
    for (size_t i = 0; i < TG_COUNT_OF(methods); i++)
        tg_json_write_str(json, methods[i]);
    tg_json_end_array(json);
    tg_json_end_object(json);
}

static void write_model(const struct listing *listing, struct tg_json_writer *json,
                        const char *name)
{
    tg_json_begin_object(json);
    tg_json_put_str(json, "id", name);
    if (listing->of_messages) {
        tg_json_put_str(json, "type", "model");
        tg_json_put_str(json, "display_name", name);
        tg_json_put_str(json, "created_at", "1970-01-01T00:00:00Z"); /* that is: not known */
        tg_json_put_str(json, "lifecycle", "active");
    } else {
        tg_json_put_str(json, "object", "model");
        tg_json_put_int(json, "created", 0);
        tg_json_put_str(json, "owned_by", "tollgate");
    }
    tg_json_end_object(json);
}

static bool is_gemini(const struct tg_request *req)
{
    return req->endpoint->protocol == TG_PROTOCOL_GEMINI;
}

/* By a group before this one. */
static bool was_listed(const struct listing *listing, const char *model)
{
    for (size_t i = 0; i < listing->at; i++)
        if (tg_snapshot_has_exact(listing->snapshot, listing->req->groups[i], model))
            return true;
    return false;
}

static void visit(void *context, const char *model)
{
    struct listing *listing = context;

    if (listing->only != NULL && strcmp(listing->only, model) != 0)
        return;
    if (!tg_access_model_allowed(listing->req->credential, model) || was_listed(listing, model))
        return;
    listing->last = tg_arena_strdup(listing->req->arena, model);
    if (listing->first == NULL)
        listing->first = listing->last;
    if (is_gemini(listing->req))
        write_gemini(&listing->json, listing->req->arena, model);
    else
        write_model(listing, &listing->json, model);
}

static void begin_list(struct listing *listing)
{
    tg_json_begin_object(&listing->json);
    if (!listing->of_messages && !is_gemini(listing->req))
        tg_json_put_str(&listing->json, "object", "list");
    tg_json_key(&listing->json, is_gemini(listing->req) ? "models" : "data");
    tg_json_begin_array(&listing->json);
}

static void end_list(struct listing *listing)
{
    tg_json_end_array(&listing->json);
    if (listing->of_messages) {
        tg_json_put_bool(&listing->json, "has_more", false);
        tg_json_put_str(&listing->json, "first_id", listing->first);
        tg_json_put_str(&listing->json, "last_id", listing->last);
    }
    tg_json_end_object(&listing->json);
}

/* Another's model and an unknown one look the same from outside. */
static void refuse(struct tg_request *req, const char *model)
{
    tg_fail(&req->error, TG_CLASS_NOT_FOUND, "model_not_found",
            "The model '%.200s' does not exist or you do not have access to it.", model);
}

void tg_answer_models(struct tg_request *req)
{
    const char *only = tg_endpoint_rest(req->endpoint, req->path);
    const struct tg_snapshot *snapshot = tg_snapshot_acquire(req->worker->snapshots);
    struct listing listing = {.req = req,
                              .of_messages = req->endpoint->protocol == TG_PROTOCOL_MESSAGES,
                              .only = *only != '\0' ? only : NULL,
                              .snapshot = snapshot};
    struct tg_buf body;

    if (snapshot == NULL) {
        tg_fail(&req->error, TG_CLASS_DOWN, "no_snapshot", "routing data was never read");
        return;
    }
    tg_buf_init(&body, 0);
    tg_json_writer_init(&listing.json, &body);
    if (listing.only == NULL)
        begin_list(&listing);
    for (listing.at = 0; listing.at < req->group_count; listing.at++)
        tg_snapshot_models(snapshot, req->groups[listing.at], visit, &listing);
    tg_snapshot_release(req->worker->snapshots, snapshot);
    if (listing.only == NULL)
        end_list(&listing);
    if (listing.only != NULL && listing.first == NULL)
        refuse(req, only);
    else
        tg_reply_set_json(req, 200, body.data, body.len);
    tg_buf_done(&body);
}
