#include "fcgi-app/convert/names.h"

#include "fcgi-app/convert/sha256.h"

#include <string.h>

enum { HEAD_KEPT = 55, NAME_HASH = 8, ID_HASH = 24 };

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

static bool is_plain(struct tg_span text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!is_word(text.ptr[i]))
            return false;
    return text.len > 0;
}

const char *tg_name_make(struct tg_arena *arena, struct tg_span name)
{
    char hash[TG_SHA256_HEX];
    char *made = tg_arena_strndup(arena, name.ptr, name.len);

    if (is_plain(name) && name.len <= TG_NAME_MOST)
        return made;
    for (size_t i = 0; i < name.len; i++)
        if (!is_word(made[i]))
            made[i] = '_';
    if (name.len == 0)
        return "_";
    if (name.len <= TG_NAME_MOST)
        return made;
    tg_name_hash(name, hash);
    return tg_arena_printf(arena, "%.*s_%.*s", HEAD_KEPT, made, NAME_HASH, hash);
}

const char *tg_call_id_make(struct tg_arena *arena, struct tg_span id, size_t most)
{
    char hash[TG_SHA256_HEX];

    if (is_plain(id) && id.len <= most)
        return tg_arena_strndup(arena, id.ptr, id.len);
    tg_name_hash(id, hash);
    return tg_arena_printf(arena, "call_%.*s", ID_HASH, hash);
}
