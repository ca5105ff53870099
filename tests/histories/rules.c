#include "tests/histories/rules.h"

#include "tests/histories/seam.h"
#include "tests/histories/servers.h"

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RULE(name) {#name, offsetof(struct rules, name)}
static const struct {
    const char *name;
    size_t at;
} names[] = {
    RULE(endsweep),  RULE(latesweep),   RULE(anyfinal),   RULE(applier), RULE(nocreditpush),
    RULE(noextend),  RULE(nowait),      RULE(noepoch),    RULE(drop),    RULE(lease),
    RULE(blindfinish), RULE(eqbegin),   RULE(nodeadline), RULE(somescripts), RULE(nosettle),
    RULE(giveback),  RULE(fullbill),    RULE(keptholds),
};

bool rules_put_back(struct rules *rules, const char *name)
{
    for (size_t i = 0; i < TG_COUNT_OF(names); i++)
        if (strcmp(names[i].name, name) == 0) {
            *(bool *)((char *)rules + names[i].at) = true;
            return true;
        }
    return false;
}

const char *rules_name(size_t index)
{
    return index < TG_COUNT_OF(names) ? names[index].name : NULL;
}

/* ---- scripts as text */

/* The history's time stands behind the deadline: "until@now". Stream ids are of it too, but never
 * below the last one, as the server makes them. */
static const char clock_text[] =
    "local until_text, now_text = match(ARGV[3], '^(%-?%d+)@(%d+)$')\n"
    "ARGV[3] = until_text\n"
    "local function next_id()\n"
    "    local last = 0\n"
    "    if call('EXISTS', KEYS[5]) == 1 then\n"
    "        local info = call('XINFO', 'STREAM', KEYS[5])\n"
    "        for i = 1, #info, 2 do\n"
    "            if info[i] == 'last-generated-id' then last = match(info[i + 1], '^%d+') end\n"
    "        end\n"
    "    end\n"
    "    return format('%.0f-*', math.max(tonumber(now_text), tonumber(last)))\n"
    "end\n"
    "local time = {math.floor(now_text / 1000), now_text % 1000 * 1000}";

static const char late_text[] =
    "if call('ZSCORE', KEYS[4], id) then\n"
    "    local paid = call('HGET', 'tg:{s01}:late', id)\n"
    "    if not paid then return {'ended'} end\n"
    "    if call('HGET', KEYS[2], 'epoch') ~= ARGV[1] or\n"
    "       call('HGET', KEYS[6], 'epoch') ~= ARGV[1] then return {'missing'} end\n"
    "    call('HDEL', 'tg:{s01}:late', id)\n"
    "    id, amount = string.sub(id, 1, 8) .. '\\129' .. string.sub(id, 10), amount - paid\n"
    "elseif kind == 'expired' then call('HSET', 'tg:{s01}:late', id, ARGV[9]) end";

struct change {
    const char *script; /* NULL: all */
    size_t rule;        /* SIZE_MAX: always */
    const char *from, *to;
};
#define OF(name) offsetof(struct rules, name)
#define STATE_IS_OFF " or state[3] ~= '1' then return {'rebuilding'} end"
#define CLOSED " then return {'rebuilding'} end"
#define NOT_MINE "state[1] ~= ARGV[1] or state[2] ~= ARGV[2]"
static const struct change changes[] = {
    {NULL, SIZE_MAX, "local time = call('TIME')", clock_text},
    {"settle", SIZE_MAX, "call('XADD', KEYS[5], '*',", "call('XADD', KEYS[5], next_id(),"},
    {"reset", SIZE_MAX, "call('XADD', KEYS[5], '*',", "call('XADD', KEYS[5], next_id(),"},
    {"settle", OF(giveback), "period and period ~= plan[3]", "false"},
    {"settle", OF(fullbill), "'m', format('%d', out)", "'m', charged"},
    {"reset", OF(keptholds), "out = remain + held - left", "out = remain - left"},
    {"settle", OF(latesweep),
     "if not hold and call('ZSCORE', KEYS[4], id) then return {'ended'} end", late_text},
    {"extend", OF(noextend), "if not hold or hold.lapsed then",
     "if not hold or hold.lapsed then return {'ended'} end\nif false then"},
    {"reserve", OF(noepoch), NOT_MINE " or ", ""},
    {"extend", OF(noepoch), NOT_MINE " or ", ""},
    {"settle", OF(noepoch), NOT_MINE " or ", ""},
    {"load", OF(noepoch), NOT_MINE " or ", ""},
    {"lapse", OF(noepoch), NOT_MINE " or ", ""},
    {"load", OF(somescripts), STATE_IS_OFF, CLOSED},
    {"extend", OF(somescripts), STATE_IS_OFF, CLOSED},
    {"lapse", OF(somescripts), STATE_IS_OFF, CLOSED},
    {"trim", OF(somescripts), STATE_IS_OFF, CLOSED},
    {NULL, OF(nodeadline), "if NOW > tonumber(ARGV[3]) then return {'late'} end", ""},
    {"finish", OF(blindfinish), "if " NOT_MINE " then return {'fenced'} end",
     "call('HSET', KEYS[1], 'epoch', ARGV[1], 'run', ARGV[2])"},
    {"finish", OF(lease), "if " NOT_MINE " then return {'fenced'} end",
     "call('HSET', KEYS[1], 'epoch', ARGV[1], 'run', ARGV[2])"},
    {"trim", OF(nowait), "NOW - ARGV[5], NOW - ARGV[6]", "NOW, NOW"},
    {"begin", OF(eqbegin), ">= tonumber(ARGV[1])", "> tonumber(ARGV[1])"},
    {"begin", OF(lease), ">= tonumber(ARGV[1])", "> 9e15"},
};

static bool applies(const struct rules *rules, const struct change *change, const char *script)
{
    return (change->script == NULL || strcmp(change->script, script) == 0) &&
           (change->rule == SIZE_MAX || *(const bool *)((const char *)rules + change->rule));
}

/* Replaces every occurrence; there must be one. */
static void replace(struct tg_buf *text, const struct change *change, const char *script)
{
    struct tg_buf out;
    const char *at = tg_buf_text(text), *found;
    int count = 0;

    tg_buf_init(&out, 0);
    for (; (found = strstr(at, change->from)) != NULL; count++) {
        tg_buf_add(&out, at, (size_t)(found - at));
        tg_buf_str(&out, change->to);
        at = found + strlen(change->from);
    }
    tg_buf_str(&out, at);
    if (count == 0) {
        fprintf(stderr, "%s.lua has no longer: %s\n", script, change->from);
        exit(2);
    }
    tg_buf_done(text);
    *text = out;
}

static void make(const struct rules *rules, const struct tg_kv_script *script,
                 struct tg_kv_script *ret)
{
    struct tg_buf text;
    const struct tg_kv_reply *reply;

    tg_buf_init(&text, 0);
    tg_buf_add(&text, script->text, script->len);
    for (size_t i = 0; i < TG_COUNT_OF(changes); i++)
        if (applies(rules, &changes[i], script->name))
            replace(&text, &changes[i], script->name);
    *ret = (struct tg_kv_script){
        .name = script->name, .text = tg_strdup(tg_buf_text(&text)), .len = text.len};
    const struct tg_span words[] = {{"SCRIPT", 6}, {"LOAD", 4}, {ret->text, ret->len}};
    const struct tg_kv_call call = {
        .args = words, .count = 3, .deadline_at_us = tg_now_us() + 10000000};
    if (seam_command(servers_link(), &call, &reply) != TG_OK) {
        fprintf(stderr, "%s.lua: %s\n", script->name, tg_kv_error(servers_link())->message);
        exit(2);
    }
    snprintf(ret->sha1, sizeof ret->sha1, "%s", tg_kv_string(reply).ptr);
    tg_buf_done(&text);
}

/* The rules of a run are the same from its first call to its last. */
const struct tg_kv_script *rules_script(const struct rules *rules,
                                        const struct tg_kv_script *script)
{
    static struct {
        const struct tg_kv_script *from;
        struct tg_kv_script made;
    } cache[32];
    size_t i = 0;

    while (cache[i].from != NULL && cache[i].from != script)
        tg_assert(++i < TG_COUNT_OF(cache));
    if (cache[i].from == NULL) {
        make(rules, script, &cache[i].made);
        cache[i].from = script;
    }
    return &cache[i].made;
}
