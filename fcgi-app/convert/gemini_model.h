/* gemini_model - what a model of Google's takes, told from its name.
 *
 * A name without a generation ("gemini-flash-latest") is one of those that are current; one that
 * is not Gemini's gets the careful row: no thinking, the small language of schemas.
 *
 * Pure.  Threads  any.  Source  PROTOCOLS B0.3, B0.5, B0.10.
 */
#ifndef TOLLGATE_CONVERT_GEMINI_MODEL_H
#define TOLLGATE_CONVERT_GEMINI_MODEL_H

#include "common/base/base.h"

struct tg_gemini_model {
    int generation;     /* ten times the number: 25 is 2.5 */
    bool pro;           /* not a flash */
    int64_t budget_max; /* of thinking */
};

struct tg_gemini_model tg_gemini_model_of(const char *name) must_check non_null(1);

enum { TG_GEMINI_2_0 = 20, TG_GEMINI_2_5 = 25, TG_GEMINI_3 = 30, TG_GEMINI_3_1 = 31 };

#endif
