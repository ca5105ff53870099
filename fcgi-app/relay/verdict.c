#include "fcgi-app/relay/verdict.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Without regard to case; bodies hold no NUL before their end. */
static bool holds(const char *text, size_t len, const char *phrase, size_t phrase_len)
{
    for (size_t i = 0; phrase_len <= len && i <= len - phrase_len; i++)
        if (strncasecmp(text + i, phrase, phrase_len) == 0)
            return true;
    return false;
}

/* The next phrase of the list; its length, 0 at the end. */
static size_t next_phrase(const char **at)
{
    size_t len;

    *at += strspn(*at, "; ");
    len = strcspn(*at, ";");
    while (len > 0 && (*at)[len - 1] == ' ')
        len--;
    return len;
}

static bool says_phrase(const struct tg_verdict_facts *facts, char reason[TG_VERDICT_TEXT])
{
    const char *message = facts->error->message, *at = facts->phrases;
    size_t len;

    for (; (len = next_phrase(&at)) > 0; at += len) {
        if (!holds(message, strlen(message), at, len) ||
            holds(facts->body.ptr, facts->body.len, at, len))
            continue;
        snprintf(reason, TG_VERDICT_TEXT, "the upstream answered %d: %.*s", facts->error->status,
                 (int)TG_MIN(len, (size_t)80), at);
        return true;
    }
    return false;
}

bool tg_verdict_disables(const struct tg_verdict_facts *facts, char reason[TG_VERDICT_TEXT])
{
    const struct tg_error *error = facts->error;

    if ((error->class != TG_CLASS_ACCOUNT && error->class != TG_CLASS_UPSTREAM) ||
        error->status == 404)
        return false;
    if (says_phrase(facts, reason))
        return true;
    if (error->status == 400 || error->status == 413 || error->status == 422 ||
        !tg_status_ranges_has(facts->statuses, error->status))
        return false;
    snprintf(reason, TG_VERDICT_TEXT, "the upstream answered %d (%.60s)", error->status,
             error->code);
    return true;
}
