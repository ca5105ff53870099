#include "admin-cgi/web/flash.h"

#include <string.h>

#include "admin-cgi/web/answer.h"

static const char cookie[] = "tg_flash";

enum { TEXT_BYTES_MOST = 300, MARK_HEX = 32, LIFE_S = 60 };

static void mark_of(const struct web_page *page, const char *hex, char mark[TG_HMAC_HEX])
{
    const char *text = tg_arena_printf(page->arena, "flash:%lld:%s",
                                       (long long)page->who.session_id, hex);
    uint8_t hash[TG_HMAC_BYTES];

    tg_hmac(page->site->secrets.session_key, text, strlen(text), hash);
    tg_hex(hash, sizeof hash, mark);
    mark[MARK_HEX] = '\0';
}

void web_flash_set(struct web_page *page, const char *text)
{
    size_t len = TG_MIN(strlen(text), (size_t)TEXT_BYTES_MOST);
    char *hex = tg_arena_alloc(page->arena, 2 * len + 1), mark[TG_HMAC_HEX];

    tg_hex(text, len, hex);
    mark_of(page, hex, mark);
    web_cookie_set(&page->head, page->request, cookie,
                   tg_arena_printf(page->arena, "%s.%s", hex, mark), LIFE_S);
}

const char *web_flash_take(struct web_page *page)
{
    const char *value = web_cookie(page->request, cookie), *dot;
    char mark[TG_HMAC_HEX], *text, *hex;
    size_t len;

    if (value == NULL || *value == '\0')
        return "";
    web_cookie_set(&page->head, page->request, cookie, "", 0);
    dot = strchr(value, '.');
    len = dot == NULL ? 0 : (size_t)(dot - value);
    if (dot == NULL || len % 2 != 0 || len > 2 * TEXT_BYTES_MOST || strlen(dot + 1) != MARK_HEX)
        return "";
    hex = tg_arena_strndup(page->arena, value, len);
    mark_of(page, hex, mark);
    text = tg_arena_calloc(page->arena, len / 2 + 1, 1);
    return tg_equal_constant_time(mark, dot + 1, MARK_HEX) && tg_unhex(hex, len / 2, text) ? text
                                                                                          : "";
}
