#include "common/base/zone.h"

#include "common/base/memory.h"
#include "common/base/zone_rule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER "/usr/share/zoneinfo/"

enum { FILE_MOST = 256 * 1024, HEADER = 44, TYPE_BYTES = 6, DAY_S = 86400, FOOTER_MOST = 128 };

struct tg_zone {
    size_t count;     /* of changes */
    int64_t *at_s;    /* when, ascending */
    int64_t *after_s; /* the offset from then on */
    int64_t first_s;  /* the offset before all of them */
    bool has_rule;
    struct tg_zone_rule rule; /* from the last change on */
};

/* --- the file ------------------------------------------------------------------------------ */

static int64_t read_be(const uint8_t *bytes, size_t len)
{
    uint64_t value = (bytes[0] & 0x80) != 0 ? UINT64_MAX : 0;

    for (size_t i = 0; i < len; i++)
        value = value << 8 | bytes[i];
    return (int64_t)value;
}

/* What stands in a header: how many of everything follows. */
struct counts {
    size_t ut, standard, leap, changes, types, letters;
};

static bool read_header(const uint8_t *bytes, size_t len, struct counts *ret)
{
    size_t *const members[] = {&ret->ut,      &ret->standard, &ret->leap,
                               &ret->changes, &ret->types,    &ret->letters};

    if (len < HEADER || memcmp(bytes, "TZif", 4) != 0)
        return false;
    for (size_t i = 0; i < TG_COUNT_OF(members); i++) {
        int64_t value = read_be(bytes + 20 + 4 * i, 4);

        if (value < 0 || value > FILE_MOST)
            return false;
        *members[i] = (size_t)value;
    }
    return true;
}

static size_t body_len(const struct counts *counts, size_t time_bytes)
{
    return counts->changes * (time_bytes + 1) + counts->types * TYPE_BYTES + counts->letters +
           counts->leap * (time_bytes + 4) + counts->standard + counts->ut;
}

static bool read_changes(const uint8_t *body, const struct counts *counts, struct tg_zone *zone)
{
    const uint8_t *types = body + counts->changes * 8;
    const uint8_t *offsets = types + counts->changes;

    zone->count = counts->changes;
    zone->at_s = tg_calloc(counts->changes + 1, sizeof *zone->at_s);
    zone->after_s = tg_calloc(counts->changes + 1, sizeof *zone->after_s);
    zone->first_s = read_be(offsets, 4);
    for (size_t i = 0; i < counts->changes; i++) {
        if (types[i] >= counts->types)
            return false;
        zone->at_s[i] = read_be(body + 8 * i, 8);
        zone->after_s[i] = read_be(offsets + (size_t)TYPE_BYTES * types[i], 4);
        if (i > 0 && zone->at_s[i] <= zone->at_s[i - 1])
            return false;
    }
    return true;
}

/* "\nRULE\n"; an empty one: the last change holds for ever. */
static bool read_footer(const uint8_t *bytes, size_t len, struct tg_zone *zone)
{
    char text[FOOTER_MOST];

    if (len < 2 || len > sizeof text || bytes[0] != '\n' || bytes[len - 1] != '\n')
        return false;
    memcpy(text, bytes + 1, len - 2);
    text[len - 2] = '\0';
    zone->has_rule = text[0] != '\0';
    return !zone->has_rule || tg_zone_rule_parse(text, &zone->rule);
}

/* The second part of a file of version 2 or later; the first is for readers of 32-bit times. */
static bool read_zone(const uint8_t *bytes, size_t len, struct tg_zone *zone)
{
    struct counts counts;
    size_t skip;

    if (!read_header(bytes, len, &counts) || bytes[4] < '2')
        return false;
    skip = HEADER + body_len(&counts, 4);
    if (skip > len || !read_header(bytes + skip, len - skip, &counts))
        return false;
    bytes += skip + HEADER;
    len -= skip + HEADER;
    skip = body_len(&counts, 8);
    if (skip > len || counts.types == 0 || counts.leap != 0)
        return false;
    return read_changes(bytes, &counts, zone) && read_footer(bytes + skip, len - skip, zone);
}

