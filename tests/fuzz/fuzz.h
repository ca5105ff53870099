/* fuzz - the entry point that every driver of this folder defines.
 *
 * libFuzzer calls it with inputs of its own; replay.c calls it with the corpus and systematic
 * mutations of it in every test run. A driver aborts when a promise of the parser is broken.
 */
#ifndef TOLLGATE_TESTS_FUZZ_H
#define TOLLGATE_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

#endif
