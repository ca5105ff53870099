/* Texts with units, status ranges and networks. */
#include "tests/fuzz/fuzz.h"

#include "common/base/memory.h"
#include "common/conf/units.h"
#include "common/conf/value.h"

#include <stdlib.h>
#include <string.h>

static void check_ranges(const char *text)
{
    struct tg_status_ranges ranges;

    if (!tg_status_ranges_parse(text, &ranges))
        return;
    tg_assert(ranges.count <= TG_COUNT_OF(ranges.from));
    for (size_t i = 0; i < ranges.count; i++) {
        tg_assert(ranges.from[i] >= 100 && ranges.from[i] <= ranges.to[i] && ranges.to[i] <= 599);
        tg_assert(i == 0 || ranges.from[i] > ranges.to[i - 1] + 1);
        tg_assert(tg_status_ranges_has(&ranges, ranges.to[i]));
    }
}

static void check_networks(const char *text)
{
    struct tg_arena *arena = tg_arena_new();
    struct tg_cidr *list;
    size_t count;

    if (tg_cidrs_parse(arena, text, &list, &count, NULL) == TG_OK)
        for (size_t i = 0; i < count; i++)
            tg_assert(list[i].prefix_len <= 128 && tg_cidrs_match(list, count, &list[i].base));
    tg_arena_free(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    char *text = tg_strndup(len > 0 ? (const char *)bytes : "", len);
    struct tg_address address;
    char why[TG_VALUE_WHY];
    int64_t number;

    if (tg_duration_parse(text, &number))
        tg_assert(number >= 0);
    if (tg_size_parse(text, &number))
        tg_assert(number >= 0);
    if (tg_address_parse(text, &address))
        check_networks(text);
    check_ranges(text);
    check_networks(text);
    for (int id = 0; id < TG_OPTION__COUNT; id++)
        if (!tg_option_value((enum tg_option_id)id, text, &number, why))
            tg_assert(strlen(why) > 0 && strlen(why) < sizeof why);
    free(text);
    return 0;
}
