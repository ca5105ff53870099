/* encoders - which encoding does a model count with?
 *
 * OpenAI's models by the beginnings of their names, whatever path of a vendor or "ft:" stands
 * before. All others have tokenisers of their own: their texts are estimated (estimate.h).
 *
 * Threads  any.  Blocks  no.
 * Source   tiktoken/model.py
 */
#ifndef TOLLGATE_COUNT_ENCODERS_H
#define TOLLGATE_COUNT_ENCODERS_H

#include "fcgi-app/count/bpe.h"

enum tg_encoding { TG_ENCODING_NONE, TG_ENCODING_CL100K, TG_ENCODING_O200K };

struct tg_encoders {
    struct tg_bpe *cl100k, *o200k;
};

enum tg_encoding tg_encoding_of(const char *model) must_check non_null(1);

/* NULL: estimate. <encoders> may be NULL: then everything is estimated. */
const struct tg_bpe *tg_encoders_for(const struct tg_encoders *encoders, const char *model)
    must_check non_null(2);

#endif
