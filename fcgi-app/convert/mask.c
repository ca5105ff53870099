#include "fcgi-app/convert/mask.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <string.h>
#include <strings.h>

/* Every matcher gets the text from the begin of a word on and returns how many of its bytes are
 * to be hidden. */
typedef size_t match_fn(struct tg_span text);

/* Bytes of <text> at its begin that satisfy <is>. */
static size_t run_of(struct tg_span text, bool (*is)(unsigned char c))
{
    size_t len = 0;

    while (len < text.len && is((unsigned char)text.ptr[len]))
        len++;
    return len;
}

static bool is_word(unsigned char c)
{
    return isalnum(c) || c == '-' || c == '_';
}

static bool is_alnum(unsigned char c)
{
    return isalnum(c) != 0;
}

/* Upstreams shorten keys with stars or dots in the middle: that is still half a key. */
static bool is_key(unsigned char c)
{
    return is_word(c) || c == '*' || c == '.' || c == '/' || c == '+' || c == '=';
}

static bool is_url(unsigned char c)
{
    return c > ' ' && c < 0x7f && strchr("\"'<>()[]{}`,;\\", c) == NULL;
}

static bool is_host(unsigned char c)
{
    return is_word(c) || c == '.';
}

static bool is_mailbox(unsigned char c)
{
    return is_host(c) || c == '+' || c == '%';
}

static bool is_address(unsigned char c)
{
    return isxdigit(c) || c == ':' || c == '.';
}

/* Punctuation that ends a sentence is not part of what it follows. */
static size_t without_stop(struct tg_span text, size_t len)
{
    while (len > 0 && strchr(".:!?", text.ptr[len - 1]) != NULL)
        len--;
    return len;
}

static struct tg_span behind(struct tg_span text, size_t len)
{
    return (struct tg_span){text.ptr + len, text.len - len};
}

static bool begins(struct tg_span text, const char *with)
{
    size_t len = strlen(with);

    return text.len >= len && strncasecmp(text.ptr, with, len) == 0;
}

static size_t match_url(struct tg_span text)
{
    size_t scheme = run_of(text, is_word);

    if (scheme == 0 || !begins(behind(text, scheme), "://"))
        return 0;
    return without_stop(text, scheme + 3 + run_of(behind(text, scheme + 3), is_url));
}

static bool has_digit(struct tg_span text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (isdigit((unsigned char)text.ptr[i]) || text.ptr[i] == '*')
            return true;
    return false;
}

static size_t match_key(struct tg_span text)
{
    static const struct {
        const char *prefix;
        size_t least; /* bytes behind it */
        bool is_word; /* English words begin so too: only with a digit in it */
    } keys[] = {
        {"sk-", 3, false},    {"sk_", 8, false},   {"rk-", 8, true},    {"pk-", 8, true},
        {"xai-", 8, false},   {"gsk_", 8, false},  {"hf_", 8, false},   {"AIza", 10, false},
        {"AKIA", 10, true},   {"ya29.", 8, false}, {"eyJ", 12, false},  {"org-", 6, true},
        {"proj_", 6, true},   {"key-", 8, true},   {"r8_", 8, false},   {"pplx-", 8, false},
        {"nvapi-", 8, false}, {"fw_", 8, false},   {"tgp_", 8, false},
    };

    for (size_t i = 0; i < TG_COUNT_OF(keys); i++) {
        size_t prefix = strlen(keys[i].prefix), len;

        if (!begins(text, keys[i].prefix))
            continue;
        len = prefix + run_of(behind(text, prefix), is_key);
        if (len >= prefix + keys[i].least && (!keys[i].is_word || has_digit(text, len)))
            return without_stop(text, len);
    }
    if (begins(text, "Bearer ") && run_of(behind(text, 7), is_key) >= 12)
        return 7 + without_stop(behind(text, 7), run_of(behind(text, 7), is_key));
    return 0;
}

/* 32 letters and digits without a break: a key or a hash, no word and no model name. */
static size_t match_random(struct tg_span text)
{
    size_t len = run_of(text, is_alnum), digits = 0;

    for (size_t i = 0; i < len; i++)
        digits += isdigit((unsigned char)text.ptr[i]) != 0;
    return len >= 32 && digits > 0 && digits < len ? len : 0;
}

