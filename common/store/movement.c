#include "common/store/movement.h"

#include "common/base/memory.h"

#include <inttypes.h>
#include <stdlib.h>

typedef int64_t key_fn(const struct tg_entry *entry);

struct keyed {
    int64_t key;
    size_t position; /* qsort is not stable */
    const struct tg_entry *entry;
};

bool tg_entry_is_request(const struct tg_entry *entry)
{
    return entry->kind == TG_ENTRY_CHARGE || entry->kind == TG_ENTRY_REFUND ||
           entry->kind == TG_ENTRY_EXPIRED;
}

static int64_t user_of(const struct tg_entry *entry)
{
    return entry->user_id;
}

static int64_t token_of(const struct tg_entry *entry)
{
    return entry->token_id;
}

static int64_t plan_of(const struct tg_entry *entry)
{
    return entry->funding.plan_id;
}

static int by_key(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->position < y->position ? -1 : x->position > y->position;
}

/* The entries that have a key, grouped. Owns: caller. */
static struct keyed *group(const struct tg_entry *const *entries, size_t count, key_fn *key_of,
                           size_t *ret_count)
{
    struct keyed *list = tg_calloc(count + 1, sizeof *list);
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        int64_t key = key_of(entries[i]);

        if (key != 0)
            list[n++] = (struct keyed){.key = key, .position = i, .entry = entries[i]};
    }
    qsort(list, n, sizeof *list, by_key);
    *ret_count = n;
    return list;
}

void tg_movement_users(const struct tg_entry *const *entries, size_t count, struct tg_buf *out)
{
    size_t n;
    struct keyed *list = group(entries, count, user_of, &n);

    tg_buf_char(out, '[');
    for (size_t i = 0; i < n;) {
        int64_t id = list[i].key, quota = 0, used = 0, requests = 0, authver = 0;

        tg_buf_str(out, i == 0 ? "" : ",");
        for (; i < n && list[i].key == id; i++) {
            const struct tg_entry *entry = list[i].entry;

            quota += entry->funding.plan_id == 0 ? entry->amount_quota : 0;
            used += tg_entry_is_request(entry) ? entry->amount_quota : 0;
            requests += tg_entry_is_request(entry);
            authver = TG_MAX(authver, entry->authver);
        }
        tg_buf_printf(out, "[%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 "]", id,
                      quota, used, requests, authver);
    }
    tg_buf_char(out, ']');
    free(list);
}

void tg_movement_tokens(const struct tg_entry *const *entries, size_t count, struct tg_buf *out)
{
    size_t n;
    struct keyed *list = group(entries, count, token_of, &n);

    tg_buf_char(out, '[');
    for (size_t i = 0; i < n;) {
        int64_t id = list[i].key, remain = 0, used = 0;
        int unlimited = -1;

        tg_buf_str(out, i == 0 ? "" : ",");
        for (; i < n && list[i].key == id; i++) {
            const struct tg_entry *entry = list[i].entry;

            remain += entry->amount_quota - entry->token_delta_quota;
            used += tg_entry_is_request(entry) ? entry->amount_quota : 0;
            if (entry->kind == TG_ENTRY_ADJUST && entry->token_unlimited >= 0)
                unlimited = entry->token_unlimited;
        }
        tg_buf_printf(out, "[%" PRId64 ",%" PRId64 ",%" PRId64 ",%d]", id, remain, used,
                      unlimited);
    }
    tg_buf_char(out, ']');
    free(list);
}

void tg_movement_plans(const struct tg_entry *const *entries, size_t count, struct tg_buf *out)
{
    size_t n;
    struct keyed *list = group(entries, count, plan_of, &n);

    tg_buf_char(out, '[');
    for (size_t i = 0; i < n;) {
        int64_t id = list[i].key, remain = 0, period = 0;

        tg_buf_str(out, i == 0 ? "" : ",");
        for (; i < n && list[i].key == id; i++) {
            const struct tg_entry *entry = list[i].entry;

            remain += entry->plan_quota;
            if (entry->kind == TG_ENTRY_RESET)
                period = TG_MAX(period, entry->funding.period);
        }
        tg_buf_printf(out, "[%" PRId64 ",%" PRId64 ",%" PRId64 "]", id, remain, period);
    }
    tg_buf_char(out, ']');
    free(list);
}
