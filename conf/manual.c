/* The options of tollgate.conf(5) in roff, made from the table; the rest of the page is
 * tollgate.conf.5.in. Runs at build time. */
#include "common/conf/options.h"

#include "common/conf/value.h"

#include <stdio.h>
#include <string.h>

static const char *const types[] = {
    [TG_OPTION_TEXT_TYPE] = "text",
    [TG_OPTION_PATH_TYPE] = "path",
    [TG_OPTION_INT_TYPE] = "number",
    [TG_OPTION_BOOL_TYPE] = "switch",
    [TG_OPTION_DURATION_TYPE] = "duration",
    [TG_OPTION_SIZE_TYPE] = "size",
    [TG_OPTION_USD_TYPE] = "USD",
    [TG_OPTION_DECIMAL_TYPE] = "decimal",
    [TG_OPTION_CIDRS_TYPE] = "ranges of addresses",
    [TG_OPTION_RANGES_TYPE] = "numbers and ranges",
};

/* Text as roff shows it unchanged, whatever it begins with. */
static void put_text(const char *text)
{
    fputs("\\&", stdout);
    for (; *text != '\0'; text++) {
        if (*text == '-')
            fputs("\\-", stdout);
        else if (*text == '\\')
            fputs("\\e", stdout);
        else if (*text == '"')
            fputs("\\(dq", stdout);
        else
            putchar(*text);
    }
}

static void put_option(const struct tg_option *option)
{
    char least[TG_BOUND_TEXT], most[TG_BOUND_TEXT];
    bool quoted = option->type != TG_OPTION_INT_TYPE && option->type != TG_OPTION_BOOL_TYPE;

    puts(".TP");
    fputs(".B ", stdout);
    put_text(option->name);
    putchar('\n');
    put_text(option->meaning);
    puts(".\n.br");
    printf("%s", types[option->type]);
    if (option->least != option->most && option->type != TG_OPTION_BOOL_TYPE) {
        tg_option_bound(option->type, option->least, least);
        tg_option_bound(option->type, option->most, most);
        printf(", %s to %s", least, most);
    }
    fputs("; default ", stdout);
    if (option->fallback[0] == '\0') {
        fputs("empty", stdout);
    } else {
        fputs(quoted ? "\\(dq\\fB" : "\\fB", stdout);
        put_text(option->fallback);
        fputs(quoted ? "\\fR\\(dq" : "\\fR", stdout);
    }
    puts((option->flags & TG_OPTION_START) != 0      ? "; restart"
         : (option->flags & TG_OPTION_DATABASE) != 0 ? "; may be set in the console"
                                                     : "");
}

int main(void)
{
    const char *section = "";
    size_t len = 0;

    for (size_t i = 0; i < TG_OPTION__COUNT; i++) {
        const char *name = tg_options[i].name;

        if (strncmp(section, name, len + 1) != 0 || len == 0) {
            section = name;
            len = strcspn(name, ".");
            printf(".SS %.*s\n", (int)len, name);
        }
        put_option(&tg_options[i]);
    }
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
