/* price-recorded   usage and bill of recorded answers, for tests/tokens
 *
 * Standard input: pairs of strings, each a length (32 bits, little end first) and its bytes: what
 * it is, {"dialect":"messages","stream":true,"ratio":"1","price":{…}}, and the answer's body.
 * Standard output: a line {"quota":n,"bill":{…}} for each; quota is -1 when nothing was reported.
 */
#include "common/base/memory.h"
#include "common/price/price.h"
#include "common/price/price_json.h"
#include "fcgi-app/convert/usage_figures.h"
#include "fcgi-app/stream/sse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const dialects[] = {
    [TG_FIGURES_CHAT] = "chat",         [TG_FIGURES_RESPONSES] = "responses",
    [TG_FIGURES_MESSAGES] = "messages", [TG_FIGURES_GEMINI] = "gemini",
    [TG_FIGURES_CONVERSE] = "converse", [TG_FIGURES_COHERE] = "cohere",
};

static bool read_string(struct tg_buf *string)
{
    uint32_t len;
    char *bytes;

    tg_buf_reset(string);
    if (fread(&len, sizeof len, 1, stdin) != 1)
        return false;
    bytes = tg_malloc((size_t)len + 1);
    tg_assert(fread(bytes, 1, len, stdin) == len);
    tg_buf_add(string, bytes, len);
    free(bytes);
    return true;
}

static void on_event(void *context, const struct tg_sse_event *event)
{
    tg_figures_read(context, event->data);
}

static void read_figures(struct tg_figures *figures, bool stream, const struct tg_buf *body)
{
    struct tg_span whole = {tg_buf_text(body), body->len};
    struct tg_sse sse;

    if (!stream) {
        tg_figures_read(figures, whole);
        return;
    }
    tg_sse_init(&sse, 0x1000000, on_event, NULL, figures);
    tg_assert(tg_sse_feed(&sse, whole.ptr, whole.len, NULL) == TG_OK);
    tg_sse_end(&sse);
    tg_sse_done(&sse);
}

static enum tg_figures_dialect dialect_of(const struct tg_json *what)
{
    struct tg_span name;

    tg_assert(tg_json_get_string(what, "dialect", &name) == TG_JSON_GOT);
    for (size_t i = 0; i < TG_COUNT_OF(dialects); i++)
        if (strcmp(name.ptr, dialects[i]) == 0)
            return (enum tg_figures_dialect)i;
    tg_assert(!"a dialect");
    return TG_FIGURES_CHAT;
}

static void print_bill(const struct tg_json *what, const struct tg_buf *body,
                       struct tg_arena *arena)
{
    const struct tg_json *price_json;
    struct tg_figures figures;
    struct tg_usage usage;
    struct tg_price price;
    struct tg_buf steps;
    struct tg_span ratio;
    const char *model;
    int64_t quota = -1;
    bool stream = false;

    tg_assert(tg_json_get_object(what, "price", &price_json) == TG_JSON_GOT &&
              tg_json_get_string(what, "ratio", &ratio) == TG_JSON_GOT &&
              tg_json_get_bool(what, "stream", &stream) == TG_JSON_GOT);
    tg_assert(tg_price_read(price_json, arena, &price, &model, NULL) == TG_OK);
    tg_figures_init(&figures, dialect_of(what));
    read_figures(&figures, stream, body);
    tg_buf_init(&steps, 0);
    if (tg_figures_usage(&figures, &usage))
        tg_assert(tg_bill(&price, &usage, ratio.ptr, &steps, &quota) == TG_OK);
    printf("{\"quota\":%lld,\"bill\":%s}\n", (long long)quota,
           steps.len > 0 ? steps.data : "null");
    tg_buf_done(&steps);
}

int main(void)
{
    struct tg_arena *arena = tg_arena_new();
    struct tg_buf what, body;
    struct tg_json *json;

    tg_buf_init(&what, 0);
    tg_buf_init(&body, 0);
    while (read_string(&what) && read_string(&body)) {
        tg_assert(tg_json_parse(what.data, what.len, &json, NULL) == TG_OK);
        print_bill(json, &body, arena);
        tg_json_free(json);
        tg_arena_reset(arena);
    }
    tg_buf_done(&what);
    tg_buf_done(&body);
    tg_arena_free(arena);
    return 0;
}
