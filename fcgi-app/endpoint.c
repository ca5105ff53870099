#include "fcgi-app/endpoint.h"

#include "fcgi-app/stages.h"

#include <stdio.h>
#include <string.h>

/* Exact paths come before the patterns that would match them too. */
static const struct tg_endpoint endpoints[] = {
    {"chat_completions", "POST", "/v1/chat/completions", TG_PROTOCOL_CHAT, TG_OPERATION_GENERATE},
    {"messages", "POST", "/v1/messages", TG_PROTOCOL_MESSAGES, TG_OPERATION_GENERATE},
    {"count_tokens", "POST", "/v1/messages/count_tokens", TG_PROTOCOL_MESSAGES,
     TG_OPERATION_COUNT},
    {"responses", "POST", "/v1/responses", TG_PROTOCOL_RESPONSES, TG_OPERATION_GENERATE},
    {"input_tokens", "POST", "/v1/responses/input_tokens", TG_PROTOCOL_RESPONSES,
     TG_OPERATION_COUNT},
    {"compact", "POST", "/v1/responses/compact", TG_PROTOCOL_RESPONSES, TG_OPERATION_GENERATE},
    {"generate_content", "POST", "/v1beta/models/*:generateContent", TG_PROTOCOL_GEMINI,
     TG_OPERATION_GENERATE},
    {"stream_generate_content", "POST", "/v1beta/models/*:streamGenerateContent",
     TG_PROTOCOL_GEMINI, TG_OPERATION_GENERATE},
    {"count_tokens", "POST", "/v1beta/models/*:countTokens", TG_PROTOCOL_GEMINI,
     TG_OPERATION_COUNT},
    {"models", "GET", "/v1beta/models", TG_PROTOCOL_GEMINI, TG_OPERATION_MODELS},
    {"model", "GET", "/v1beta/models/*", TG_PROTOCOL_GEMINI, TG_OPERATION_MODELS},
    {"generate_content", "POST", "/v1/models/*:generateContent", TG_PROTOCOL_GEMINI,
     TG_OPERATION_GENERATE},
    {"stream_generate_content", "POST", "/v1/models/*:streamGenerateContent", TG_PROTOCOL_GEMINI,
     TG_OPERATION_GENERATE},
    {"count_tokens", "POST", "/v1/models/*:countTokens", TG_PROTOCOL_GEMINI, TG_OPERATION_COUNT},
    {"models", "GET", "/v1/models", TG_PROTOCOL_CHAT, TG_OPERATION_MODELS},
    {"model", "GET", "/v1/models/*", TG_PROTOCOL_CHAT, TG_OPERATION_MODELS},
    {"health", "GET", "/healthz", TG_PROTOCOL_CHAT, TG_OPERATION_HEALTH},
    {"ready", "GET", "/readyz", TG_PROTOCOL_CHAT, TG_OPERATION_READY},
    {"metrics", "GET", "/metrics", TG_PROTOCOL_CHAT, TG_OPERATION_METRICS},
    {"channel_test", "POST", "/tollgate/channel-test", TG_PROTOCOL_CHAT,
     TG_OPERATION_CHANNEL_TEST},
    /* Knowingly absent. */
    {"image_variations", "POST", "/v1/images/variations", TG_PROTOCOL_CHAT, TG_OPERATION_ABSENT},
    {"files", "GET", "/v1/files", TG_PROTOCOL_CHAT, TG_OPERATION_ABSENT},
    {"files", "POST", "/v1/files", TG_PROTOCOL_CHAT, TG_OPERATION_ABSENT},
    {"file", "GET", "/v1/files/*", TG_PROTOCOL_CHAT, TG_OPERATION_ABSENT},
    {"file", "DELETE", "/v1/files/*", TG_PROTOCOL_CHAT, TG_OPERATION_ABSENT},
    {"fine_tunes", "GET", "/v1/fine-tunes", TG_PROTOCOL_CHAT, TG_OPERATION_ABSENT},
    {"fine_tunes", "POST", "/v1/fine-tunes", TG_PROTOCOL_CHAT, TG_OPERATION_ABSENT},
    {"fine_tune", "GET", "/v1/fine-tunes/*", TG_PROTOCOL_CHAT, TG_OPERATION_ABSENT},
    {"fine_tune", "POST", "/v1/fine-tunes/*", TG_PROTOCOL_CHAT, TG_OPERATION_ABSENT},
    {"model", "DELETE", "/v1/models/*", TG_PROTOCOL_CHAT, TG_OPERATION_ABSENT},
    {"realtime", "GET", "/v1/realtime", TG_PROTOCOL_CHAT, TG_OPERATION_ABSENT},
    {"stored_completion", "GET", "/v1/chat/completions/*", TG_PROTOCOL_CHAT, TG_OPERATION_ABSENT},
    {"stored_completion", "POST", "/v1/chat/completions/*", TG_PROTOCOL_CHAT, TG_OPERATION_ABSENT},
    {"stored_completion", "DELETE", "/v1/chat/completions/*", TG_PROTOCOL_CHAT,
     TG_OPERATION_ABSENT},
    {"stored_response", "GET", "/v1/responses/*", TG_PROTOCOL_RESPONSES, TG_OPERATION_ABSENT},
    {"stored_response", "POST", "/v1/responses/*", TG_PROTOCOL_RESPONSES, TG_OPERATION_ABSENT},
    {"stored_response", "DELETE", "/v1/responses/*", TG_PROTOCOL_RESPONSES, TG_OPERATION_ABSENT},
};

