#include "admin-cgi/web/escape.h"

#include <string.h>
#include <strings.h>

static const char *entity_of(unsigned char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    case '\t':
    case '\n':
    case '\r':
        return NULL;
    default:
        return c < 0x20 || c == 0x7f ? "\xef\xbf\xbd" : NULL;
    }
}

void web_escape_html(struct tg_buf *out, const char *text, size_t len)
{
    size_t from = 0;

    for (size_t i = 0; i < len; i++) {
        const char *entity = entity_of((unsigned char)text[i]);

        if (entity == NULL)
            continue;
        tg_buf_add(out, text + from, i - from);
        tg_buf_str(out, entity);
        from = i + 1;
    }
    if (from < len)
        tg_buf_add(out, text + from, len - from);
}

static bool is_unreserved(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '-' || c == '.' || c == '_' || c == '~';
}

void web_escape_url(struct tg_buf *out, const char *text, size_t len)
{
    static const char digits[] = "0123456789ABCDEF";

    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];

        if (is_unreserved(c)) {
            tg_buf_char(out, (char)c);
            continue;
        }
        tg_buf_char(out, '%');
        tg_buf_char(out, digits[c >> 4]);
        tg_buf_char(out, digits[c & 15]);
    }
}

static bool has_scheme(const char *text, size_t len, const char *scheme)
{
    size_t scheme_len = strlen(scheme);

    return len > scheme_len && strncasecmp(text, scheme, scheme_len) == 0;
}

bool web_url_is_safe(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)text[i] <= 0x20 || text[i] == 0x7f || text[i] == '\\')
            return false;
    if (len == 0)
        return false;
    if (text[0] == '?' || text[0] == '#')
        return true;
    if (text[0] == '/') /* browsers read "//host" as another site */
        return len == 1 || text[1] != '/';
    return has_scheme(text, len, "http://") || has_scheme(text, len, "https://");
}

void web_escape_link(struct tg_buf *out, const char *text, size_t len)
{
    if (web_url_is_safe(text, len))
        web_escape_html(out, text, len);
    else
        tg_buf_char(out, '#');
}
