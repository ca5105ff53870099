#include "common/http/http_curl.h"

#include "common/base/clock.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const end_names[] = {
    [TG_HTTP_DONE] = "done",
    [TG_HTTP_BAD_URL] = "bad_url",
    [TG_HTTP_REFUSED_ADDRESS] = "refused_address",
    [TG_HTTP_DNS] = "dns",
    [TG_HTTP_CONNECT] = "connect",
    [TG_HTTP_TLS] = "tls",
    [TG_HTTP_TIMEOUT_CONNECT] = "timeout_connect",
    [TG_HTTP_TIMEOUT_FIRST_BYTE] = "timeout_first_byte",
    [TG_HTTP_TIMEOUT_IDLE] = "timeout_idle",
    [TG_HTTP_TIMEOUT_DEADLINE] = "timeout_deadline",
    [TG_HTTP_RESET] = "reset",
    [TG_HTTP_PROTOCOL] = "protocol",
    [TG_HTTP_STOPPED] = "stopped",
};

/* A client's descriptor that stays readable without having left must not keep us spinning: it is
 * looked at this often instead of being waited for. */
enum { SEEN_CLIENT_LOOK_US = 250000, LONGEST_WAIT_US = 60000000 };

const char *tg_http_end_name(enum tg_http_end end)
{
    tg_assert((size_t)end < TG_COUNT_OF(end_names));
    return end_names[end];
}

static enum tg_http_end end_of_code(const struct tg_http_exchange *x, CURLcode code)
{
    switch (code) {
    case CURLE_OK:
        return TG_HTTP_DONE;
    case CURLE_URL_MALFORMAT:
    case CURLE_LOGIN_DENIED:
        return TG_HTTP_BAD_URL;
    case CURLE_UNSUPPORTED_PROTOCOL: /* also an answer that is no HTTP/1 */
        return x->connected ? TG_HTTP_PROTOCOL : TG_HTTP_BAD_URL;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
        return TG_HTTP_DNS;
    case CURLE_COULDNT_CONNECT:
    case CURLE_PROXY:
        if (x->connected)
            return TG_HTTP_RESET; /* the kept connection broke, and no repetition is wanted */
        return x->address_refused && !x->address_used ? TG_HTTP_REFUSED_ADDRESS : TG_HTTP_CONNECT;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_ENGINE_INITFAILED:
        return TG_HTTP_TLS;
    case CURLE_OPERATION_TIMEDOUT:
        return x->connected ? TG_HTTP_TIMEOUT_FIRST_BYTE : TG_HTTP_TIMEOUT_CONNECT;
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_PARTIAL_FILE:
    case CURLE_SEND_FAIL_REWIND:
        return x->connected ? TG_HTTP_RESET : TG_HTTP_CONNECT;
    default:
        return TG_HTTP_PROTOCOL;
    }
}

/* --- deadlines, by our own clock ----------------------------------------------------------- */

static int64_t deadline(const struct tg_http_exchange *x, enum tg_http_end *ret_end)
{
    const struct tg_http_spec *spec = x->spec;
    int64_t at;

    if (x->ret->any_body) {
        *ret_end = TG_HTTP_TIMEOUT_IDLE;
        return x->progress_at_us + spec->idle_us;
    }
    if (x->connected) {
        *ret_end = TG_HTTP_TIMEOUT_FIRST_BYTE;
        at = x->progress_at_us + spec->first_byte_us;
    } else {
        *ret_end = TG_HTTP_TIMEOUT_CONNECT;
        at = x->started_at_us + spec->connect_us;
    }
    if (spec->deadline_at_us == 0 || at <= spec->deadline_at_us)
        return at;
    *ret_end = TG_HTTP_TIMEOUT_DEADLINE;
    return spec->deadline_at_us;
}

/* --- the client's side --------------------------------------------------------------------- */

static int wake_fd(const struct tg_http_exchange *x)
{
    return x->spec->wake_fd > 0 ? x->spec->wake_fd : -1;
}

