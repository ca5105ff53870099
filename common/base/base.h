/* base - attributes, assertions and small macros that every file may use.
 *
 * tg_assert stays in release builds: it guards programming errors only. Bad input is always
 * an error value (base/error.h), never an assertion.
 */
#ifndef TOLLGATE_BASE_BASE_H
#define TOLLGATE_BASE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define must_check __attribute__((warn_unused_result))
#define printf_like(text, first) __attribute__((format(printf, text, first)))
#define non_null(...) __attribute__((nonnull(__VA_ARGS__)))
#define no_return __attribute__((noreturn))

#define TG_COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
#define TG_MIN(a, b) ((a) < (b) ? (a) : (b))
#define TG_MAX(a, b) ((a) > (b) ? (a) : (b))

#define tg_assert(condition) \
    ((condition) ? (void)0 : tg_assert_failed(#condition, __FILE__, __LINE__))

no_return void tg_assert_failed(const char *condition, const char *file, int line);

/* A borrowed run of bytes. Not NUL-terminated unless the giver says so. */
struct tg_span {
    const char *ptr;
    size_t len;
};

#endif
