#include "fcgi-app/daemon/once.h"

#include "common/base/log.h"

enum { ROUNDS = 20 }; /* a worker that goes on writing would keep it busy for ever */

enum tg_class daemon_once(struct daemon *daemon, struct tg_error *err)
{
    static enum tg_class (*const steps[])(struct daemon *, struct daemon_links *, bool *,
                                          struct tg_error *) = {
        daemon_jobs_once, daemon_shards_once, daemon_replay_once, daemon_shards_once,
        daemon_records_once};
    struct daemon_links links;
    bool moved = true;
    enum tg_class class = daemon_connect(daemon, NEED_MAIN | NEED_LOG | NEED_KV, &links, err);

    if (class != TG_OK)
        return class;
    for (int round = 0; class == TG_OK && moved && round < ROUNDS; round++) {
        moved = false;
        for (size_t i = 0; class == TG_OK && i < TG_COUNT_OF(steps); i++) {
            bool some = false;

            if (daemon->single && steps[i] == daemon_shards_once)
                continue;

            class = steps[i](daemon, &links, &some, err);
            moved = moved || some;
        }
    }
    daemon_disconnect(&links);
    return class;
}
