#include "common/http/http_curl.h"

#include "common/base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { TOGETHER_BYTES = 16 * 1024 };

/* Sticky, so that one look at the end is enough. */
#define SET(x, option, value)                                                       \
    do {                                                                            \
        if (curl_easy_setopt((x)->handle->easy, option, value) != CURLE_OK)         \
            (x)->setup_failed = true;                                               \
    } while (0)

static bool header_is_clean(const struct tg_http_header *header)
{
    return header->name[0] != '\0' && strpbrk(header->name, "\r\n:") == NULL &&
           strpbrk(header->value, "\r\n") == NULL;
}

static bool add_line(struct tg_http_exchange *x, const char *line)
{
    struct curl_slist *longer = curl_slist_append(x->headers, line);

    if (longer == NULL)
        return false;
    x->headers = longer;
    return true;
}

/* <line> is scratch. */
static bool add_header(struct tg_http_exchange *x, const struct tg_http_header *header,
                       struct tg_buf *line)
{
    if (!header_is_clean(header))
        return false;
    tg_buf_reset(line);
    tg_buf_str(line, header->name);
    /* libcurl's own form for a header without a value ends with a semicolon. */
    tg_buf_str(line, header->value[0] == '\0' ? ";" : ": ");
    tg_buf_str(line, header->value);
    return line->len <= TG_HTTP_HEADER_BYTES_MOST && add_line(x, tg_buf_text(line));
}

static bool set_headers(struct tg_http_exchange *x)
{
    /* No "100 Continue" pause for large bodies. */
    bool fine = add_line(x, "Expect:");
    struct tg_buf line;

    tg_buf_init(&line, 0);
    for (size_t i = 0; i < x->spec->header_count && fine; i++)
        fine = add_header(x, &x->spec->headers[i], &line);
    tg_buf_done(&line);
    SET(x, CURLOPT_HTTPHEADER, x->headers);
    return fine;
}

/* A small body leaves in the same write, and arrives in the same read, as the headers. */
static void send_together(struct tg_http_exchange *x)
{
    const struct tg_span *pieces = x->spec->body;
    const char *bytes = pieces[0].ptr;

    if (x->spec->body_count > 1) {
        for (size_t i = 0; i < x->spec->body_count; i++)
            tg_buf_add(&x->body, pieces[i].ptr, pieces[i].len);
        bytes = x->body.data;
    }
    x->together = true;
    SET(x, CURLOPT_POSTFIELDS, bytes);
}

/* Whatever the exchange before it was. */
static void set_request(struct tg_http_exchange *x)
{
    if (strcmp(x->spec->method, "GET") == 0) {
        SET(x, CURLOPT_CUSTOMREQUEST, NULL);
        SET(x, CURLOPT_HTTPGET, 1L);
        return;
    }
    SET(x, CURLOPT_POST, 1L);
    SET(x, CURLOPT_CUSTOMREQUEST,
        strcmp(x->spec->method, "POST") != 0 ? x->spec->method : NULL);
    SET(x, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)x->body_total);
    if (x->body_total > 0 && x->body_total <= TOGETHER_BYTES)
        send_together(x);
    else
        SET(x, CURLOPT_POSTFIELDS, NULL); /* the read function's turn */
}

/* Parsed once: libcurl takes an URL apart, and puts it together again, for each transfer. */
static void set_url(struct tg_http_exchange *x)
{
    struct tg_http_handle *handle = x->handle;

    if (handle->url != NULL && strcmp(handle->url, x->spec->url) == 0)
        return;
    if (curl_url_set(handle->parsed, CURLUPART_URL, x->spec->url, CURLU_DISALLOW_USER) != CURLUE_OK)
        x->setup_failed = true;
    free(handle->url);
    handle->url = tg_strdup(x->spec->url);
    SET(x, CURLOPT_URL, NULL); /* or it would be kept beside what was parsed */
    SET(x, CURLOPT_CURLU, handle->parsed);
}

