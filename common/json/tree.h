/* tree - JSON documents that are built and changed, not only read (json.h reads them).
 *
 * Values that are given are taken: they belong to the document from then on, and are freed with
 * it. Numbers of a parsed text keep their text ("1.10" stays "1.10"), also in copies.
 *
 * Owns     whoever made or took a value frees it with tg_json_free, or gives it away.
 * Errors   none: out of memory ends the process.
 * Threads  one owner per document.  Blocks  no.
 */
#ifndef TOLLGATE_JSON_TREE_H
#define TOLLGATE_JSON_TREE_H

#include "common/json/json.h"

struct tg_json *tg_json_new_object(void) must_check;
struct tg_json *tg_json_new_array(void) must_check;
struct tg_json *tg_json_new_string(struct tg_span text) must_check;
struct tg_json *tg_json_new_str(const char *text) must_check non_null(1);
struct tg_json *tg_json_new_int(int64_t value) must_check;
struct tg_json *tg_json_new_bool(bool value) must_check;
struct tg_json *tg_json_new_null(void) must_check;
/* A document of its own, with everything in it. */
struct tg_json *tg_json_copy(const struct tg_json *value) must_check non_null(1);

/* A key that is there already gets the new value in its old place. */
void tg_json_set(struct tg_json *object, const char *key, struct tg_json *value)
    non_null(1, 2, 3);
void tg_json_set_str(struct tg_json *object, const char *key, const char *text)
    non_null(1, 2, 3);
void tg_json_set_span(struct tg_json *object, const char *key, struct tg_span text)
    non_null(1, 2);
void tg_json_set_int(struct tg_json *object, const char *key, int64_t value) non_null(1, 2);
void tg_json_set_bool(struct tg_json *object, const char *key, bool value) non_null(1, 2);
void tg_json_set_null(struct tg_json *object, const char *key) non_null(1, 2);
/* A copy of <from>'s member; nothing when it is absent. */
void tg_json_set_copy(struct tg_json *object, const char *key, const struct tg_json *from,
                      const char *from_key) non_null(1, 2, 3, 4);
void tg_json_remove(struct tg_json *object, const char *key) non_null(1, 2);
void tg_json_push(struct tg_json *array, struct tg_json *value) non_null(1, 2);

/* Before element <i>. */
void tg_json_insert(struct tg_json *array, size_t i, struct tg_json *value) non_null(1, 3);
void tg_json_drop(struct tg_json *array, size_t i) non_null(1);
/* The element, which is the caller's from now on; a null stays in its place. */
struct tg_json *tg_json_take_at(struct tg_json *array, size_t i) must_check non_null(1);

/* A member to be changed; NULL when it is absent or null. Borrowed. */
struct tg_json *tg_json_member(struct tg_json *object, const char *key) must_check non_null(1, 2);
struct tg_json *tg_json_element(struct tg_json *array, size_t i) must_check non_null(1);
/* A number above <limit>, fractions included. */
bool tg_json_above(const struct tg_json *value, int64_t limit) must_check non_null(1);
/* Removes the members that <keep> says false of; it may change the others. */
typedef bool tg_json_keep_fn(void *context, const char *key, struct tg_json *value);
void tg_json_filter(struct tg_json *object, tg_json_keep_fn *keep, void *context) non_null(1, 2);
/* The member, which is the caller's from now on; NULL when it is absent. */
struct tg_json *tg_json_take(struct tg_json *object, const char *key) must_check non_null(1, 2);

#endif
