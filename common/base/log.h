/* log - one line per event, for people and for grep.
 *
 * "2026-11-30T16:05:00.123456Z LEVEL program[pid]: word: text". Control characters in the text are
 * escaped, a line is cut at 2,000 bytes and written with one write. Secrets never go in.
 *
 * Threads  any, lock-free (one write per line).  Blocks  only as long as write(2).
 */
#ifndef TOLLGATE_BASE_LOG_H
#define TOLLGATE_BASE_LOG_H

#include "common/base/error.h"

enum tg_log_level { TG_LOG_DEBUG, TG_LOG_INFO, TG_LOG_WARNING, TG_LOG_ERROR };

/* <path> empty or NULL: standard error. Reopen with the same call (log rotation, SIGHUP). */
enum tg_class tg_log_open(const char *program, const char *path, enum tg_log_level least,
                          struct tg_error *err) must_check non_null(1);
/* <word> names the area in one stable word ("pool", "ledger"). */
void tg_log(enum tg_log_level level, const char *word, const char *format, ...) printf_like(3, 4)
    non_null(2, 3);
void tg_log_error(enum tg_log_level level, const char *word, const struct tg_error *err)
    non_null(2, 3);
bool tg_log_level_parse(const char *text, enum tg_log_level *ret) must_check non_null(1, 2);

#endif
