#include "common/base/id.h"

#include "common/base/clock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/random.h>

/* Random bytes are fetched for many ids together: a call to the kernel costs more than the id. A
 * child process must not go on with what its parent has fetched. */
static _Atomic uint64_t generation = 1;
static pthread_once_t watched = PTHREAD_ONCE_INIT;
static _Thread_local struct {
    uint64_t generation;
    size_t left;
    uint8_t bytes[256]; /* what getrandom(2) gives whole */
} fetched;

static void forked(void)
{
    atomic_fetch_add(&generation, 1);
}

static void watch_forks(void)
{
    tg_assert(pthread_atfork(NULL, NULL, forked) == 0);
}

static void take_random(uint8_t *bytes, size_t len)
{
    if (fetched.generation != atomic_load_explicit(&generation, memory_order_relaxed) ||
        fetched.left < len) {
        pthread_once(&watched, watch_forks);
        tg_assert(getrandom(fetched.bytes, sizeof fetched.bytes, 0) ==
                  (ssize_t)sizeof fetched.bytes);
        fetched.generation = atomic_load(&generation);
        fetched.left = sizeof fetched.bytes;
    }
    fetched.left -= len;
    memcpy(bytes, fetched.bytes + fetched.left, len);
}

struct tg_id tg_id_new(void)
{
    struct tg_id id;
    uint64_t unix_ms = (uint64_t)(tg_unix_us() / 1000);

    take_random(id.bytes, sizeof id.bytes);
    for (int i = 0; i < 6; i++)
        id.bytes[i] = (uint8_t)(unix_ms >> (40 - 8 * i));
    id.bytes[6] = (uint8_t)(0x70 | (id.bytes[6] & 0x0f));
    id.bytes[8] = (uint8_t)(0x80 | (id.bytes[8] & 0x3f));
    return id;
}

void tg_id_format(const struct tg_id *id, char text[TG_ID_TEXT])
{
    static const char hex[] = "0123456789abcdef";
    size_t at = 0;

    for (size_t i = 0; i < TG_ID_BYTES; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            text[at++] = '-';
        text[at++] = hex[id->bytes[i] >> 4];
        text[at++] = hex[id->bytes[i] & 15];
    }
    text[at] = '\0';
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

bool tg_id_parse(const char *text, struct tg_id *ret)
{
    struct tg_id id;

    if (strlen(text) != TG_ID_TEXT - 1)
        return false;
    for (size_t i = 0; i < TG_ID_BYTES; i++) {
        int high, low;

        if ((i == 4 || i == 6 || i == 8 || i == 10) && *text++ != '-')
            return false;
        high = hex_value(*text++);
        low = hex_value(*text++);
        if (high < 0 || low < 0)
            return false;
        id.bytes[i] = (uint8_t)(high << 4 | low);
    }
    *ret = id;
    return true;
}

int64_t tg_id_unix_ms(const struct tg_id *id)
{
    int64_t unix_ms = 0;

    for (int i = 0; i < 6; i++)
        unix_ms = unix_ms << 8 | id->bytes[i];
    return unix_ms;
}
