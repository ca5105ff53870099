/* regex - Perl-compatible patterns over UTF-8 with Unicode properties, compiled to machine code.
 *
 *     tg_regex_new(pattern, &regex, err);                  // once, before the fork or after
 *     run = tg_regex_run_new();                            // per thread
 *     size = tg_regex_match_at(regex, run, text, at);
 *
 * Patterns come from the program, never from a client: what a pattern may cost is known. A pattern
 * matches at the place that is asked for and nowhere else; "$" is the very end.
 *
 * Threads  a regex: any; a run: one owner, its stack is what keeps the thread's own one small.
 * Blocks   no.
 */
#ifndef TOLLGATE_REGEX_REGEX_H
#define TOLLGATE_REGEX_REGEX_H

#include "common/base/error.h"

struct tg_regex;
struct tg_regex_run;

/* Errors: TG_CLASS_INTERNAL, regex_pattern. */
enum tg_class tg_regex_new(const char *pattern, struct tg_regex **ret, struct tg_error *err)
    must_check non_null(1, 2);
void tg_regex_free(struct tg_regex *regex);

struct tg_regex_run *tg_regex_run_new(void) must_check;
void tg_regex_run_free(struct tg_regex_run *run);

/* Bytes that match at <at> of <text>, which must be well-formed UTF-8; 0 when nothing does, or
 * when the match needs more room than a run has. */
size_t tg_regex_match_at(const struct tg_regex *regex, struct tg_regex_run *run,
                         struct tg_span text, size_t at) must_check non_null(1, 2);

#endif
