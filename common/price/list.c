#include "common/price/list.h"

#include "common/base/pattern.h"
#include "common/price/price_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Puts the entry in front of what is wrong with it. */
static enum tg_class name_entry(struct tg_error *err, size_t at, const char *model)
{
    struct tg_error plain;

    if (err == NULL)
        return TG_CLASS_INVALID;
    plain = *err;
    return tg_fail(err, plain.class, plain.code, "prices.%zu (%.100s): %.300s", at, model,
                   plain.message);
}

static enum tg_class read_one(const struct tg_json *value, struct tg_arena *arena,
                              struct tg_price_row *ret, struct tg_error *err)
{
    enum tg_class class;

    ret->model = "";
    class = tg_price_read(value, arena, &ret->price, &ret->model, err);
    if (class == TG_OK && ret->model[0] == '\0')
        class = tg_fail(err, TG_CLASS_INVALID, "price_invalid", "the price has no model");
    if (class == TG_OK)
        class = tg_price_check_to_save(&ret->price, err);
    if (class == TG_OK)
        tg_price_hash(&ret->price);
    return class;
}

static int by_model(const void *a, const void *b)
{
    return strcmp(((const struct tg_price_row *)a)->model,
                  ((const struct tg_price_row *)b)->model);
}

static enum tg_class read_all(const struct tg_json *array, struct tg_arena *arena,
                              struct tg_price_rows *ret, struct tg_error *err)
{
    size_t count = tg_json_array_len(array);

    ret->rows = tg_arena_calloc(arena, count + 1, sizeof *ret->rows);
    for (size_t i = 0; i < count; i++)
        if (read_one(tg_json_array_at(array, i), arena, &ret->rows[i], err) != TG_OK)
            return name_entry(err, i, ret->rows[i].model);
    ret->count = count;
    qsort(ret->rows, count, sizeof *ret->rows, by_model);
    for (size_t i = 1; i < count; i++)
        if (strcmp(ret->rows[i - 1].model, ret->rows[i].model) == 0)
            return tg_fail(err, TG_CLASS_INVALID, "price_twice", "there are two prices for %.100s",
                           ret->rows[i].model);
    return TG_OK;
}

enum tg_class tg_price_list_read(struct tg_span text, struct tg_arena *arena,
                                 struct tg_price_rows *ret, struct tg_error *err)
{
    struct tg_price_rows got = {NULL, 0};
    const struct tg_json *array;
    struct tg_json *root;
    enum tg_class class;

    if (text.len > TG_PRICE_LIST_BYTES)
        return tg_fail(err, TG_CLASS_INVALID, "price_invalid",
                       "a list of prices has at most 16 MiB");
    class = tg_json_parse(text.ptr, text.len, &root, err);
    if (class != TG_OK)
        return class;
    array = root;
    if (tg_json_type(root) != TG_JSON_ARRAY &&
        tg_json_get_array(root, "prices", &array) != TG_JSON_GOT)
        class = tg_fail(err, TG_CLASS_INVALID, "price_invalid",
                        "a list of prices is {\"prices\":[...]} or an array");
    if (class == TG_OK)
        class = read_all(array, arena, &got, err);
    tg_json_free(root);
    if (class == TG_OK)
        *ret = got;
    return class;
}

void tg_price_list_write(const struct tg_price_rows *rows, struct tg_buf *out)
{
    tg_buf_str(out, "{\"prices\":[\n");
    for (size_t i = 0; i < rows->count; i++) {
        struct tg_json_writer json;

        tg_json_writer_init(&json, out);
        tg_json_begin_object(&json);
        tg_json_put_str(&json, "model", rows->rows[i].model);
        tg_price_write(&rows->rows[i].price, &json);
        tg_json_end_object(&json);
        tg_buf_str(out, i + 1 < rows->count ? ",\n" : "\n");
    }
    tg_buf_str(out, "]}\n");
}

const struct tg_price_row *tg_price_rows_find(const struct tg_price_rows *rows, const char *model)
{
    const struct tg_price_row *best = NULL;

    for (size_t i = 0; i < rows->count; i++) {
        const char *name = rows->rows[i].model;

        if (strcmp(name, model) == 0)
            return &rows->rows[i];
        if (strchr(name, '*') != NULL && tg_pattern_matches(name, model) &&
            (best == NULL || tg_pattern_compare(name, best->model) > 0))
            best = &rows->rows[i];
    }
    return best;
}
