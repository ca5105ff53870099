/* Formulas and lists of prices: what is taken can be computed, written and read again. */
#include "tests/fuzz/fuzz.h"

#include "common/base/memory.h"
#include "common/price/expression.h"
#include "common/price/formula.h"
#include "common/price/list.h"

#include <stdlib.h>

static void check_expression(const char *text)
{
    struct tg_price price = {.form = TG_PRICE_EXPRESSION, .expression = text};
    const struct tg_usage usage = {.source = TG_USAGE_UPSTREAM, .input = 1000, .output = 10};
    struct tg_error err = {0};
    int64_t quota = 0;

    if (tg_price_check(&price, &err) != TG_OK) {
        tg_assert(err.code[0] != '\0' && err.message[0] != '\0');
        return;
    }
    /* A formula that was tried is fit for every bill but a division by zero. */
    if (tg_bill(&price, &usage, "1", NULL, &quota) == TG_OK)
        tg_assert(quota >= 0);
}

static void check_list(const uint8_t *bytes, size_t len)
{
    struct tg_arena *arena = tg_arena_new();
    struct tg_price_rows rows, again;
    struct tg_buf written;

    tg_buf_init(&written, 0);
    if (tg_price_list_read((struct tg_span){(const char *)bytes, len}, arena, &rows, NULL) ==
        TG_OK) {
        tg_price_list_write(&rows, &written);
        tg_assert(tg_price_list_read((struct tg_span){written.data, written.len}, arena, &again,
                                     NULL) == TG_OK);
        tg_assert(again.count == rows.count);
    }
    tg_buf_done(&written);
    tg_arena_free(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    char *text = tg_strndup(len > 0 ? (const char *)bytes : "", len);

    check_expression(text);
    check_list(bytes, len);
    free(text);
    return 0;
}
