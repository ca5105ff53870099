/* value - a value inside a JSON text, read in place without a tree.
 *
 * A thin layer over tg_json_find: values are spans of the text they came from, arrays and objects
 * are walked in one pass. The text should have passed tg_json_check; one that has not gives odd
 * answers, never a read outside.
 *
 *     tg_value_at(text, "choices", &choices);
 *     for (tg_walk_begin(&walk, &choices); tg_walk_next(&walk, &choice);)
 *         …
 *
 * Borrows  the text.  Threads  any.  Blocks  no.
 */
#ifndef TOLLGATE_CONVERT_VALUE_H
#define TOLLGATE_CONVERT_VALUE_H

#include "common/base/buf.h"
#include "common/json/scan.h"

struct tg_value {
    struct tg_span text; /* quotes and brackets included */
    enum tg_json_type type;
};

/* <path> as for tg_json_find; "" is the value of the whole text. */
bool tg_value_at(struct tg_span text, const char *path, struct tg_value *ret) must_check
    non_null(2, 3);
/* Several members in one pass over the object: <ret> gets <count> values in the order of <keys>,
 * a null of length 0 for what is absent. */
void tg_value_members(const struct tg_value *object, const char *const *keys,
                      struct tg_value *ret, size_t count) non_null(1, 2, 3);

/* A string, object or array with something in it; a number or true. */
bool tg_value_is_filled(const struct tg_value *value) non_null(1);

/* A count as an upstream reports it; false when it is no number. Fractions are cut off ("12.0");
 * what is absurdly large comes out above TG_USAGE_TOKENS_MAX, so that clamping marks it. */
bool tg_value_count(const struct tg_value *value, int64_t *ret) must_check non_null(1, 2);

/* The unescaped string, cut to what fits; false when it is no string. */
bool tg_value_string(const struct tg_value *value, char *out, size_t room) non_null(1, 2);
/* The unescaped string behind what <out> holds already; nothing for other types. An escape that
 * cannot be undone (half a surrogate pair) leaves the string as it is written. */
void tg_value_append(const struct tg_value *value, struct tg_buf *out) non_null(1, 2);

/* Elements of an array, values of an object's members; anything else has none. */
struct tg_walk {
    struct tg_span rest;
    bool keyed;
    struct tg_value key; /* of the member last given */
};
void tg_walk_begin(struct tg_walk *walk, const struct tg_value *container) non_null(1, 2);
bool tg_walk_next(struct tg_walk *walk, struct tg_value *ret) must_check non_null(1, 2);

#endif
