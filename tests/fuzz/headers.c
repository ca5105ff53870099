/* Header lines of an upstream, and what Retry-After makes of their values. */
#include "tests/fuzz/fuzz.h"

#include "common/base/memory.h"
#include "common/http/answer.h"
#include "common/http/http.h"
#include "fcgi-app/relay/classify.h"

#include <stdlib.h>
#include <string.h>

enum { WAIT_MOST_MS = 300000 };

static void check_wait(const char *value)
{
    const struct tg_retry_hints hints[] = {
        {.retry_after = value}, {.retry_after_ms = value}, {value, value, NULL}};

    for (size_t i = 0; i < TG_COUNT_OF(hints); i++) {
        int64_t wait_ms = tg_retry_after_ms(&hints[i], INT64_C(1800000000000000));

        tg_assert(wait_ms >= 0 && wait_ms <= WAIT_MOST_MS);
    }
}

static void check_value(const struct tg_http_answer *answer, const char *name)
{
    const char *value = tg_http_answer_header(answer, name);

    if (value == NULL)
        return;
    tg_assert(strpbrk(value, "\r\n") == NULL);
    tg_assert(value[0] != ' ' && value[0] != '\t');
    check_wait(value);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct tg_http_answer answer;
    const char *at = (const char *)bytes, *end = at + len;
    char *text = tg_strndup(len > 0 ? at : "", len);
    bool fine = true;

    check_wait(text);
    tg_http_answer_init(&answer);
    tg_http_answer_begin(&answer, 200);
    while (at != NULL && at < end && fine) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        size_t line_len = line_end != NULL ? (size_t)(line_end - at) + 1 : (size_t)(end - at);

        fine = tg_http_answer_line(&answer, at, line_len);
        at += line_len;
    }
    tg_assert(answer.text.len <= TG_HTTP_HEADER_BYTES_MOST);
    tg_assert(answer.count <= TG_HTTP_HEADERS_MOST + 1);
    check_value(&answer, "retry-after");
    check_value(&answer, "content-type");
    check_value(&answer, "content-length");
    (void)!tg_http_answer_is_framed(&answer);
    tg_http_answer_done(&answer);
    free(text);
    return 0;
}
