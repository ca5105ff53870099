#include "fcgi-app/upstream/passed.h"

#include <string.h>

enum { VALUE_MOST = 128 };

static const char *const allowed[] = {"openai-processing-ms", "openai-version"};

_Static_assert(sizeof allowed / sizeof allowed[0] <= TG_PASSED_MOST, "room for all of them");

static bool is_plain(const char *value)
{
    size_t len = strlen(value);

    if (len == 0 || len > VALUE_MOST)
        return false;
    for (size_t i = 0; i < len; i++)
        if (value[i] < ' ' || value[i] > '~')
            return false;
    return true;
}

void tg_passed_take(struct tg_request *req, const struct tg_http_answer *answer)
{
    req->passed_count = 0;
    for (size_t i = 0; i < TG_COUNT_OF(allowed); i++) {
        const char *value = tg_http_answer_header(answer, allowed[i]);

        if (value != NULL && is_plain(value))
            req->passed[req->passed_count++] = (struct tg_passed_header){
                allowed[i], tg_arena_strdup(req->arena, value)};
    }
}
