/* file - the conf file as pairs of option and text.
 *
 * The values are handed over as texts, so that one check serves every source.
 *
 * Threads  any.  Blocks  on reading the file.
 */
#ifndef TOLLGATE_CONF_FILE_H
#define TOLLGATE_CONF_FILE_H

#include "common/base/error.h"
#include "common/conf/options.h"

/* <where> is "file:line". What it returns ends the reading unless it is TG_OK. */
typedef enum tg_class tg_conf_take_fn(void *context, enum tg_option_id id, const char *text,
                                      const char *where, struct tg_error *err);

/* Errors: TG_CLASS_CONFIG "conf_syntax", "conf_unknown", "conf_type" and those of guard.h. */
enum tg_class tg_conf_read(const char *path, tg_conf_take_fn *take, void *context,
                           struct tg_error *err) must_check non_null(1, 2);
/* The option of that name; false when there is none. */
bool tg_option_find(const char *name, size_t len, enum tg_option_id *ret) must_check
    non_null(1, 3);

#endif
