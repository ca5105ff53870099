#include "admin-cgi/pages/csv.h"

#include <string.h>

void page_csv_broken(struct web_page *page)
{
    static const char line[] = "broken off: the database gave no answer\r\n";

    web_stream(page, line, strlen(line));
}

enum tg_class page_csv_send(struct web_page *page, const char *file_name, page_csv_fn *next,
                            const void *filter)
{
    struct tg_page at = {.limit = TG_PAGE_MOST};
    char place[TG_CURSOR_TEXT];
    struct tg_buf piece;
    struct tg_csv csv = {.out = &piece};
    enum tg_class class;

    tg_buf_init(&piece, 0);
    class = next(page, filter, &at, &csv);
    if (class == TG_OK)
        web_stream_begin(page, "text/csv; charset=utf-8", file_name);
    while (class == TG_OK) {
        web_stream(page, tg_buf_text(&piece), piece.len);
        tg_buf_reset(&piece);
        if (csv.next[0] == '\0')
            break;
        memcpy(place, csv.next, sizeof place);
        at.after = place;
        class = next(page, filter, &at, &csv);
        if (class != TG_OK)
            page_csv_broken(page);
    }
    tg_buf_done(&piece);
    return class;
}
