#include "fcgi-app/daemon/advice.h"

#include "common/base/clock.h"
#include "common/base/log.h"

#include <string.h>

enum { ANSWER_US = 2000000 };

/* Does INFO's text have a line that begins so? */
static bool has_line(const char *info, const char *start)
{
    const char *at = strstr(info, start);

    return at != NULL && (at == info || at[-1] == '\n');
}

enum tg_class daemon_advise(struct tg_kv *kv, struct tg_error *err)
{
    static const struct {
        const char *line;
        bool wanted; /* the line, or its absence */
        const char *advice;
    } checks[] = {
        {"aof_enabled:1", true, "appendonly is off: a restart loses what the journal had last"},
        {"maxmemory:0\r", false, "maxmemory is not set: a full machine ends Redis"},
        {"maxmemory_policy:allkeys-", false,
         "maxmemory-policy evicts keys without a TTL: money would go"},
        {"role:slave", false, "it is a replica: it cannot be written to"},
    };
    const struct tg_span words[] = {{"INFO", 4}};
    const struct tg_kv_call call = {
        .args = words, .count = 1, .deadline_at_us = tg_now_us() + ANSWER_US};
    const struct tg_kv_reply *reply;
    enum tg_class class = tg_kv_command(kv, &call, &reply, err);

    for (size_t i = 0; class == TG_OK && i < TG_COUNT_OF(checks); i++)
        if (has_line(tg_kv_string(reply).ptr, checks[i].line) != checks[i].wanted)
            tg_log(TG_LOG_WARNING, "redis", "%s", checks[i].advice);
    return class;
}
