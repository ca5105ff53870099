/* sample - the annotated conf file, made from the table of options.
 *
 * conf/tollgate.conf is its text without overlay (a unit test compares them); `tollgatectl init`
 * writes one with the values that it was given.
 *
 * Threads  any.  Blocks  no.
 */
#ifndef TOLLGATE_CONF_SAMPLE_H
#define TOLLGATE_CONF_SAMPLE_H

#include "common/base/buf.h"
#include "common/conf/conf.h"

/* Options of <overlay> stand with their value, all others as a comment with their default.
 * Unknown names are a programming error; values are not checked (loading does). */
void tg_conf_write_sample(const struct tg_conf_overlay *overlay, size_t count, struct tg_buf *ret)
    non_null(3);

#endif
