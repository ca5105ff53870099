/* form - typed fields: one table says what a form or a list's filter takes.
 *
 * The frame reads the body of a POST (or the query of a GET) against the route's form before the
 * handler runs. A field that is not in the table is refused, so nothing is assigned by accident. A
 * value that does not fit gets an error of its own; the page is shown again with all that was typed
 * (never a secret), the API answers 422 with {"error":{…,"fields":{"name":"why"}}}.
 *
 * Owns     values live in the page's arena.
 * Threads  one.  Blocks  no.
 */
#ifndef TOLLGATE_WEB_FORM_H
#define TOLLGATE_WEB_FORM_H

#include "admin-cgi/web/params.h"
#include "common/json/writer.h"

enum web_kind {
    WEB_TEXT,    /* one line; least, most: characters */
    WEB_LONG,    /* several lines */
    WEB_INTEGER, /* least, most: the number */
    WEB_USD,     /* an amount, as quota; least, most: quota */
    WEB_DECIMAL, /* exact decimal text ("2.50"), not negative; most: places behind the point */
    WEB_BOOL,
    WEB_CHOICE,  /* one of choices, or of those added by web_put_choice */
    WEB_SET,     /* some of choices, or of those added by web_put_choice; items as LIST */
    WEB_LIST,    /* texts, one a line or with commas between; most: of them */
    WEB_CIDRS,   /* as LIST, of addresses and networks */
    WEB_TIME,    /* a moment: RFC 3339, or as the browser's field gives it, in the user's zone */
    WEB_DAY,     /* a day of the user's zone ("2026-11-30"): its beginning, as a moment */
    WEB_JSON,    /* a JSON object */
    WEB_PAIRS,   /* "a = b", one a line, or a JSON object of texts; most: of them */
    WEB_SECRETS, /* one a line; most: of them; never shown again */
    WEB_SECRET   /* as TEXT; never shown again */
};
enum web_field_flag {
    WEB_REQUIRED = 1u << 0,
    WEB_FIXED = 1u << 1 /* shown but not editable once there is a value (a name that is a key) */
};

struct web_choice {
    const char *value, *label;
};
struct web_field {
    const char *name, *label;
    enum web_kind kind;
    unsigned flags;
    int64_t least, most; /* both 0: 0 to 255 characters, or any number */
    const struct web_choice *choices; /* ends with {NULL, NULL} */
    const char *help;
};

struct web_page;
struct web_form_def {
    const struct web_field *fields;
    size_t count;
    /* Fills the document that the route's template needs when the form is shown again: of POST
     * routes usually the handler of the GET route, of a list's filter just the title. */
    enum tg_class (*view)(struct web_page *page);
    const char *action; /* where the form goes, behind the area's address: "", "/new"; NULL: here */
    const char *submit; /* word on the button */
    bool in_query;      /* a list's filter */
    bool partial;       /* a change: what a JSON body leaves out stays as it is, needed or not */
};

struct web_value {
    bool given;       /* sent, or set by the page */
    const char *text; /* as typed; "" without a value */
    int64_t number;   /* INTEGER; USD: quota; BOOL: 0 or 1; TIME, DAY: unix_us */
    const char *const *items; /* LIST, CIDRS, SET, SECRETS; PAIRS: name, value, name, … */
    size_t count;             /* of items; PAIRS: of pairs */
    const char *error;
    struct web_choice *choices; /* of this time, besides the table's */
    size_t choice_count;
};
struct web_form {
    const struct web_form_def *def; /* NULL: none */
    struct web_value *values;
    struct tg_arena *arena;
    const char *zone;
    bool read;   /* values are what a person sent: a page's own do not replace them */
    bool failed; /* at least one field has an error */
};

void web_form_init(struct web_form *form, const struct web_form_def *def, struct tg_arena *arena,
                   const char *zone) non_null(1, 3, 4);
/* <extra>: names that are no fields but may be sent (ends with NULL). Sets `failed`. */
enum tg_class web_form_read(struct web_form *form, const struct web_params *params,
                            const char *const *extra, bool json, struct tg_error *err) must_check
    non_null(1, 2, 3, 5);
/* Asking for a field that is not in the table is a programming error, here and below. */
struct web_value *web_form_value(const struct web_form *form, const char *name) must_check
    non_null(1, 2);
void web_form_refuse(struct web_form *form, const char *name, const char *why) non_null(1, 2, 3);
/* Values that nobody has set yet, from the document's members of the same names. In form_fill.c. */
void web_form_fill(struct web_form *form, const struct tg_json *data) non_null(1, 2);
/* "fields": an array for the partial form.html, "by": the same by name, "failed". */
void web_form_write(const struct web_form *form, struct tg_json_writer *out) non_null(1, 2);
/* {"name":"why", …} of those that have an error. */
void web_form_write_errors(const struct web_form *form, struct tg_json_writer *out) non_null(1, 2);

/* Checks one value by its field; sets value->error. In form_check.c. */
void web_field_check(const struct web_field *field, const struct web_form *form,
                     struct web_value *value) non_null(1, 2, 3);
/* The same of PAIRS; and them as a JSON object, "" when there are none. In form_pairs.c. */
void web_pairs_check(const struct web_field *field, const struct web_form *form,
                     struct web_value *value) non_null(1, 2, 3);
const char *web_pairs_json(const struct web_form *form, const struct web_value *value) must_check
    non_null(1, 2);

#endif
