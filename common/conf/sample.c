#include "common/conf/sample.h"

#include "common/conf/file.h"
#include "common/conf/value.h"

#include <string.h>

enum { COLUMNS = 98 };

static const char head[] =
    "# Settings of Tollgate. A line that is commented out shows the default.\n"
    "#\n"
    "# Durations and sizes are texts with a unit: \"250ms\" \"30s\" \"10m\" \"24h\" \"7d\";\n"
    "# \"64KiB\" \"8MiB\" \"1GiB\". Unknown names and wrong types are refused with file and line;\n"
    "# `tollgatectl config check` tells before a restart does.\n"
    "#\n"
    "# Each option can also come from the environment (TOLLGATE_POOL_WORKERS=4); what stands here\n"
    "# wins. Options are read again on SIGHUP, those marked [restart] at the start only.\n";

/* Writes <text> as comment lines, broken between words. */
static void write_comment(struct tg_buf *out, const char *text)
{
    static const char begin[] = "    #";
    size_t column = sizeof begin - 1;

    tg_buf_str(out, begin);
    while (*text != '\0') {
        size_t len = strcspn(text, " ");

        if (column + 1 + len > COLUMNS) {
            tg_buf_printf(out, "\n%s", begin);
            column = sizeof begin - 1;
        }
        tg_buf_char(out, ' ');
        tg_buf_add(out, text, len);
        column += 1 + len;
        text += len;
        text += *text == ' ';
    }
    tg_buf_char(out, '\n');
}

static void write_meaning(struct tg_buf *out, const struct tg_option *option)
{
    char least[TG_BOUND_TEXT], most[TG_BOUND_TEXT];
    struct tg_buf text;

    tg_buf_init(&text, 0);
    tg_buf_str(&text, option->meaning);
    if (option->least != option->most && option->type != TG_OPTION_BOOL_TYPE) {
        tg_option_bound(option->type, option->least, least);
        tg_option_bound(option->type, option->most, most);
        tg_buf_printf(&text, " (%s to %s)", least, most);
    }
    if ((option->flags & TG_OPTION_START) != 0)
        tg_buf_str(&text, " [restart]");
    write_comment(out, tg_buf_text(&text));
    tg_buf_done(&text);
}

static void write_value(struct tg_buf *out, const struct tg_option *option, const char *value)
{
    if (option->type == TG_OPTION_INT_TYPE || option->type == TG_OPTION_BOOL_TYPE) {
        tg_buf_str(out, value);
        return;
    }
    tg_buf_char(out, '"');
    for (; *value != '\0'; value++) {
        if (*value == '"' || *value == '\\')
            tg_buf_char(out, '\\');
        tg_buf_char(out, *value);
    }
    tg_buf_char(out, '"');
}

static const char *overlay_of(const struct tg_conf_overlay *overlay, size_t count,
                              const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(overlay[i].name, name) == 0)
            return overlay[i].value;
    return NULL;
}

static void check_names(const struct tg_conf_overlay *overlay, size_t count)
{
    enum tg_option_id id;

    for (size_t i = 0; i < count; i++)
        tg_assert(tg_option_find(overlay[i].name, strlen(overlay[i].name), &id));
}

void tg_conf_write_sample(const struct tg_conf_overlay *overlay, size_t count, struct tg_buf *ret)
{
    struct tg_span section = {"", 0};

    check_names(overlay, count);
    tg_buf_str(ret, head);
    for (size_t i = 0; i < TG_OPTION__COUNT; i++) {
        const struct tg_option *option = &tg_options[i];
        size_t section_len = strcspn(option->name, ".");
        const char *value = overlay_of(overlay, count, option->name);

        if (section_len != section.len || memcmp(section.ptr, option->name, section_len) != 0) {
            if (section.len > 0)
                tg_buf_str(ret, "};\n");
            section = (struct tg_span){option->name, section_len};
            tg_buf_printf(ret, "\n%.*s: {\n", (int)section_len, option->name);
        }
        write_meaning(ret, option);
        tg_buf_printf(ret, "    %s%s = ", value == NULL ? "#" : "", option->name + section_len + 1);
        write_value(ret, option, value != NULL ? value : option->fallback);
        tg_buf_str(ret, ";\n");
    }
    tg_buf_str(ret, "};\n");
}