/* Paths that three protocols share: clients of Anthropic say the version that they speak, those of
 * Google bring their token in a header of its own. */
static const struct tg_endpoint shared[] = {
    {"models", "GET", "/v1/models", TG_PROTOCOL_MESSAGES, TG_OPERATION_MODELS},
    {"model", "GET", "/v1/models/*", TG_PROTOCOL_MESSAGES, TG_OPERATION_MODELS},
    {"models", "GET", "/v1/models", TG_PROTOCOL_GEMINI, TG_OPERATION_MODELS},
    {"model", "GET", "/v1/models/*", TG_PROTOCOL_GEMINI, TG_OPERATION_MODELS},
};

/* A star stands for one character or more; what is behind it ends the path. */
static bool path_matches(const char *pattern, const char *path)
{
    const char *star = strchr(pattern, '*');
    size_t len = strlen(path), before, behind;

    if (star == NULL)
        return strcmp(pattern, path) == 0;
    before = (size_t)(star - pattern);
    behind = strlen(star + 1);
    return len > before + behind && strncmp(pattern, path, before) == 0 &&
           strcmp(path + len - behind, star + 1) == 0;
}

static void drop_repeated(char *path, const char *twice, size_t drop)
{
    while (strncmp(path, twice, strlen(twice)) == 0)
        memmove(path, path + drop, strlen(path + drop) + 1);
}

void tg_endpoint_tidy(char *path)
{
    size_t len = 0;

    for (const char *at = path; *at != '\0'; at++)
        if (*at != '/' || len == 0 || path[len - 1] != '/')
            path[len++] = *at;
    while (len > 1 && path[len - 1] == '/')
        len--;
    path[len] = '\0';
    drop_repeated(path, "/v1/v1/", 3);
    drop_repeated(path, "/v1/v1beta/", 3);
    drop_repeated(path, "/v1beta/v1beta/", 7);
}

const struct tg_endpoint *tg_endpoint_find(const char *method, const char *path,
                                           bool *ret_method_wrong)
{
    *ret_method_wrong = false;
    for (size_t i = 0; i < TG_COUNT_OF(endpoints); i++) {
        if (!path_matches(endpoints[i].path, path))
            continue;
        if (strcmp(endpoints[i].method, method) == 0)
            return &endpoints[i];
        if (strcmp(method, "HEAD") == 0 && strcmp(endpoints[i].method, "GET") == 0)
            return &endpoints[i];
        *ret_method_wrong = true;
    }
    return NULL;
}

