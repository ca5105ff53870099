/* dsn - the address of a database: mysql://USER@HOST[:PORT]/NAME[?socket=PATH].
 *
 * %XX is decoded in USER and the socket's path. A password in the address is refused: addresses
 * are shown by `config show` and stand in process lists, passwords have files of their own.
 *
 * Threads  any.  Blocks  no.
 */
#ifndef TOLLGATE_SQL_DSN_H
#define TOLLGATE_SQL_DSN_H

#include "common/base/error.h"

struct tg_dsn {
    char user[81];
    char host[256];
    unsigned port;    /* 0: the default */
    char schema[65];  /* letters, digits, '_', '-', '$' only: safe between backticks */
    char socket[108]; /* "": TCP, or the library's own path for localhost */
};

/* Errors: TG_CLASS_CONFIG "db_address". */
enum tg_class tg_dsn_parse(const char *text, struct tg_dsn *ret, struct tg_error *err) must_check
    non_null(1, 2);

#endif
