/* unzstd - zstd frames from clients, piece by piece. Used by inflate.c, which says the rest. */
#ifndef TOLLGATE_COMPRESS_UNZSTD_H
#define TOLLGATE_COMPRESS_UNZSTD_H

#include "common/compress/inflate.h"

struct tg_unzstd;

struct tg_unzstd *tg_unzstd_new(void) must_check;
void tg_unzstd_free(struct tg_unzstd *unzstd); /* NULL is fine */
enum tg_class tg_unzstd_feed(struct tg_unzstd *unzstd, struct tg_span bytes,
                             const struct tg_inflate_target *target, struct tg_error *err)
    must_check non_null(1, 3);
bool tg_unzstd_is_whole(const struct tg_unzstd *unzstd) non_null(1);

#endif