static void set_limits(struct tg_http_exchange *x)
{
    SET(x, CURLOPT_CONNECTTIMEOUT_MS, (long)TG_MAX(x->spec->connect_us / 1000, 1));
    SET(x, CURLOPT_BUFFERSIZE, x->spec->trickles ? 2048L : 16384L); /* of thousands of streams */
}

static void set_connection(struct tg_http_exchange *x)
{
    bool fetch = x->spec->purpose == TG_HTTP_FETCH;

    SET(x, CURLOPT_PROTOCOLS_STR, "http,https");
    /* One multi carries one transfer, so HTTP/2 would add its windows and tables to every stream
     * and multiplex nothing. */
    SET(x, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    SET(x, CURLOPT_HTTP09_ALLOWED, 0L);
    SET(x, CURLOPT_FOLLOWLOCATION, 0L);
    SET(x, CURLOPT_NOSIGNAL, 1L);
    SET(x, CURLOPT_TCP_KEEPALIVE, 1L);
    /* Both always set: libcurl reads the environment otherwise. */
    SET(x, CURLOPT_PROXY, fetch ? "" : x->spec->proxy);
    SET(x, CURLOPT_NOPROXY, "");
    SET(x, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    SET(x, CURLOPT_OPENSOCKETFUNCTION, tg_http_on_socket);
    SET(x, CURLOPT_OPENSOCKETDATA, x->handle);
    SET(x, CURLOPT_PREREQFUNCTION, tg_http_on_request);
    SET(x, CURLOPT_PREREQDATA, x->handle);
    if (fetch) {
        SET(x, CURLOPT_FRESH_CONNECT, 1L);
        SET(x, CURLOPT_FORBID_REUSE, 1L);
    }
#if LIBCURL_VERSION_NUM >= 0x075700
    /* Leaving does not wait for a resolver thread that hangs in getaddrinfo. */
    SET(x, CURLOPT_QUICK_EXIT, 1L);
#endif
}

static void set_tls(struct tg_http_exchange *x)
{
    SET(x, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2); /* or later */
    SET(x, CURLOPT_SSL_VERIFYPEER, 1L);
    SET(x, CURLOPT_SSL_VERIFYHOST, 2L);
    if (x->ca_path[0] == '\0')
        return;
    SET(x, CURLOPT_CAINFO, NULL);
    SET(x, CURLOPT_CAPATH, x->ca_path);
    SET(x, CURLOPT_PROXY_CAINFO, NULL);
    SET(x, CURLOPT_PROXY_CAPATH, x->ca_path);
}

static void set_body_source(struct tg_http_exchange *x)
{
    SET(x, CURLOPT_READFUNCTION, tg_http_on_read);
    SET(x, CURLOPT_READDATA, x->handle);
    SET(x, CURLOPT_SEEKFUNCTION, tg_http_on_seek);
    SET(x, CURLOPT_SEEKDATA, x->handle);
    /* The least that libcurl takes: its default is 64 KiB in every running stream. */
    SET(x, CURLOPT_UPLOAD_BUFFERSIZE, 16384L);
}

static void set_answer(struct tg_http_exchange *x)
{
    /* libcurl undoes whatever Content-Encoding comes, as long as this is set; what it asks for
     * is another matter, and events that arrive compressed arrive late. */
    SET(x, CURLOPT_ACCEPT_ENCODING, "identity");
    SET(x, CURLOPT_HEADERFUNCTION, tg_http_on_header);
    SET(x, CURLOPT_HEADERDATA, x->handle);
    SET(x, CURLOPT_WRITEFUNCTION, tg_http_on_body);
    SET(x, CURLOPT_WRITEDATA, x->handle);
    SET(x, CURLOPT_ERRORBUFFER, x->handle->error_text);
}

bool tg_http_options_set(struct tg_http_exchange *x)
{
    x->handle->exchange = x;
    if (!x->handle->prepared) {
        set_connection(x);
        set_tls(x);
        set_body_source(x);
        set_answer(x);
        x->handle->prepared = true;
    }
    set_url(x);
    set_limits(x);
    set_request(x);
    return set_headers(x) && !x->setup_failed;
}
