/* keys - which keys the open objects of a text have had so far: finds duplicates in linear time.
 *
 * Keys are compared after unescaping. The first keys of an object are compared with each other,
 * mostly by their first bytes; from there on a hash set finds them. The hash is SipHash-1-3 under a
 * key of this process, so that nobody can make keys that collide. The keys of an object are
 * forgotten when it ends: memory is bounded by the objects that are open.
 *
 * Owns     its tables; the text is borrowed and must stay.
 * Threads  one owner.  Blocks  no.
 */
#ifndef TOLLGATE_JSON_KEYS_H
#define TOLLGATE_JSON_KEYS_H

#include "common/base/base.h"

struct tg_json_key_entry {
    uint64_t hash;
    uint64_t start; /* first bytes of the key as it is written, ESCAPED when one is a backslash */
    size_t at;      /* behind the opening quote */
    bool hashed; /* stands in a slot */
};

struct tg_json_keys {
    const char *text;
    size_t text_len;
    struct tg_json_key_entry *entries; /* in the order of their arrival */
    size_t count, cap;
    uint32_t *slots; /* index into entries + 1; 0: free */
    size_t slot_count;
    uint64_t object_count; /* objects begun so far */
    size_t hashed_count;   /* entries that stand in a slot */
    uint64_t step_count;   /* keys and slots looked at: the work done */
};

/* The keys of one open object are entries[first .. count). */
struct tg_json_keys_object {
    size_t first;
    uint64_t number;
};

void tg_json_keys_init(struct tg_json_keys *keys, const char *text, size_t len) non_null(1, 2);
void tg_json_keys_done(struct tg_json_keys *keys) non_null(1);
struct tg_json_keys_object tg_json_keys_begin(struct tg_json_keys *keys) non_null(1);
/* False when the innermost object has the key at <at> already. The key must be well-formed. */
bool tg_json_keys_add(struct tg_json_keys *keys, const struct tg_json_keys_object *object,
                      size_t at) must_check non_null(1, 2);
/* Objects end in the reverse order of their beginning. */
void tg_json_keys_end(struct tg_json_keys *keys, const struct tg_json_keys_object *object)
    non_null(1, 2);

#endif