static bool client_is_ready(struct tg_http_exchange *x, bool *ret_woken)
{
    struct pollfd look[2] = {{.fd = x->spec->client_fd, .events = x->spec->client_events},
                             {.fd = wake_fd(x), .events = POLLIN}};

    *ret_woken = false;
    if ((look[0].fd < 0 && look[1].fd < 0) || poll(look, 2, 0) <= 0)
        return false;
    *ret_woken = look[1].revents != 0;
    if ((look[0].revents & ~x->client_seen) == 0)
        return false;
    x->client_seen |= look[0].revents;
    return true;
}

/* False: the owner wants to stop. */
static bool tick(struct tg_http_exchange *x, int64_t now_us)
{
    bool woken = false, ready = false;

    if (x->wake_at_us != 0) /* the first tick is due in any case */
        ready = client_is_ready(x, &woken);
    if (x->sink->on_tick == NULL || (!ready && !woken && now_us < x->wake_at_us))
        return true;
    x->wake_at_us = INT64_MAX;
    return x->sink->on_tick(x->sink->context, now_us, ready, &x->wake_at_us);
}

static int wait_ms(const struct tg_http_exchange *x, int64_t now_us)
{
    enum tg_http_end unused;
    int64_t until = TG_MIN(deadline(x, &unused), x->wake_at_us);

    until = TG_MIN(until, now_us + (x->client_seen != 0 ? SEEN_CLIENT_LOOK_US : LONGEST_WAIT_US));
    return until <= now_us ? 0 : (int)((until - now_us + 999) / 1000);
}

static bool wait_for_something(struct tg_http_exchange *x)
{
    /* libcurl passes on POLLIN only; a hang-up makes the descriptor readable as well. */
    struct curl_waitfd more[2];
    unsigned count = 0;

    if (x->spec->client_fd >= 0 && x->spec->client_events != 0 && x->client_seen == 0)
        more[count++] = (struct curl_waitfd){x->spec->client_fd, CURL_WAIT_POLLIN, 0};
    if (wake_fd(x) >= 0)
        more[count++] = (struct curl_waitfd){wake_fd(x), CURL_WAIT_POLLIN, 0};
    return curl_multi_poll(x->handle->multi, more, count, wait_ms(x, tg_now_us()), NULL) ==
           CURLM_OK;
}

/* --- the exchange -------------------------------------------------------------------------- */

/* The end when libcurl has finished; false: still running. */
static bool finished(struct tg_http_exchange *x)
{
    int left;
    CURLMsg *message = curl_multi_info_read(x->handle->multi, &left);

    if (message == NULL || message->msg != CURLMSG_DONE)
        return false;
    if (x->stopped)
        x->ret->end = TG_HTTP_STOPPED;
    else if (x->flooded)
        x->ret->end = TG_HTTP_PROTOCOL;
    else
        x->ret->end = end_of_code(x, message->data.result);
    if (x->ret->end == TG_HTTP_DONE && !x->headers_done)
        x->ret->end = TG_HTTP_RESET; /* libcurl minds no end inside the headers */
    if (x->ret->end != TG_HTTP_DONE)
        snprintf(x->ret->detail, sizeof x->ret->detail, "%.150s",
                 x->handle->error_text[0] != '\0' ? x->handle->error_text
                                                  : curl_easy_strerror(message->data.result));
    return true;
}

static enum tg_http_end drive(struct tg_http_exchange *x)
{
    int running;

    for (;;) {
        enum tg_http_end late;
        int64_t now_us;

        if (curl_multi_perform(x->handle->multi, &running) != CURLM_OK)
            return TG_HTTP_PROTOCOL;
        if (finished(x))
            return x->ret->end;
        now_us = tg_now_us();
        if (!tick(x, now_us))
            return TG_HTTP_STOPPED;
        if (now_us >= deadline(x, &late))
            return late;
        if (!wait_for_something(x))
            return TG_HTTP_PROTOCOL;
    }
}

