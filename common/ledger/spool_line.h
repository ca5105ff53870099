/* spool_line - the form of one line, for the writer and the reader of the spool.
 *
 * "\nLLLLLLLL SSSSSSSSSSSSSSSS {…}": length in bytes and sum of the entry, both in hexadecimal. The
 * sum is FNV-1a by words of eight bytes, folded after each, as this machine writes words: a spool
 * does not leave its node. Blank lines mean nothing.
 *
 * Threads  any.  Blocks  no.
 */
#ifndef TOLLGATE_LEDGER_SPOOL_LINE_H
#define TOLLGATE_LEDGER_SPOOL_LINE_H

#include "common/ledger/spool.h"

enum { TG_SPOOL_LINE_MOST = 8 << 20, TG_SPOOL_HEAD = 26 };

/* False when the entry is longer than a line may be. */
bool tg_spool_line_format(const struct tg_entry *entry, struct tg_buf *out) must_check
    non_null(1, 2);
/* Is <line> (without its newline) whole? */
bool tg_spool_line_is_whole(const char *line, size_t len) must_check non_null(1);

#endif
