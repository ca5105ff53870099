/* writer - JSON text, written forward into a buffer.
 *
 * Commas and escapes are the writer's business; nesting mistakes are programming errors. Strings
 * are written as valid UTF-8 (bad bytes become U+FFFD), '/' is not escaped. Failure is the
 * buffer's, sticky.
 *
 *     struct tg_json_writer out;
 *     tg_json_writer_init(&out, &buf);
 *     tg_json_begin_object(&out);
 *     tg_json_key(&out, "id");  tg_json_write_int(&out, 7);
 *     tg_json_put_str(&out, "name", "x");        // key and value in one
 *     tg_json_end_object(&out);
 *
 * Threads  one owner.  Blocks  no.
 */
#ifndef TOLLGATE_JSON_WRITER_H
#define TOLLGATE_JSON_WRITER_H

#include "common/base/buf.h"

struct tg_json_writer {
    struct tg_buf *buf;
    int depth;
    bool comma; /* a value was written on this level */
    bool after_key;
};

void tg_json_writer_init(struct tg_json_writer *out, struct tg_buf *buf) non_null(1, 2);
void tg_json_begin_object(struct tg_json_writer *out) non_null(1);
void tg_json_end_object(struct tg_json_writer *out) non_null(1);
void tg_json_begin_array(struct tg_json_writer *out) non_null(1);
void tg_json_end_array(struct tg_json_writer *out) non_null(1);
void tg_json_key(struct tg_json_writer *out, const char *key) non_null(1, 2);
void tg_json_write_str(struct tg_json_writer *out, const char *text); /* NULL writes null */
void tg_json_write_strn(struct tg_json_writer *out, const char *text, size_t len) non_null(1);
void tg_json_write_int(struct tg_json_writer *out, int64_t value) non_null(1);
void tg_json_write_bool(struct tg_json_writer *out, bool value) non_null(1);
void tg_json_write_null(struct tg_json_writer *out) non_null(1);
/* A value that is JSON already (a nested document, an exact decimal). */
void tg_json_write_raw(struct tg_json_writer *out, const char *json, size_t len) non_null(1, 2);

void tg_json_put_str(struct tg_json_writer *out, const char *key, const char *text) non_null(1, 2);
void tg_json_put_int(struct tg_json_writer *out, const char *key, int64_t value) non_null(1, 2);
void tg_json_put_bool(struct tg_json_writer *out, const char *key, bool value) non_null(1, 2);

#endif
