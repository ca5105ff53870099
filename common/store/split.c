#include "common/store/split.h"

#include <string.h>

/* Behind the comment or blank at <text>; <text> itself when there is none. */
static const char *skip_filling(const char *text)
{
    const char *end;

    if (*text == ' ' || *text == '\t' || *text == '\n' || *text == '\r')
        return text + 1;
    if (*text == '#' || (text[0] == '-' && text[1] == '-' &&
                         (text[2] == '\0' || strchr(" \t\r\n", text[2]) != NULL)))
        return text + strcspn(text, "\n");
    /* a comment with a version or a hint in it is part of the statement */
    if (text[0] == '/' && text[1] == '*' && text[2] != '!' && text[2] != '+' && text[2] != 'M') {
        end = strstr(text + 2, "*/");
        return end == NULL ? text + strlen(text) : end + 2;
    }
    return text;
}

/* Behind the closing quote; a doubled one is two strings side by side, which is right as well. */
static const char *skip_quoted(const char *text)
{
    char quote = *text++;

    while (*text != '\0' && *text != quote)
        text += *text == '\\' && quote != '`' && text[1] != '\0' ? 2 : 1;
    return *text == '\0' ? text : text + 1;
}

bool tg_sql_next(const char **text, struct tg_span *ret)
{
    const char *at = *text, *start, *end, *behind;

    for (;;) {
        behind = skip_filling(at);
        if (behind == at && *at != ';')
            break;
        at = behind == at ? at + 1 : behind;
    }
    start = at;
    end = at;
    while (*at != '\0' && *at != ';') {
        behind = skip_filling(at);
        if (behind != at) {
            at = behind;
            continue;
        }
        at = *at == '\'' || *at == '"' || *at == '`' ? skip_quoted(at) : at + 1;
        end = at;
    }
    *text = *at == ';' ? at + 1 : at;
    *ret = (struct tg_span){.ptr = start, .len = (size_t)(end - start)};
    return end > start;
}
