/* diagnostic - what a conversion changed, lost or supplied, in words that stay.
 *
 * A code is a word of PROTOCOLS F, its severity is that of the place where it arose. The loss
 * policy of a channel or token decides whether a request may go on:
 *
 *            info                          warn      error     fatal
 *   allow    pass                          pass      pass      refuse
 *   safe     pass                          pass      refuse    refuse
 *   strict   pass (PARAM_UNKNOWN refuses)  refuse    refuse    refuse
 *
 * Diagnostics of an answer never refuse it: it was paid for.
 *
 * Pure.  Owns  texts are copied into the list; a full list counts on and keeps the worst.
 * Threads  one owner.  Source  PROTOCOLS F.
 */
#ifndef TOLLGATE_CONVERT_DIAGNOSTIC_H
#define TOLLGATE_CONVERT_DIAGNOSTIC_H

#include "common/base/error.h"
#include "common/json/writer.h"

enum tg_severity { TG_SEVERITY_INFO, TG_SEVERITY_WARN, TG_SEVERITY_ERROR, TG_SEVERITY_FATAL };

enum tg_loss_policy { TG_LOSS_ALLOW, TG_LOSS_SAFE, TG_LOSS_STRICT, TG_LOSS__COUNT };

enum { TG_DIAGNOSTICS_KEPT = 64, TG_DIAGNOSTIC_PATH = 96, TG_DIAGNOSTIC_DETAIL = 96 };

struct tg_diagnostic {
    const char *code; /* a word of PROTOCOLS F, static */
    enum tg_severity severity;
    char path[TG_DIAGNOSTIC_PATH];     /* in the client's request: "messages[3].content[1]" */
    char detail[TG_DIAGNOSTIC_DETAIL]; /* "" when the code says it all; never a payload */
};

struct tg_diagnostics {
    struct tg_diagnostic kept[TG_DIAGNOSTICS_KEPT];
    size_t kept_count;
    size_t count; /* of all, kept or not */
};

/* The same code at the same path is noted once. When the list is full a worse one takes the
 * place of the first that is milder. */
void tg_diagnose(struct tg_diagnostics *list, enum tg_severity severity, const char *code,
                 const char *path, const char *detail) non_null(1, 3, 4, 5);

/* The first diagnostic that <policy> refuses; NULL: none. */
const struct tg_diagnostic *tg_diagnostics_refused(const struct tg_diagnostics *list,
                                                   enum tg_loss_policy policy) must_check
    non_null(1);
/* The same as an error: TG_CLASS_INVALID "conversion_loss" (a fatal one: its code in lower case),
 * with param, not retryable on this channel only. TG_OK: nothing is refused. */
enum tg_class tg_diagnostics_check(const struct tg_diagnostics *list, enum tg_loss_policy policy,
                                   struct tg_error *err) must_check non_null(1);

/* What a converter knows of the keys of a request: those that it loses, and those that it reads. */
struct tg_lost_key {
    const char *key, *code;
    enum tg_severity severity;
};
struct tg_known_keys {
    const struct tg_lost_key *lost;
    size_t lost_count;
    const char *const *known;
    size_t known_count;
};
/* Notes that <key> is lost, or PARAM_UNKNOWN. */
void tg_diagnose_key(struct tg_diagnostics *list, const struct tg_known_keys *keys,
                     const char *key) non_null(1, 2, 3);

/* An array: [{"code":…,"severity":"warn","path":…,"detail":…}], as request_detail keeps it. */
void tg_diagnostics_write(const struct tg_diagnostics *list, struct tg_json_writer *out)
    non_null(1, 2);

const char *tg_severity_name(enum tg_severity severity);
/* False: no such policy. */
bool tg_loss_policy_parse(const char *text, enum tg_loss_policy *ret) must_check non_null(1, 2);
const char *tg_loss_policy_name(enum tg_loss_policy policy);

#endif
