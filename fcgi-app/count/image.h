/* image - width and height of a picture inside a data URL, from its first bytes.
 *
 * PNG, GIF, JPEG, WebP; nothing is decompressed, nothing fetched, nothing copied.
 *
 * Pure.  Threads  any.
 */
#ifndef TOLLGATE_COUNT_IMAGE_H
#define TOLLGATE_COUNT_IMAGE_H

#include "common/base/base.h"

struct tg_image_size {
    int64_t width, height;
};

/* <data>: base64. False: not one of these, or cut off before its size. */
bool tg_image_size(struct tg_span data, struct tg_image_size *ret) must_check non_null(2);
/* "data:image/png;base64,…"; other addresses tell nothing. */
bool tg_image_size_of_url(struct tg_span url, struct tg_image_size *ret) must_check non_null(2);

#endif
