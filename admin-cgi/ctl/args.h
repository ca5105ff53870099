/* args - the words of a command: options and positional ones.
 *
 * What options a command has, and whether they take a value, is read from its usage line:
 * "[--limit USD | --unlimited]" means --limit takes one and --unlimited takes none.
 *
 * Errors   TG_CLASS_INVALID "usage".
 * Threads  one.  Blocks  no.
 */
#ifndef TOLLGATE_CTL_ARGS_H
#define TOLLGATE_CTL_ARGS_H

#include "common/base/arena.h"
#include "common/base/error.h"

enum { CTL_OPTIONS_MOST = 32, CTL_POSITIONALS_MOST = 4 };

struct ctl_args {
    const char *usage;
    const char *positionals[CTL_POSITIONALS_MOST];
    int positional_count;
    const char *names[CTL_OPTIONS_MOST]; /* borrowed from argv */
    size_t name_lens[CTL_OPTIONS_MOST];
    const char *values[CTL_OPTIONS_MOST]; /* "" for options that take none */
    int option_count;
};

/* Words "-0.5" are positional: only what starts with "--" is an option; "--" ends them. */
enum tg_class ctl_args_parse(const char *usage, char *const argv[], struct ctl_args *ret,
                             struct tg_error *err) must_check non_null(1, 2, 3);

/* NULL when it was not given. Asking for an option that the usage lacks is a programming error. */
const char *ctl_option(const struct ctl_args *args, const char *name) non_null(1, 2);
const char *ctl_option_or(const struct ctl_args *args, const char *name, const char *fallback)
    non_null(1, 2, 3);
enum tg_class ctl_option_int(const struct ctl_args *args, const char *name, int64_t *ret,
                             struct tg_error *err) must_check non_null(1, 2, 3);
/* An id: a positive number. */
enum tg_class ctl_id(const char *text, int64_t *ret, struct tg_error *err) must_check
    non_null(1, 2);
/* "a, b" in pieces, without blanks around them; empty pieces are left out. Owns: the arena. */
void ctl_list(struct tg_arena *arena, const char *text, const char *const **ret,
              size_t *ret_count) non_null(1, 2, 3, 4);

#endif
