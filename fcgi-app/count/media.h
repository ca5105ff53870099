/* media - token figures for what is not text.
 *
 * OpenAI's pictures cost by their size, in tiles of 512 or patches of 32 pixels. Nothing is
 * fetched: a picture behind an address counts three times its model's base figure. Audio, video
 * and files have flat figures.
 *
 * Pure.  Threads  any.  Source  gateway-behaviour 9; OpenAI, "Calculating costs" of vision.
 */
#ifndef TOLLGATE_COUNT_MEDIA_H
#define TOLLGATE_COUNT_MEDIA_H

#include "fcgi-app/count/image.h"

enum { TG_MEDIA_AUDIO = 256, TG_MEDIA_VIDEO = 8192, TG_MEDIA_FILE = 4096 };

/* <low>: the client asked for "detail":"low". <size>: NULL when it is not known. */
int64_t tg_media_image(const char *model, bool low, const struct tg_image_size *size) non_null(1);

#endif
