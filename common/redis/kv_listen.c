#include "common/redis/kv_link.h"

#include "common/base/clock.h"
#include "common/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONNECT_LIMIT_US = 1000000 };

/* A listener whose connection broke says so once (what was published meanwhile is lost) and
 * connects again on the next wait. */
struct tg_kv_listener {
    struct tg_kv_conf conf;
    char *channel;
    struct tg_kv *kv; /* NULL while not connected */
};

static enum tg_class subscribe(struct tg_kv_listener *listener, int64_t deadline_at_us,
                               struct tg_error *err)
{
    struct tg_span args[] = {{"SUBSCRIBE", 9}, {listener->channel, strlen(listener->channel)}};
    const struct tg_kv_reply *reply;
    enum tg_class class = tg_kv_open(&listener->conf, deadline_at_us, &listener->kv, err);

    if (class != TG_OK)
        return class;
    tg_assert(listener->kv != NULL);
    class = tg_kv_command(listener->kv,
                          &(struct tg_kv_call){.args = args,
                                               .count = TG_COUNT_OF(args),
                                               .deadline_at_us = deadline_at_us},
                          &reply, err);
    if (class != TG_OK) {
        tg_kv_close(listener->kv);
        listener->kv = NULL;
    }
    return class;
}

enum tg_class tg_kv_listen(struct tg_kv_pool *pool, const char *channel,
                           struct tg_kv_listener **ret, struct tg_error *err)
{
    struct tg_kv_listener *listener = tg_calloc(1, sizeof *listener);
    enum tg_class class;

    tg_kv_conf_copy(&listener->conf, tg_kv_pool_conf(pool));
    listener->channel = tg_strdup(channel);
    class = subscribe(listener, tg_now_us() + CONNECT_LIMIT_US, err);
    if (class == TG_OK)
        *ret = listener;
    else
        tg_kv_listener_free(listener);
    return class;
}

enum tg_class tg_kv_listener_wait(struct tg_kv_listener *listener, int64_t wait_us, bool *ret_got,
                                  char *message, size_t room)
{
    int64_t deadline_at_us = tg_now_us() + wait_us;
    const struct tg_kv_reply *reply = NULL;
    struct tg_span text;
    enum tg_class class;

    if (listener->kv == NULL) {
        class = subscribe(listener, deadline_at_us, NULL);
        if (class != TG_OK)
            return class;
    }
    class = tg_kv_receive(listener->kv, deadline_at_us, &reply);
    if (class != TG_OK) {
        tg_kv_close(listener->kv);
        listener->kv = NULL;
        return class;
    }
    *ret_got = reply != NULL && tg_kv_len(reply) == 3;
    if (*ret_got) {
        text = tg_kv_string(tg_kv_at(reply, 2));
        snprintf(message, room, "%.*s", (int)text.len, text.ptr);
    }
    return TG_OK;
}

void tg_kv_listener_free(struct tg_kv_listener *listener)
{
    if (listener == NULL)
        return;
    tg_kv_close(listener->kv);
    tg_kv_conf_done(&listener->conf);
    free(listener->channel);
    free(listener);
}