static void read_result(struct tg_http_exchange *x)
{
    long request_bytes = 0;

    curl_easy_getinfo(x->handle->easy, CURLINFO_REQUEST_SIZE, &request_bytes);
    x->ret->body_sent = request_bytes > 0 && x->body_at == x->body_total;
    x->ret->sent_bytes = request_bytes + (x->together ? 0 : x->body_at); /* it counts all it sent */
    x->ret->total_us = tg_now_us() - x->started_at_us;
}

static void run(struct tg_http_exchange *x)
{
    struct tg_http_handle *handle = x->handle;

    handle->error_text[0] = '\0';
    if (!tg_http_options_set(x)) {
        x->ret->end = TG_HTTP_BAD_URL;
        snprintf(x->ret->detail, sizeof x->ret->detail, "the URL or a header is refused");
        return;
    }
    if (curl_multi_add_handle(handle->multi, handle->easy) != CURLM_OK) {
        x->ret->end = TG_HTTP_PROTOCOL;
        snprintf(x->ret->detail, sizeof x->ret->detail, "libcurl refuses the transfer");
        return;
    }
    x->ret->end = drive(x);
    read_result(x);
    curl_multi_remove_handle(handle->multi, handle->easy);
}

/* "purpose|proxy|scheme://host:port" */
static void pool_key(const struct tg_http_spec *spec, struct tg_buf *key)
{
    const char *host = strstr(spec->url, "://");
    size_t len = host == NULL ? strlen(spec->url)
                              : (size_t)(host - spec->url) + 3 + strcspn(host + 3, "/?#");

    tg_buf_printf(key, "%d|%s|", (int)spec->purpose,
                  spec->purpose == TG_HTTP_FETCH ? "" : spec->proxy);
    tg_buf_add(key, spec->url, len);
}

static void prepare(struct tg_http_exchange *x)
{
    for (size_t i = 0; i < x->spec->body_count; i++)
        x->body_total += (int64_t)x->spec->body[i].len;
    x->started_at_us = x->progress_at_us = tg_now_us();
    tg_http_answer_init(&x->answer);
    tg_buf_init(&x->body, 0);
}

/* A connection that may be of use again goes back; after anything unclear it is closed. An answer
 * without a body may have been one whose body is still to come. */
static void put_back(struct tg_http_pool *pool, struct tg_http_exchange *x)
{
    if (x->ret->end != TG_HTTP_DONE || x->spec->purpose == TG_HTTP_FETCH || !x->ret->any_body) {
        tg_http_handle_free(x->handle);
        return;
    }
    if (x->repeated) { /* libcurl counts its repetitions until a reset, and takes but five */
        curl_easy_reset(x->handle->easy);
        x->handle->prepared = false;
        free(x->handle->url);
        x->handle->url = NULL;
    }
    x->handle->exchange = NULL;
    tg_http_pool_give(pool, x->handle);
}

void tg_http_exchange(struct tg_http_pool *pool, const struct tg_http_spec *spec,
                      const struct tg_http_sink *sink, struct tg_http_result *ret)
{
    struct tg_http_exchange x = {
        .spec = spec, .sink = sink, .ret = ret, .ca_path = tg_http_pool_ca_path(pool)};
    struct tg_buf key;

    memset(ret, 0, sizeof *ret);
    prepare(&x);
    tg_buf_init(&key, 0);
    pool_key(spec, &key);
    x.handle = tg_http_pool_take(pool, tg_buf_text(&key));
    tg_buf_done(&key);
    if (x.handle == NULL) {
        ret->end = TG_HTTP_PROTOCOL;
        snprintf(ret->detail, sizeof ret->detail, "libcurl gives no handle");
    } else {
        run(&x);
        put_back(pool, &x);
    }
    curl_slist_free_all(x.headers);
    tg_http_answer_done(&x.answer);
    tg_buf_done(&x.body);
}
