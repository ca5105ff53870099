/* The gate, the finder, json-c behind the gate, and the writer: do they agree? */
#include "tests/fuzz/fuzz.h"

#include "common/json/json.h"
#include "common/json/writer.h"

#include <stdlib.h>
#include <string.h>

static const char *const paths[] = {
    "", "a", "model", "stream_options.include_usage", "choices.0.delta.content", "0.1",
    "messages.1",
};

/* What is found lies inside; what is found in a good text is a good text itself. */
static void look_for_places(const char *text, size_t len, bool good)
{
    struct tg_json_place place;
    char string[64];
    int64_t number;

    for (size_t i = 0; i < TG_COUNT_OF(paths); i++) {
        if (!tg_json_find(text, len, paths[i], &place))
            continue;
        tg_assert(place.at < len && place.len <= len - place.at);
        tg_assert(!good || tg_json_check(text + place.at, place.len, NULL) == TG_OK);
        if (tg_json_place_string(text, &place, string, sizeof string))
            tg_assert(strlen(string) < sizeof string);
        if (tg_json_place_int(text, &place, &number))
            tg_assert(place.type == TG_JSON_NUMBER);
    }
}

/* Whatever the bytes are, the writer makes a string of them that passes the gate. */
static void write_as_string(const char *text, size_t len)
{
    struct tg_json_writer out;
    struct tg_buf buf;

    tg_buf_init(&buf, 0);
    tg_json_writer_init(&out, &buf);
    tg_json_write_strn(&out, text, len);
    tg_assert(tg_json_check(buf.data, buf.len, NULL) == TG_OK);
    tg_buf_done(&buf);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    const char *text = (const char *)bytes;
    struct tg_json *root;
    struct tg_error err;
    bool good = tg_json_check(text, len, &err) == TG_OK;

    tg_assert((tg_json_parse(text, len, &root, &err) == TG_OK) == good);
    if (good) {
        struct tg_json_place place;

        tg_assert(tg_json_find(text, len, "", &place) && place.type == tg_json_type(root));
        tg_json_free(root);
    }
    look_for_places(text, len, good);
    write_as_string(text, len);
    return 0;
}
