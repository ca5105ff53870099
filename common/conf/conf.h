/* conf - the settings in force, read once and immutable (the only user of libconfig).
 *
 * Precedence: `options` table of the database > conf file > environment TOLLGATE_<SECTION>_<KEY>
 * > default. Unknown keys, wrong types, values out of bounds are errors with file and line.
 * @include is allowed from the conf file's own folder only. Values with units are texts.
 *
 * Threads  any once made (immutable).  Blocks  on reading the file.
 */
#ifndef TOLLGATE_CONF_CONF_H
#define TOLLGATE_CONF_CONF_H

#include "common/base/buf.h"
#include "common/base/error.h"
#include "common/conf/options.h"

struct tg_conf;

enum tg_conf_source {
    TG_CONF_FROM_DEFAULT,
    TG_CONF_FROM_ENVIRONMENT,
    TG_CONF_FROM_FILE,
    TG_CONF_FROM_DATABASE
};

/* A value of the `options` table laid over the file. */
struct tg_conf_overlay {
    const char *name, *value;
};

/* May that be laid over the file? Errors: TG_CLASS_CONFIG "conf_unknown", "conf_value". */
enum tg_class tg_conf_check_overlay(const struct tg_conf_overlay *overlay, struct tg_error *err)
    must_check non_null(1);

/* The file to read when the command line names none: TOLLGATE_CONF, else the installed place. */
const char *tg_conf_default_path(void);

/* Errors: TG_CLASS_CONFIG "conf_…"; the message starts with file:line where there is one. */
enum tg_class tg_conf_load(const char *path, const struct tg_conf_overlay *overlay, size_t count,
                           struct tg_conf **ret, struct tg_error *err) must_check non_null(1, 4);
void tg_conf_free(struct tg_conf *conf); /* NULL is fine */

/* Asking with the wrong type is a programming error. */
const char *tg_conf_text(const struct tg_conf *conf, enum tg_option_id id) non_null(1);
int64_t tg_conf_int(const struct tg_conf *conf, enum tg_option_id id) non_null(1); /* inner unit */
bool tg_conf_bool(const struct tg_conf *conf, enum tg_option_id id) non_null(1);
enum tg_conf_source tg_conf_source(const struct tg_conf *conf, enum tg_option_id id) non_null(1);
/* The value as a person would write it, for `config show`. */
const char *tg_conf_shown(const struct tg_conf *conf, enum tg_option_id id) non_null(1);

/* The first line of a password file without its line end; <path> "" gives "". Refuses files that
 * others may read. */
enum tg_class tg_conf_password(const char *path, struct tg_buf *ret, struct tg_error *err)
    must_check non_null(1, 2);

#endif
