/* assets - style sheets and scripts: those of this table and no others, so no path is looked up. */
#include "admin-cgi/pages/pages.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "admin-cgi/web/answer.h"

static const char css[] = "text/css; charset=utf-8", js[] = "text/javascript; charset=utf-8";

static const struct asset {
    const char *name, *type;
    const char *library; /* below --with-jsdir; NULL: a file of ours */
} assets[] = {
    {"bootstrap.css", css, "bootstrap5/css/bootstrap.min.css"},
    {"chart.js", js, "chart.js/chart.min.js"},
    {"charts.js", js, NULL},
    {"console.css", css, NULL},
    {"console.js", js, NULL},
    {"theme.js", js, NULL},
};

static const char *path_of(struct web_page *page, const struct asset *asset)
{
    if (asset->library != NULL)
        return tg_arena_printf(page->arena, "%s/%s", TG_JSDIR, asset->library);
    return tg_arena_printf(page->arena, "%s/../assets/%s",
                           web_templates_folder(page->site->templates), asset->name);
}

static enum tg_class send_file(struct web_page *page, const struct asset *asset)
{
    const char *path = path_of(page, asset);
    FILE *file = fopen(path, "re");
    char piece[65536];
    size_t len;

    if (file == NULL)
        return tg_fail(&page->err, TG_CLASS_CONFIG, "asset", "%s: %s", path, strerror(errno));
    page->streams = true;
    web_answer_send(page->request->gate, page->request,
                    &(struct web_answer){
                        .status = 200, .type = asset->type, .streams = true, .cached = true});
    while ((len = fread(piece, 1, sizeof piece, file)) > 0)
        web_stream(page, piece, len);
    fclose(file);
    return TG_OK;
}

enum tg_class page_asset(struct web_page *page)
{
    for (size_t i = 0; i < TG_COUNT_OF(assets); i++)
        if (strcmp(assets[i].name, page->name) == 0)
            return send_file(page, &assets[i]);
    return tg_fail(&page->err, TG_CLASS_NOT_FOUND, "no_route", "there is no such page");
}
