/* value - is this text a good value for that option, and what number is it?
 *
 * The same check for values from the file, the environment, the database and the defaults.
 *
 * Threads  any.  Blocks  no.
 */
#ifndef TOLLGATE_CONF_VALUE_H
#define TOLLGATE_CONF_VALUE_H

#include "common/conf/options.h"

enum { TG_VALUE_WHY = 160, TG_BOUND_TEXT = 32 };

/* *ret_number: inner unit; 0 or 1 for BOOL; 0 for texts. <why> completes "log.level ". */
bool tg_option_value(enum tg_option_id id, const char *text, int64_t *ret_number,
                     char why[TG_VALUE_WHY]) must_check non_null(2, 3);

/* A bound in the unit that a person would write ("1h", "128MiB", "5000"). */
void tg_option_bound(enum tg_option_type type, int64_t bound, char text[TG_BOUND_TEXT]);

#endif
