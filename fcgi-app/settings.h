/* settings - the conf's values in the form that requests use, made once per (re)load.
 *
 * Threads  any once made.  Blocks  no.
 */
#ifndef TOLLGATE_SETTINGS_H
#define TOLLGATE_SETTINGS_H

#include "fcgi-app/worker.h"

/* Owns: takes <conf> when it succeeds. */
enum tg_class tg_settings_new(struct tg_conf *conf, struct tg_settings **ret, struct tg_error *err)
    must_check non_null(1, 2);
/* With all that they replaced. NULL is fine. */
void tg_settings_free(struct tg_settings *settings);

#endif
