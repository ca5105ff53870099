/* tollgate-console - the console as one program: every area is a name of it (users.cgi, …).
 *
 * As plain CGI it answers one request. With a listening socket on descriptor 0 (or --listen) it
 * speaks FastCGI: some children that answer one request at a time, replaced when they end. */
#include "admin-cgi/web/serve.h"

#include <stdio.h>
#include <stdlib.h>
#include <stdlib.h>
#include <string.h>

#include "admin-cgi/access/routes.h"
#include "admin-cgi/web/fastcgi.h"
#include "common/base/log.h"

static int usage(FILE *file, int code)
{
    fprintf(file, "usage: tollgate-console --listen unix:PATH|tcp:HOST:PORT [--children N]\n"
                  "       tollgate-console --routes    what there is, and who may, as JSON\n"
                  "       as a CGI or FastCGI program: started by the web server, no arguments\n");
    return code;
}

/* The table of routes as JSON, for the tests of access and for people who ask what there is. */
static int print_routes(void)
{
    struct tg_json_writer out;
    struct tg_buf text;
    bool put;

    tg_buf_init(&text, 0);
    tg_json_writer_init(&out, &text);
    access_write_routes(&out);
    put = puts(text.data) >= 0 && fflush(stdout) == 0;
    tg_buf_done(&text);
    return put ? 0 : 1;
}

static int serve_one(void)
{
    struct web_gate gate = {.fcgi = NULL};
    struct web_site site;
    struct tg_error err;

    if (web_site_open(&site, &err) == TG_OK)
        web_serve(&site, &gate);
    else
        web_serve_nothing(&gate, &err);
    web_site_close(&site);
    return gate.failed ? 1 : 0;
}

int main(int argc, char *argv[])
{
    struct web_fastcgi options = {.children = 4};
    struct tg_error err;

    if (tg_log_open("tollgate-console", NULL, TG_LOG_INFO, &err) != TG_OK)
        return 1;
    /* A query without "=" comes as arguments too (RFC 3875, 4.4): words of whoever asks. */
    if (getenv("GATEWAY_INTERFACE") != NULL)
        argc = 1;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0)
            return usage(stdout, 0);
        if (strcmp(argv[i], "--version") == 0)
            return printf("tollgate-console %s\n", PACKAGE_VERSION) < 0;
        if (strcmp(argv[i], "--routes") == 0)
            return print_routes();
        if (i + 1 < argc && strcmp(argv[i], "--listen") == 0)
            options.address = argv[++i];
        else if (i + 1 < argc && strcmp(argv[i], "--children") == 0)
            options.children = (int)strtol(argv[++i], NULL, 10);
        else
            return usage(stderr, 2);
    }
    if (options.address != NULL || web_gate_is_fastcgi())
        return web_fastcgi_run(&options);
    return serve_one();
}
