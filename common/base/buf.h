/* buf - a growing run of bytes with a sticky failure.
 *
 * Append ten things, check once: after the size would pass `limit_bytes` the buffer is `failed`
 * and ignores what follows. The data is always NUL-terminated behind `len`.
 *
 * Threads  one owner.  Blocks  no.
 */
#ifndef TOLLGATE_BASE_BUF_H
#define TOLLGATE_BASE_BUF_H

#include "common/base/base.h"

struct tg_buf {
    char *data; /* NULL until the first byte */
    size_t len;
    size_t cap;
    size_t limit_bytes; /* 0: none */
    bool failed;
};

void tg_buf_init(struct tg_buf *buf, size_t limit_bytes) non_null(1);
void tg_buf_done(struct tg_buf *buf); /* NULL is fine */
void tg_buf_reset(struct tg_buf *buf) non_null(1); /* keeps the memory, clears `failed` */

void tg_buf_add(struct tg_buf *buf, const void *bytes, size_t len) non_null(1);
void tg_buf_str(struct tg_buf *buf, const char *text) non_null(1, 2);
void tg_buf_char(struct tg_buf *buf, char c) non_null(1);
void tg_buf_int(struct tg_buf *buf, int64_t value) non_null(1); /* as decimal digits */
void tg_buf_printf(struct tg_buf *buf, const char *format, ...) printf_like(2, 3) non_null(1, 2);
/* Drops the first <len> bytes. */
void tg_buf_drop(struct tg_buf *buf, size_t len) non_null(1);
/* The text so far, "" when empty. Borrowed until the next change. */
const char *tg_buf_text(const struct tg_buf *buf) non_null(1);

#endif
