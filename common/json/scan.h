/* scan - the strict gate in front of every JSON text that comes from outside.
 *
 * RFC 8259 and no more: UTF-8 checked (RFC 3629, lone surrogates in \u escapes refused), depth at
 * most 128, duplicate keys of one object refused (compared after unescaping), keys with NUL refused
 * (json-c would cut them there), integers beyond 64 bits refused, NaN, comments, trailing commas
 * and trailing text refused. One pass, linear time even for hostile objects with a million keys.
 *
 * tg_json_find reads a text that has passed the gate: it gives the place of a member, so that a
 * relay can splice one value and leave every other byte alone, and a stream handler can look at
 * one field without building a tree.
 *
 * Pure: no I/O, no globals.  Threads  any.  Blocks  no.
 */
#ifndef TOLLGATE_JSON_SCAN_H
#define TOLLGATE_JSON_SCAN_H

#include "common/base/error.h"

enum { TG_JSON_DEPTH = 128 };

enum tg_json_type {
    TG_JSON_NULL,
    TG_JSON_FALSE,
    TG_JSON_TRUE,
    TG_JSON_NUMBER,
    TG_JSON_STRING,
    TG_JSON_ARRAY,
    TG_JSON_OBJECT
};

/* A value inside a text: bytes at .. at + len, quotes and brackets included. */
struct tg_json_place {
    size_t at;
    size_t len;
    enum tg_json_type type;
};

/* Errors: TG_CLASS_INVALID "invalid_json" with the byte offset in the message. */
enum tg_class tg_json_check(const char *text, size_t len, struct tg_error *err) must_check
    non_null(1);
/* The same; *ret_depth: how many containers stand in one another at most. */
enum tg_class tg_json_check_depth(const char *text, size_t len, int *ret_depth,
                                  struct tg_error *err) must_check non_null(1, 3);

/* Finds a member by a path of keys separated by dots ("stream_options.include_usage"); a number
 * steps into an array ("choices.0.delta"). The text must have passed tg_json_check; a text that
 * has not gives false or a wrong place, never a read outside. */
bool tg_json_find(const char *text, size_t len, const char *path, struct tg_json_place *ret)
    must_check non_null(1, 3, 4);

/* The members of an object in their order: <at> is set to the opening brace and moves on. False
 * behind the last one, and for a text that is no object. As tg_json_find for unchecked texts. */
struct tg_json_member {
    struct tg_span key; /* as it is written, without the quotes */
    struct tg_json_place value;
};
bool tg_json_next(const char *text, size_t len, size_t *at, struct tg_json_member *ret) must_check
    non_null(1, 3, 4);

/* The unescaped string at <place> into <out> (NUL-terminated); false when it is no string, holds
 * NUL or does not fit. */
bool tg_json_place_string(const char *text, const struct tg_json_place *place, char *out,
                          size_t room) must_check non_null(1, 2, 3);
/* The integer at <place>; false when it is no integer in int64. */
bool tg_json_place_int(const char *text, const struct tg_json_place *place, int64_t *ret)
    must_check non_null(1, 2, 3);

#endif