static size_t match_mail(struct tg_span text)
{
    size_t box = run_of(text, is_mailbox), host;

    if (box == 0 || box == text.len || text.ptr[box] != '@')
        return 0;
    host = without_stop(behind(text, box + 1), run_of(behind(text, box + 1), is_host));
    return host > 0 && memchr(text.ptr + box + 1, '.', host) != NULL ? box + 1 + host : 0;
}

static size_t port_len(struct tg_span text)
{
    size_t digits = 0;

    if (text.len == 0 || text.ptr[0] != ':')
        return 0;
    while (digits < 5 && digits + 1 < text.len && isdigit((unsigned char)text.ptr[digits + 1]))
        digits++;
    return digits >= 2 ? digits + 1 : 0;
}

static size_t match_address(struct tg_span text)
{
    char copy[INET6_ADDRSTRLEN];
    uint8_t binary[16];
    size_t len = without_stop(text, run_of(text, is_address)), dots, digits;

    if (len > 2 && len < sizeof(copy) && memchr(text.ptr, ':', len) != NULL) {
        memcpy(copy, text.ptr, len);
        copy[len] = '\0';
        if (inet_pton(AF_INET6, copy, binary) == 1)
            return len;
    }
    for (len = dots = 0; len < text.len && dots < 4; dots++) {
        for (digits = 0; len < text.len && isdigit((unsigned char)text.ptr[len]); digits++)
            len++;
        if (digits < 1 || digits > 3)
            return 0;
        if (dots < 3 && (len == text.len || text.ptr[len++] != '.'))
            return 0;
    }
    if (dots < 4 || (len < text.len && is_word((unsigned char)text.ptr[len])))
        return 0;
    return len + port_len(behind(text, len));
}

/* Names of fields look like host names ("messages.content"), so the last label must be a top
 * level that hosts of upstreams really have, or a port must follow. */
static bool is_top_level(struct tg_span label)
{
    static const char *const known[] = {
        "com", "net", "org", "io",  "ai",   "dev",   "app",      "cloud", "cn",    "co",
        "uk",  "de",  "eu",  "fr",  "jp",   "kr",    "ru",       "us",    "xyz",   "info",
        "gov", "edu", "tech", "site", "local", "lan", "internal", "intranet", "corp", "home",
        "svc", "cluster", "localhost", "localdomain",
    };

    for (size_t i = 0; i < TG_COUNT_OF(known); i++)
        if (strlen(known[i]) == label.len && strncasecmp(known[i], label.ptr, label.len) == 0)
            return true;
    return false;
}

static size_t match_host(struct tg_span text)
{
    size_t len = without_stop(text, run_of(text, is_host)), last = len, port;

    while (last > 0 && text.ptr[last - 1] != '.')
        last--;
    port = port_len(behind(text, len));
    if (begins(text, "localhost") && len == 9)
        return len + port;
    if (last == 0 || !isalpha((unsigned char)text.ptr[last]))
        return 0;
    if (port == 0 && !is_top_level((struct tg_span){text.ptr + last, len - last}))
        return 0;
    return len + port + (len + port < text.len && text.ptr[len + port] == '/'
                             ? run_of(behind(text, len + port), is_url)
                             : 0);
}

void tg_mask(struct tg_span text, struct tg_buf *out)
{
    static match_fn *const matchers[] = {match_url,     match_mail, match_key,
                                         match_address, match_host, match_random};
    size_t at = 0;

    while (at < text.len) {
        size_t hidden = 0, word;

        for (size_t i = 0; i < TG_COUNT_OF(matchers) && hidden == 0; i++)
            hidden = matchers[i](behind(text, at));
        if (hidden > 0) {
            tg_buf_str(out, "***");
            at += hidden;
            continue;
        }
        /* Words are tried at their begin only; colons join no words but addresses. */
        word = run_of(behind(text, at), is_host);
        word = word > 0 ? word : 1;
        tg_buf_add(out, text.ptr + at, word);
        at += word;
    }
}
