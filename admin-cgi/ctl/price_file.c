/* price import, price export. */
#include "admin-cgi/ctl/commands.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/store/price.h"

static enum tg_class read_stream(struct ctl *ctl, FILE *file, const char *name,
                                 struct tg_buf *ret)
{
    char bytes[8192];
    size_t got;

    while ((got = fread(bytes, 1, sizeof bytes, file)) > 0)
        tg_buf_add(ret, bytes, got);
    if (ferror(file) != 0)
        return tg_fail(&ctl->err, TG_CLASS_INVALID, "usage", "%s cannot be read", name);
    if (ret->failed)
        return tg_fail(&ctl->err, TG_CLASS_INVALID, "usage", "%s is too large", name);
    return TG_OK;
}

/* "-" is standard input. */
static enum tg_class read_file(struct ctl *ctl, const char *name, struct tg_buf *ret)
{
    bool is_input = strcmp(name, "-") == 0;
    FILE *file = is_input ? stdin : fopen(name, "re");
    enum tg_class class;

    if (file == NULL)
        return tg_fail(&ctl->err, TG_CLASS_INVALID, "usage", "%s: %s", name, strerror(errno));
    class = read_stream(ctl, file, name, ret);
    if (!is_input)
        fclose(file);
    return class;
}

static enum tg_class import(struct ctl *ctl, const struct ctl_args *args, const char *name)
{
    struct tg_price_import wish = {.missing_only = ctl_option(args, "--missing-only") != NULL};
    struct tg_price_rows rows = {NULL, 0};
    struct tg_buf text;
    enum tg_class class;

    tg_buf_init(&text, TG_PRICE_LIST_BYTES);
    class = read_file(ctl, name, &text);
    if (class == TG_OK)
        class = tg_price_list_read((struct tg_span){tg_buf_text(&text), text.len}, ctl->arena,
                                   &rows, &ctl->err);
    tg_buf_done(&text);
    if (class == TG_OK)
        class = ctl_open_main(ctl);
    wish.rows = rows.rows;
    wish.count = rows.count;
    if (class == TG_OK)
        class = tg_store_price_import(ctl->main_db, &ctl->actor, &wish, &ctl->err);
    if (class != TG_OK)
        return class;
    tg_json_begin_object(&ctl->out);
    tg_json_put_int(&ctl->out, "set", wish.set);
    tg_json_put_int(&ctl->out, "left", wish.left);
    tg_json_end_object(&ctl->out);
    ctl_tell_workers(ctl, "prices");
    return TG_OK;
}

enum tg_class ctl_cmd_price_import(struct ctl *ctl, const struct ctl_args *args)
{
    bool shipped = ctl_option(args, "--shipped") != NULL;

    if (shipped == (args->positional_count == 1))
        return tg_fail(&ctl->err, TG_CLASS_INVALID, "usage", "either a file or --shipped");
    return import(ctl, args,
                  shipped ? ctl_data_path(ctl, "conf/prices.json") : args->positionals[0]);
}

/* The document itself, for a file and for `price import`; not a table. */
enum tg_class ctl_cmd_price_export(struct ctl *ctl, const struct ctl_args *args)
{
    struct tg_price_rows rows;
    struct tg_buf text;
    enum tg_class class = ctl_open_main(ctl);

    (void)args;
    if (class == TG_OK)
        class = tg_store_prices(ctl->main_db, ctl->arena, &rows, &ctl->err);
    if (class != TG_OK)
        return class;
    tg_buf_init(&text, 0);
    tg_price_list_write(&rows, &text);
    fwrite(tg_buf_text(&text), 1, text.len, stdout);
    tg_buf_done(&text);
    return TG_OK;
}
