/* media - flat token figures for what is not text.
 *
 * Nothing is decoded or fetched: an image counts by its model's base figure, so that an estimate
 * never depends on bytes that a client only points at.
 *
 * Pure.  Threads  any.
 */
#ifndef TOLLGATE_COUNT_MEDIA_H
#define TOLLGATE_COUNT_MEDIA_H

#include "common/base/base.h"

enum { TG_MEDIA_AUDIO = 256, TG_MEDIA_VIDEO = 8192, TG_MEDIA_FILE = 4096 };

/* <low>: the client asked for "detail":"low". */
int64_t tg_media_image(const char *model, bool low) non_null(1);

#endif
