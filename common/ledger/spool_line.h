/* spool_line - the form of one line, for the writer and the reader of the spool.
 *
 * "\nLLLLLLLL SSSSSSSSSSSSSSSS NNNNNNNN {…}": length in bytes and sum of the entry, and the line's
 * number in its file from 1 on, all in hexadecimal. The sum is FNV-1a by words of eight bytes,
 * folded after each, as this machine writes words (a spool does not leave its node), and the number
 * is mixed in. Instead of an entry a file's last line says "next" (its worker went on to another
 * file) or "last" (it ended in order, nothing is owed); its number is that of the line before.
 * Blank lines mean nothing.
 *
 * Threads  any.  Blocks  no.
 */
#ifndef TOLLGATE_LEDGER_SPOOL_LINE_H
#define TOLLGATE_LEDGER_SPOOL_LINE_H

#include "common/ledger/spool.h"

enum { TG_SPOOL_LINE_MOST = 8 << 20, TG_SPOOL_HEAD = 35 };

/* The number is 0 yet. False when the entry is longer than a line may be. */
bool tg_spool_line_format(const struct tg_entry *entry, struct tg_buf *out) must_check
    non_null(1, 2);
/* "next" or "last". */
void tg_spool_line_mark(const char *word, struct tg_buf *out) non_null(1, 2);
/* Sets the number of the line that begins at <line>, behind its newline. */
void tg_spool_line_set_number(char *line, int64_t number) non_null(1);
/* Of a whole line. */
int64_t tg_spool_line_number(const char *line) must_check non_null(1);
/* Is <line> (without its newline) whole? */
bool tg_spool_line_is_whole(const char *line, size_t len) must_check non_null(1);

#endif
