#include "common/http/answer.h"

#include "common/http/http.h"

#include <string.h>
#include <strings.h>

void tg_http_answer_init(struct tg_http_answer *answer)
{
    *answer = (struct tg_http_answer){0};
    tg_buf_init(&answer->text, TG_HTTP_HEADER_BYTES_MOST);
}

void tg_http_answer_done(struct tg_http_answer *answer)
{
    tg_buf_done(&answer->text);
}

void tg_http_answer_begin(struct tg_http_answer *answer, int status)
{
    answer->status = status;
    answer->count = 0;
    tg_buf_reset(&answer->text);
}

static struct tg_span trimmed(const char *from, const char *end)
{
    while (from < end && (*from == ' ' || *from == '\t'))
        from++;
    while (end > from && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r' || end[-1] == '\n'))
        end--;
    return (struct tg_span){from, (size_t)(end - from)};
}

bool tg_http_answer_line(struct tg_http_answer *answer, const char *line, size_t len)
{
    const char *colon = memchr(line, ':', len);
    struct tg_span name, value;

    if (memchr(line, '\0', len) != NULL || ++answer->count > TG_HTTP_HEADERS_MOST)
        return false;
    if (colon == NULL || colon == line || line[0] == ' ' || line[0] == '\t')
        return true;
    name = trimmed(line, colon);
    value = trimmed(colon + 1, line + len);
    if (memchr(value.ptr, '\r', value.len) != NULL || memchr(value.ptr, '\n', value.len) != NULL ||
        memchr(name.ptr, '\r', name.len) != NULL || memchr(name.ptr, '\n', name.len) != NULL)
        return false;
    tg_buf_add(&answer->text, name.ptr, name.len);
    tg_buf_char(&answer->text, '\0');
    tg_buf_add(&answer->text, value.ptr, value.len);
    tg_buf_char(&answer->text, '\0');
    return !answer->text.failed;
}

/* The first value of <name> from <at> on; *at is moved behind it. */
static const char *next_value(const struct tg_http_answer *answer, const char *name,
                              const char **at)
{
    const char *end = tg_buf_text(&answer->text) + answer->text.len;

    while (*at < end) {
        const char *value = *at + strlen(*at) + 1;
        bool found = strcasecmp(*at, name) == 0;

        *at = value + strlen(value) + 1;
        if (found)
            return value;
    }
    return NULL;
}

const char *tg_http_answer_header(const struct tg_http_answer *answer, const char *name)
{
    const char *at = tg_buf_text(&answer->text);

    return next_value(answer, name, &at);
}

bool tg_http_answer_is_framed(const struct tg_http_answer *answer)
{
    const char *at = tg_buf_text(&answer->text), *next;
    const char *length = next_value(answer, "content-length", &at);

    if (length == NULL)
        return true;
    if (tg_http_answer_header(answer, "transfer-encoding") != NULL)
        return false;
    while ((next = next_value(answer, "content-length", &at)) != NULL)
        if (strcmp(next, length) != 0)
            return false;
    return true;
}
