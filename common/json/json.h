/* json - typed reading of a JSON document (the only user of json-c).
 *
 * Absent, null and wrong type are three answers; nothing is coerced ("false" is no boolean, 1.0
 * is no integer). Every text passes the strict gate of scan.h first.
 *
 * Owns     a document belongs to whoever parsed it; values inside are borrowed from it.
 * Threads  one owner per document (json-c counts references without atomics).  Blocks  no.
 */
#ifndef TOLLGATE_JSON_JSON_H
#define TOLLGATE_JSON_JSON_H

#include "common/base/buf.h"
#include "common/base/error.h"
#include "common/json/scan.h"

struct tg_json; /* a value; the root stands for the document */

enum tg_json_got { TG_JSON_GOT, TG_JSON_GOT_ABSENT, TG_JSON_GOT_NULL, TG_JSON_GOT_WRONG };

/* tg_json_check, then the tree. Errors: TG_CLASS_INVALID "invalid_json". */
enum tg_class tg_json_parse(const char *text, size_t len, struct tg_json **ret,
                            struct tg_error *err) must_check non_null(1, 3);
void tg_json_free(struct tg_json *root); /* NULL is fine */

enum tg_json_type tg_json_type(const struct tg_json *value) non_null(1);

/* Members. <object> may be any value: what is no object has no members. A null is given too. */
enum tg_json_got tg_json_get(const struct tg_json *object, const char *key,
                             const struct tg_json **ret) non_null(1, 2, 3);
/* The string may hold NUL bytes; it is NUL-terminated besides. */
enum tg_json_got tg_json_get_string(const struct tg_json *object, const char *key,
                                    struct tg_span *ret) non_null(1, 2, 3);
enum tg_json_got tg_json_get_int(const struct tg_json *object, const char *key, int64_t *ret)
    non_null(1, 2, 3);
enum tg_json_got tg_json_get_bool(const struct tg_json *object, const char *key, bool *ret)
    non_null(1, 2, 3);
/* Present with the type asked for, or WRONG. */
enum tg_json_got tg_json_get_object(const struct tg_json *object, const char *key,
                                    const struct tg_json **ret) non_null(1, 2, 3);
enum tg_json_got tg_json_get_array(const struct tg_json *object, const char *key,
                                   const struct tg_json **ret) non_null(1, 2, 3);

/* Values themselves. */
bool tg_json_string(const struct tg_json *value, struct tg_span *ret) must_check non_null(1, 2);
bool tg_json_int(const struct tg_json *value, int64_t *ret) must_check non_null(1, 2);
size_t tg_json_array_len(const struct tg_json *array) non_null(1);        /* 0 when no array */
const struct tg_json *tg_json_array_at(const struct tg_json *array, size_t i) non_null(1);

/* Members in their order; <visit> returns false to stop. */
typedef bool tg_json_visit_fn(void *context, const char *key, const struct tg_json *value);
void tg_json_each(const struct tg_json *object, tg_json_visit_fn *visit, void *context)
    non_null(1, 2);

/* The value as JSON text, numbers as they were written. */
void tg_json_print(const struct tg_json *value, struct tg_buf *out) non_null(1, 2);

#endif