const struct tg_endpoint *tg_endpoint_of(const struct tg_endpoint *endpoint,
                                         enum tg_protocol protocol)
{
    for (size_t i = 0; i < TG_COUNT_OF(shared); i++)
        if (shared[i].protocol == protocol && shared[i].operation == endpoint->operation &&
            strcmp(shared[i].path, endpoint->path) == 0)
            return &shared[i];
    return endpoint;
}

bool tg_endpoint_asks_model(const struct tg_endpoint *endpoint)
{
    return endpoint->operation == TG_OPERATION_GENERATE ||
           endpoint->operation == TG_OPERATION_COUNT;
}

bool tg_endpoint_streams(const struct tg_endpoint *endpoint)
{
    return strstr(endpoint->path, ":stream") != NULL;
}

const char *tg_endpoint_rest(const struct tg_endpoint *endpoint, const char *path)
{
    const char *star = strchr(endpoint->path, '*');

    return star != NULL ? path + (star - endpoint->path) : "";
}

const char *tg_endpoint_model(struct tg_arena *arena, const struct tg_endpoint *endpoint,
                              const char *path)
{
    const char *rest = tg_endpoint_rest(endpoint, path), *star = strchr(endpoint->path, '*');
    size_t behind = star != NULL ? strlen(star + 1) : 0;

    return tg_arena_strndup(arena, rest, strlen(rest) - TG_MIN(behind, strlen(rest)));
}

/* "alt=sse" among the parameters of a query. */
static bool asks_for_events(const char *query)
{
    while (query != NULL && *query != '\0') {
        size_t len = strcspn(query, "&");

        if (len == 7 && memcmp(query, "alt=sse", 7) == 0)
            return true;
        query += len;
        query += *query == '&';
    }
    return false;
}

void tg_endpoint_allow(const char *path, char *text, size_t room)
{
    size_t len = 0;

    text[0] = '\0';
    for (size_t i = 0; i < TG_COUNT_OF(endpoints) && len < room; i++)
        if (path_matches(endpoints[i].path, path))
            len += (size_t)snprintf(text + len, room - len, "%s%s", len > 0 ? ", " : "",
                                    endpoints[i].method);
}

enum tg_verdict tg_stage_endpoint(struct tg_request *req)
{
    bool method_wrong;

    req->endpoint = tg_endpoint_find(req->method, req->path, &method_wrong);
    if (req->endpoint == NULL && method_wrong) {
        tg_fail(&req->error, TG_CLASS_METHOD, "unknown_url",
                "Method %.16s is not allowed for %.200s", req->method, req->path);
        return TG_ANSWER;
    }
    if (req->endpoint == NULL) {
        tg_fail(&req->error, TG_CLASS_NOT_FOUND, "unknown_url", "Unknown URL (%.16s %.200s)",
                req->method, req->path);
        return TG_ANSWER;
    }
    if (tg_fcgi_header(req->fcgi, "anthropic-version") != NULL)
        req->endpoint = tg_endpoint_of(req->endpoint, TG_PROTOCOL_MESSAGES);
    else if (tg_fcgi_header(req->fcgi, "x-goog-api-key") != NULL)
        req->endpoint = tg_endpoint_of(req->endpoint, TG_PROTOCOL_GEMINI);
    if (req->endpoint->operation == TG_OPERATION_ABSENT) {
        tg_fail(&req->error, TG_CLASS_ABSENT, "api_not_implemented",
                "%.16s %.200s is not offered by this gateway", req->method, req->path);
        return TG_ANSWER;
    }
    req->array = tg_endpoint_streams(req->endpoint) && !asks_for_events(req->query);
    return TG_NEXT;
}
