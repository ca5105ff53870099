#include "fcgi-app/body_gemini.h"

#include "fcgi-app/convert/gemini_hub.h"
#include "fcgi-app/endpoint.h"

#include <string.h>

enum { ANSWERS_MOST = 128 };

static enum tg_class invalid(struct tg_request *req, const char *param, const char *expected)
{
    enum tg_class class = tg_fail(&req->error, TG_CLASS_INVALID, "invalid_type", "'%s' must be %s.",
                                  param, expected);

    memcpy(req->error.param, param, strlen(param) + 1);
    return class;
}

static enum tg_class missing(struct tg_request *req, const char *param)
{
    enum tg_class class = tg_fail(&req->error, TG_CLASS_INVALID, "missing_required_parameter",
                                  "'%s' is required.", param);

    memcpy(req->error.param, param, strlen(param) + 1);
    return class;
}

/* A name that came in a path has been decoded: it may hold anything. */
static enum tg_class take_model(struct tg_request *req)
{
    const char *model = tg_endpoint_model(req->arena, req->endpoint, req->path);

    for (const char *at = model; *at != '\0'; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            return invalid(req, "model", "a name without control characters");
    if (strlen(model) > TG_MODEL_NAME_MOST)
        return invalid(req, "model", "a name of at most 191 bytes");
    req->model = model;
    return TG_OK;
}

/* What no upstream of any protocol would take is not asked of one. Tokens of a whole request are
 * counted, too: it stands in a member of its own then. */
static enum tg_class check_contents(struct tg_request *req)
{
    const struct tg_json *inner = tg_gemini_object(req->json, "generateContentRequest");
    const struct tg_json *contents =
        tg_gemini_get(inner != NULL && req->endpoint->operation == TG_OPERATION_COUNT ? inner
                                                                                       : req->json,
                      "contents");
    struct tg_span text;

    if (contents == NULL)
        return missing(req, "contents");
    if (tg_json_type(contents) == TG_JSON_ARRAY && tg_json_array_len(contents) == 0)
        return tg_fail(&req->error, TG_CLASS_INVALID, "empty_array",
                       "'contents' must not be empty.");
    if (tg_json_type(contents) != TG_JSON_ARRAY && tg_json_type(contents) != TG_JSON_OBJECT &&
        !tg_json_string(contents, &text))
        return invalid(req, "contents", "a list of contents");
    return TG_OK;
}

static enum tg_class take_config(struct tg_request *req)
{
    const struct tg_json *config = tg_gemini_get(req->json, "generationConfig"), *value;

    if (config == NULL)
        return TG_OK;
    if (tg_json_type(config) != TG_JSON_OBJECT)
        return invalid(req, "generationConfig", "an object");
    value = tg_gemini_get(config, "maxOutputTokens");
    if (value != NULL && (!tg_json_int(value, &req->max_output_tokens) ||
                          req->max_output_tokens < 1))
        return invalid(req, "generationConfig.maxOutputTokens", "a whole number, 1 or more");
    value = tg_gemini_get(config, "candidateCount");
    if (value != NULL && (!tg_json_int(value, &req->answers) || req->answers < 1 ||
                          req->answers > ANSWERS_MOST))
        return invalid(req, "generationConfig.candidateCount", "a whole number from 1 to 128");
    return TG_OK;
}

enum tg_class tg_body_gemini(struct tg_request *req)
{
    enum tg_class class = take_model(req);

    req->stream = tg_endpoint_streams(req->endpoint);
    if (class == TG_OK)
        class = check_contents(req);
    if (class == TG_OK)
        class = take_config(req);
    return class;
}
