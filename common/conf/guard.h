/* guard - what libconfig would take without a word and Tollgate does not.
 *
 * Whole numbers beyond 31 bits (libconfig 1.5 reads 4294967298 as 2) and @include of files outside
 * the conf file's own folder. Files that are included are looked at as well.
 *
 * Threads  any.  Blocks  on reading the files.
 */
#ifndef TOLLGATE_CONF_GUARD_H
#define TOLLGATE_CONF_GUARD_H

#include "common/base/error.h"

/* Errors: TG_CLASS_CONFIG "conf_file", "conf_value", "conf_include". */
enum tg_class tg_conf_guard(const char *path, struct tg_error *err) must_check non_null(1);

#endif
