#include "common/json/keys.h"

#include "common/base/memory.h"
#include "common/json/lex.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

/* Below this, comparing is cheaper than hashing; nearly every object of an API stays below. */
enum { COMPARED_MOST = 64 };
/* No byte of a key is a control character, so that no key starts like this. */
static const uint64_t ESCAPED = 1;

struct sip {
    uint64_t v[4];
    uint64_t tail;
    size_t len;
};

static uint64_t rotate(uint64_t x, unsigned by)
{
    return x << by | x >> (64 - by);
}

static void sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[1] = rotate(v[1], 13) ^ v[0];
    v[0] = rotate(v[0], 32);
    v[2] += v[3];
    v[3] = rotate(v[3], 16) ^ v[2];
    v[0] += v[3];
    v[3] = rotate(v[3], 21) ^ v[0];
    v[2] += v[1];
    v[1] = rotate(v[1], 17) ^ v[2];
    v[2] = rotate(v[2], 32);
}

static void sip_word(struct sip *sip, uint64_t word)
{
    sip->v[3] ^= word;
    sip_round(sip->v);
    sip->v[0] ^= word;
}

/* The 16 random bytes that the kernel gives every process (getauxval(3)). */
static void sip_begin(struct sip *sip)
{
    const void *random = (const void *)getauxval(AT_RANDOM);
    uint64_t key[2] = {0, 0};

    if (random != NULL)
        memcpy(key, random, sizeof key);
    *sip = (struct sip){.v = {key[0] ^ UINT64_C(0x736f6d6570736575),
                              key[1] ^ UINT64_C(0x646f72616e646f6d),
                              key[0] ^ UINT64_C(0x6c7967656e657261),
                              key[1] ^ UINT64_C(0x7465646279746573)}};
}

static void sip_byte(struct sip *sip, unsigned char byte)
{
    sip->tail |= (uint64_t)byte << (sip->len % 8 * 8);
    if (++sip->len % 8 == 0) {
        sip_word(sip, sip->tail);
        sip->tail = 0;
    }
}

static uint64_t sip_end(struct sip *sip)
{
    sip_word(sip, sip->tail | (uint64_t)sip->len << 56);
    sip->v[2] ^= 0xff;
    for (int i = 0; i < 3; i++)
        sip_round(sip->v);
    return sip->v[0] ^ sip->v[1] ^ sip->v[2] ^ sip->v[3];
}

/* Steps over one character of a key; false at its closing quote. */
static bool next_char(const struct tg_json_keys *keys, size_t *at, struct tg_json_char *ret)
{
    if (*at >= keys->text_len || keys->text[*at] == '"' ||
        tg_json_char_at(keys->text + *at, keys->text_len - *at, ret) != NULL)
        return false;
    *at += ret->used;
    return true;
}

/* The object's number goes in, so that keys of nested objects do not share a slot. */
static uint64_t hash_key(const struct tg_json_keys *keys, uint64_t object, size_t at)
{
    struct tg_json_char c;
    struct sip sip;

    sip_begin(&sip);
    sip_word(&sip, object);
    while (next_char(keys, &at, &c))
        for (size_t i = 0; i < c.len; i++)
            sip_byte(&sip, (unsigned char)c.bytes[i]);
    return sip_end(&sip);
}

static bool same_unescaped(const struct tg_json_keys *keys, size_t a, size_t b)
{
    struct tg_json_char c, d;
    bool more_a, more_b;

    for (;;) {
        more_a = next_char(keys, &a, &c);
        more_b = next_char(keys, &b, &d);
        if (!more_a || !more_b)
            return more_a == more_b;
        if (c.len != d.len || memcmp(c.bytes, d.bytes, c.len) != 0)
            return false;
    }
}

/* Both keys are well-formed, so each has its closing quote. */
static bool same_key(const struct tg_json_keys *keys, size_t a, size_t b)
{
    const char *left = keys->text + a, *right = keys->text + b;

    while (*left == *right && *left != '"' && *left != '\\') {
        left++;
        right++;
    }
    if (*left == '\\' || *right == '\\')
        return same_unescaped(keys, a, b);
    return *left == *right;
}

/* The first bytes up to the closing quote, as a number. */
static uint64_t start_of(const struct tg_json_keys *keys, size_t at)
{
    uint64_t start = 0;

    for (size_t i = 0; i < sizeof start; i++) {
        unsigned char byte = (unsigned char)keys->text[at + i];

        if (byte == '"')
            break;
        if (byte == '\\')
            return ESCAPED;
        start = start << 8 | byte;
    }
    return start;
}

