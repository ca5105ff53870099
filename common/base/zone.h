/* zone - the rules of time zones, in one place: which instant is "4 o'clock in Berlin"?
 *
 * Reads the system's compiled rules (/usr/share/zoneinfo) itself: the C library knows one zone per
 * process, and changing it is not for threads. Nothing is ever computed as "plus 86,400 s": a day
 * begins when the clock on the wall says so, also where it is put forward or back.
 *
 * A clock that is put forward over the hour asked for: the day begins at the jump. One that shows
 * the hour twice: at the first time.
 *
 * Errors   TG_CLASS_INVALID "invalid_zone": no such zone, or its rules cannot be read.
 * Owns     tg_zone_free.
 * Threads  any, once loaded.  Blocks  load: on the file.
 * Source   RFC 8536; POSIX "TZ" for times behind the last one that is listed.
 */
#ifndef TOLLGATE_BASE_ZONE_H
#define TOLLGATE_BASE_ZONE_H

#include "common/base/error.h"

enum { TG_ZONE_NAME_MOST = 64 };

struct tg_zone;

/* <name>: "Europe/Berlin", "UTC". */
enum tg_class tg_zone_load(const char *name, struct tg_zone **ret, struct tg_error *err) must_check
    non_null(1, 2);
void tg_zone_free(struct tg_zone *zone); /* NULL is fine */

/* Local time minus UTC, in seconds. */
int64_t tg_zone_offset_s(const struct tg_zone *zone, int64_t unix_s) must_check non_null(1);
/* The last instant up to <unix_s> at which a day begins whose clock turns <hour> (0-23) ... */
int64_t tg_zone_day_begin_s(const struct tg_zone *zone, int64_t unix_s, int hour) must_check
    non_null(1);
/* ... and the first one behind it. */
int64_t tg_zone_day_end_s(const struct tg_zone *zone, int64_t unix_s, int hour) must_check
    non_null(1);

#endif
