/* letters - is a code point beyond ASCII a letter or a number?
 *
 * libc answers by locale; an estimate that money rests on must not depend on the machine.
 *
 * Pure.  Threads  any.
 */
#ifndef TOLLGATE_COUNT_LETTERS_H
#define TOLLGATE_COUNT_LETTERS_H

#include "common/base/base.h"

enum tg_letter { TG_LETTER_NONE, TG_LETTER_WORD, TG_LETTER_NUMBER };

enum tg_letter tg_letter_of(uint32_t code);

#endif