static bool may_be_same(uint64_t a, uint64_t b)
{
    return a == b || a == ESCAPED || b == ESCAPED;
}

void tg_json_keys_init(struct tg_json_keys *keys, const char *text, size_t len)
{
    *keys = (struct tg_json_keys){.text = text, .text_len = len};
}

void tg_json_keys_done(struct tg_json_keys *keys)
{
    free(keys->entries);
    free(keys->slots);
    *keys = (struct tg_json_keys){0};
}

struct tg_json_keys_object tg_json_keys_begin(struct tg_json_keys *keys)
{
    return (struct tg_json_keys_object){.first = keys->count, .number = ++keys->object_count};
}

static size_t free_slot(struct tg_json_keys *keys, uint64_t hash)
{
    size_t slot = hash & (keys->slot_count - 1);

    for (; keys->slots[slot] != 0; slot = (slot + 1) & (keys->slot_count - 1))
        keys->step_count++;
    return slot;
}

static void append(struct tg_json_keys *keys, size_t at)
{
    if (keys->count == keys->cap) {
        keys->cap = keys->cap > 0 ? keys->cap * 2 : 32;
        tg_assert(keys->cap < UINT32_MAX / 4);
        keys->entries = tg_realloc(keys->entries, keys->cap * sizeof *keys->entries);
    }
    keys->entries[keys->count++] =
        (struct tg_json_key_entry){.at = at, .start = start_of(keys, at)};
}

/* Half of the slots stay free. */
static void make_slots(struct tg_json_keys *keys)
{
    if (keys->hashed_count * 2 < keys->slot_count)
        return;
    free(keys->slots);
    keys->slot_count = keys->slot_count > 0 ? keys->slot_count * 2 : (size_t)COMPARED_MOST * 4;
    keys->slots = tg_calloc(keys->slot_count, sizeof *keys->slots);
    for (size_t i = 0; i < keys->count; i++)
        if (keys->entries[i].hashed)
            keys->slots[free_slot(keys, keys->entries[i].hash)] = (uint32_t)i + 1;
}

static void put_in_slot(struct tg_json_keys *keys, size_t index, uint64_t hash)
{
    make_slots(keys);
    keys->slots[free_slot(keys, hash)] = (uint32_t)index + 1;
    keys->entries[index].hash = hash;
    keys->entries[index].hashed = true;
    keys->hashed_count++;
}

static bool add_compared(struct tg_json_keys *keys, const struct tg_json_keys_object *object,
                         size_t at)
{
    uint64_t start = start_of(keys, at);

    keys->step_count += keys->count - object->first;
    for (size_t i = object->first; i < keys->count; i++)
        if (may_be_same(keys->entries[i].start, start) &&
            same_key(keys, keys->entries[i].at, at))
            return false;
    append(keys, at);
    return true;
}

static bool is_in_slots(struct tg_json_keys *keys, const struct tg_json_keys_object *object,
                        size_t at, uint64_t hash)
{
    size_t slot = hash & (keys->slot_count - 1);

    for (; keys->slots[slot] != 0; slot = (slot + 1) & (keys->slot_count - 1)) {
        size_t index = keys->slots[slot] - 1;

        keys->step_count++;
        if (index >= object->first && keys->entries[index].hash == hash &&
            same_key(keys, keys->entries[index].at, at))
            return true;
    }
    keys->step_count++;
    return false;
}

bool tg_json_keys_add(struct tg_json_keys *keys, const struct tg_json_keys_object *object,
                      size_t at)
{
    size_t own = keys->count - object->first;
    uint64_t hash;

    if (own < COMPARED_MOST)
        return add_compared(keys, object, at);
    for (size_t i = object->first; own == COMPARED_MOST && i < keys->count; i++)
        put_in_slot(keys, i, hash_key(keys, object->number, keys->entries[i].at));
    hash = hash_key(keys, object->number, at);
    if (is_in_slots(keys, object, at, hash))
        return false;
    append(keys, at);
    put_in_slot(keys, keys->count - 1, hash);
    return true;
}

void tg_json_keys_end(struct tg_json_keys *keys, const struct tg_json_keys_object *object)
{
    /* Last in, first out: no entry that stays was put behind one that goes, so probing works on
     * without tombstones. */
    for (; keys->count > object->first; keys->count--) {
        size_t slot;

        if (!keys->entries[keys->count - 1].hashed)
            continue;
        slot = keys->entries[keys->count - 1].hash & (keys->slot_count - 1);
        for (; keys->slots[slot] != keys->count; slot = (slot + 1) & (keys->slot_count - 1))
            keys->step_count++;
        keys->slots[slot] = 0;
        keys->hashed_count--;
    }
}
