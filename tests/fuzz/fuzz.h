/* fuzz - one driver per parser, in libFuzzer's shape.
 *
 * A driver aborts (tg_assert) when a property does not hold. replay.c gives each of them a main
 * that needs no fuzzer: the corpus as it stands, cut at every byte and with bytes changed.
 *
 * Threads  one.  Blocks  no.
 */
#ifndef TOLLGATE_TESTS_FUZZ_H
#define TOLLGATE_TESTS_FUZZ_H

#include "common/base/base.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

#endif