static bool is_name(const char *name)
{
    size_t len = strlen(name);

    if (len == 0 || len > TG_ZONE_NAME_MOST || name[0] == '/' || strstr(name, "..") != NULL)
        return false;
    for (; *name != '\0'; name++)
        if (strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-/", *name) ==
            NULL)
            return false;
    return true;
}

static bool read_file(const char *name, struct tg_zone *zone)
{
    char path[sizeof FOLDER + TG_ZONE_NAME_MOST];
    uint8_t *bytes;
    size_t len;
    FILE *file;
    bool good;

    snprintf(path, sizeof path, "%s%s", FOLDER, name);
    file = fopen(path, "rbe");
    if (file == NULL)
        return strcmp(name, "UTC") == 0; /* zeros are its rules */
    bytes = tg_malloc(FILE_MOST);
    len = fread(bytes, 1, FILE_MOST, file);
    good = len < FILE_MOST && read_zone(bytes, len, zone);
    free(bytes);
    fclose(file);
    return good;
}

enum tg_class tg_zone_load(const char *name, struct tg_zone **ret, struct tg_error *err)
{
    struct tg_zone *zone = tg_calloc(1, sizeof *zone);

    if (!is_name(name) || !read_file(name, zone)) {
        tg_zone_free(zone);
        return tg_fail(err, TG_CLASS_INVALID, "invalid_zone",
                       "there is no such time zone (use a name like Europe/Berlin)");
    }
    *ret = zone;
    return TG_OK;
}

void tg_zone_free(struct tg_zone *zone)
{
    if (zone == NULL)
        return;
    free(zone->at_s);
    free(zone->after_s);
    free(zone);
}

/* --- clocks -------------------------------------------------------------------------------- */

int64_t tg_zone_offset_s(const struct tg_zone *zone, int64_t unix_s)
{
    size_t low = 0, high = zone->count;

    if (zone->has_rule && (high == 0 || unix_s >= zone->at_s[high - 1]))
        return tg_zone_rule_offset_s(&zone->rule, unix_s);
    while (low < high) { /* the number of changes up to <unix_s> */
        size_t middle = low + (high - low) / 2;

        if (zone->at_s[middle] <= unix_s)
            low = middle + 1;
        else
            high = middle;
    }
    return low == 0 ? zone->first_s : zone->after_s[low - 1];
}

/* The first instant at which the wall clock shows <local_s>, or has jumped over it. */
static int64_t instant_of(const struct tg_zone *zone, int64_t local_s)
{
    int64_t before_s = tg_zone_offset_s(zone, local_s - 2 * DAY_S);
    int64_t after_s = tg_zone_offset_s(zone, local_s + 2 * DAY_S);
    int64_t low = local_s - after_s, high = local_s - before_s;

    if (tg_zone_offset_s(zone, high) == before_s)
        return high;
    if (tg_zone_offset_s(zone, low) == after_s)
        return low;
    while (low < high) { /* the jump lies between them */
        int64_t middle = low + (high - low) / 2;

        if (tg_zone_offset_s(zone, middle) == after_s)
            high = middle;
        else
            low = middle + 1;
    }
    return high;
}

static int64_t local_begin_s(const struct tg_zone *zone, int64_t unix_s, int hour)
{
    int64_t local_s = unix_s + tg_zone_offset_s(zone, unix_s);

    return local_s - (local_s % DAY_S + DAY_S) % DAY_S + (int64_t)hour * 3600;
}

int64_t tg_zone_day_begin_s(const struct tg_zone *zone, int64_t unix_s, int hour)
{
    int64_t local_s = local_begin_s(zone, unix_s, hour) + DAY_S;
    int64_t begin_s = instant_of(zone, local_s);

    while (begin_s > unix_s)
        begin_s = instant_of(zone, local_s -= DAY_S);
    return begin_s;
}

int64_t tg_zone_day_end_s(const struct tg_zone *zone, int64_t unix_s, int hour)
{
    int64_t local_s = local_begin_s(zone, unix_s, hour) - DAY_S;
    int64_t end_s = instant_of(zone, local_s);

    while (end_s <= unix_s)
        end_s = instant_of(zone, local_s += DAY_S);
    return end_s;
}
