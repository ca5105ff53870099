#include "common/json/scan.h"

#include "common/json/keys.h"
#include "common/json/lex.h"

#include <string.h>

struct frame {
    bool is_object;
    struct tg_json_keys_object keys;
};

struct scan {
    const char *text;
    size_t len, at;
    const char *why; /* what is wrong at <at> */
    struct tg_json_keys keys;
    int depth, deepest;
    struct frame stack[TG_JSON_DEPTH]; /* 5 KiB that nobody clears */
};

static bool wrong(struct scan *scan, const char *why)
{
    scan->why = why;
    return false;
}

/* The next byte that is no blank, NUL at the end (a NUL byte of the text is wrong anywhere). */
static char peek(struct scan *scan)
{
    while (scan->at < scan->len && tg_json_is_blank(scan->text[scan->at]))
        scan->at++;
    return scan->at < scan->len ? scan->text[scan->at] : '\0';
}

/* At the opening quote. */
static bool scan_string(struct scan *scan, bool is_key)
{
    struct tg_json_char c;
    const char *why;

    for (scan->at++;;) {
        scan->at += tg_json_plain_run(scan->text + scan->at, scan->len - scan->at);
        if (scan->at < scan->len && scan->text[scan->at] == '"') {
            scan->at++;
            return true;
        }
        why = tg_json_char_at(scan->text + scan->at, scan->len - scan->at, &c);
        if (why != NULL)
            return wrong(scan, why);
        if (is_key && c.bytes[0] == '\0')
            return wrong(scan, "NUL in a key");
        scan->at += c.used;
    }
}

static bool scan_number(struct scan *scan)
{
    bool is_integer;
    const char *text = scan->text + scan->at;
    size_t len = tg_json_number_len(text, scan->len - scan->at, &is_integer);

    if (len == 0)
        return wrong(scan, "bad number");
    if (is_integer && !tg_json_integer_fits(text, len))
        return wrong(scan, "integer beyond 64 bits");
    scan->at += len;
    return true;
}

static bool scan_word(struct scan *scan, const char *word)
{
    size_t len = strlen(word);

    if (scan->len - scan->at < len || memcmp(scan->text + scan->at, word, len) != 0)
        return wrong(scan, "unknown word");
    scan->at += len;
    return true;
}

static bool scan_scalar(struct scan *scan, char first)
{
    switch (first) {
    case '"':
        return scan_string(scan, false);
    case 't':
        return scan_word(scan, "true");
    case 'f':
        return scan_word(scan, "false");
    case 'n':
        return scan_word(scan, "null");
    default:
        break;
    }
    if (first == '-' || tg_json_is_digit(first))
        return scan_number(scan);
    return wrong(scan, scan->at < scan->len ? "a value was expected" : "text without end");
}

/* A key and its colon. */
static bool scan_key(struct scan *scan)
{
    size_t at;

    if (peek(scan) != '"')
        return wrong(scan, "a key was expected");
    at = scan->at;
    if (!scan_string(scan, true))
        return false;
    if (!tg_json_keys_add(&scan->keys, &scan->stack[scan->depth - 1].keys, at + 1)) {
        scan->at = at;
        return wrong(scan, "duplicate key");
    }
    if (peek(scan) != ':')
        return wrong(scan, "a colon was expected");
    scan->at++;
    return true;
}

static bool push(struct scan *scan, bool is_object)
{
    struct frame *frame;

    if (scan->depth == TG_JSON_DEPTH)
        return wrong(scan, "too deep");
    frame = &scan->stack[scan->depth++];
    scan->deepest = TG_MAX(scan->deepest, scan->depth);
    frame->is_object = is_object;
    if (is_object)
        frame->keys = tg_json_keys_begin(&scan->keys);
    scan->at++;
    return true;
}

static void pop(struct scan *scan)
{
    struct frame *frame = &scan->stack[--scan->depth];

    if (frame->is_object)
        tg_json_keys_end(&scan->keys, &frame->keys);
    scan->at++;
}

/* Closes what ends here; true with *ret_more when another value follows. */
static bool scan_after_value(struct scan *scan, bool *ret_more)
{
    while (scan->depth > 0) {
        bool is_object = scan->stack[scan->depth - 1].is_object;
        char c = peek(scan);

        if (c == ',') {
            scan->at++;
            *ret_more = true;
            return !is_object || scan_key(scan);
        }
        if (c != (is_object ? '}' : ']'))
            return wrong(scan, scan->at < scan->len ? "a comma or an end was expected"
                                                    : "text without end");
        pop(scan);
    }
    *ret_more = false;
    return true;
}

/* A scalar, or the opening of a container; *ret_open when its first value comes next. */
static bool scan_value(struct scan *scan, bool *ret_open)
{
    char first = peek(scan);
    bool is_object = first == '{';

    *ret_open = false;
    if (first != '{' && first != '[')
        return scan_scalar(scan, first);
    if (!push(scan, is_object))
        return false;
    if (peek(scan) == (is_object ? '}' : ']')) {
        pop(scan);
        return true;
    }
    *ret_open = true;
    return !is_object || scan_key(scan);
}

static bool scan_document(struct scan *scan)
{
    bool open, more = true;

    while (more) {
        if (!scan_value(scan, &open))
            return false;
        if (!open && !scan_after_value(scan, &more))
            return false;
    }
    peek(scan);
    return scan->at == scan->len || wrong(scan, "text behind the value");
}

enum tg_class tg_json_check_depth(const char *text, size_t len, int *ret_depth,
                                  struct tg_error *err)
{
    struct scan scan;
    enum tg_class class = TG_OK;

    scan.text = text;
    scan.len = len;
    scan.at = 0;
    scan.why = NULL;
    scan.depth = scan.deepest = 0;
    tg_json_keys_init(&scan.keys, text, len);
    if (!scan_document(&scan))
        class = tg_fail(err, TG_CLASS_INVALID, "invalid_json", "invalid JSON at byte %zu: %s",
                        scan.at, scan.why);
    tg_json_keys_done(&scan.keys);
    *ret_depth = scan.deepest;
    return class;
}

enum tg_class tg_json_check(const char *text, size_t len, struct tg_error *err)
{
    int depth;

    return tg_json_check_depth(text, len, &depth, err);
}
