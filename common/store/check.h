/* check - the form of names, before they reach a table. Pure.
 *
 * Errors   TG_CLASS_INVALID "invalid_name", "invalid_model", "invalid_ratio",
 *          "invalid_loss_policy"; `param` says which.
 * Threads  any.  Blocks  no.
 */
#ifndef TOLLGATE_STORE_CHECK_H
#define TOLLGATE_STORE_CHECK_H

#include "common/base/error.h"

/* 1 to 64 letters, digits and ". _ - @ +": users, groups. */
enum tg_class tg_check_name(const char *what, const char *name, struct tg_error *err) must_check
    non_null(1, 2);
/* 1 to 64 characters of UTF-8 without control characters: labels that people read. */
/* "group": a name, but not the word that tokens have for several groups. */
enum tg_class tg_check_group(const char *name, struct tg_error *err) must_check non_null(1);
enum tg_class tg_check_label(const char *what, const char *label, struct tg_error *err) must_check
    non_null(1, 2);
/* 1 to 191 printable ASCII characters but blank, comma and quotes ("claude-opus-4-8[1m]"). */
enum tg_class tg_check_model(const char *model, struct tg_error *err) must_check non_null(1);
/* allow, safe, strict, or "" for the default. */
enum tg_class tg_check_loss_policy(const char *text, struct tg_error *err) must_check non_null(1);
/* A decimal text, 0 to 999999, at most 10 places. */
enum tg_class tg_check_ratio(const char *text, struct tg_error *err) must_check non_null(1);

#endif
