/* zone_rule - a POSIX TZ text: the rule of a zone behind the last change that its file lists.
 *
 * "CET-1CEST,M3.5.0,M10.5.0/3": standard time, summer time, and when the one follows the other.
 * Only the form "Mmonth.week.day" is known; the files of today hold no other.
 *
 * Threads  any.  Blocks  no.  Source  POSIX "TZ", RFC 8536 3.3.1.
 */
#ifndef TOLLGATE_BASE_ZONE_RULE_H
#define TOLLGATE_BASE_ZONE_RULE_H

#include "common/base/base.h"

struct tg_zone_change {
    int month, week, day; /* week 5: the last; day 0: Sunday */
    int64_t at_s;         /* on the wall clock, from midnight; may be negative or beyond 24 h */
};
struct tg_zone_rule {
    int64_t standard_s, summer_s; /* offsets */
    bool changes;
    struct tg_zone_change begin, end; /* of summer time */
};

bool tg_zone_rule_parse(const char *text, struct tg_zone_rule *ret) must_check non_null(1, 2);
int64_t tg_zone_rule_offset_s(const struct tg_zone_rule *rule, int64_t unix_s) must_check
    non_null(1);

#endif
