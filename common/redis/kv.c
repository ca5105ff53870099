#include "common/redis/kv_link.h"

#include "common/base/clock.h"
#include "common/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <hiredis/hiredis.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* A command stuck in the sending side must not reach a server minutes later (AMENDMENTS L5). */
enum { SENDING_LIMIT_MS = 30000 };

/* A context that failed is dead for good: a late reply would answer another question. */
static enum tg_class broke(struct tg_kv *kv, const char *why)
{
    kv->broken = true;
    (void)tg_fail(&kv->error, TG_CLASS_DOWN, "redis_down", "%s", why);
    return TG_CLASS_DOWN;
}

/* Waits for <events>; false when the deadline passes first. */
static bool wait_for(const struct tg_kv *kv, short events, int64_t deadline_at_us)
{
    struct pollfd place = {.fd = kv->context->fd, .events = events};

    for (;;) {
        int64_t left_us = deadline_at_us - tg_now_us();
        struct timespec left = {.tv_sec = left_us / 1000000, .tv_nsec = left_us % 1000000 * 1000};
        int got;

        if (left_us <= 0)
            return false;
        got = ppoll(&place, 1, &left, NULL);
        if (got > 0)
            return true;
        if (got == 0 || errno != EINTR)
            return false;
    }
}

static enum tg_class send_all(struct tg_kv *kv, const char *bytes, size_t len,
                              int64_t deadline_at_us)
{
    while (len > 0) {
        ssize_t sent = send(kv->context->fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (sent >= 0) {
            bytes += sent;
            len -= (size_t)sent;
        } else if (errno == EAGAIN) {
            if (!wait_for(kv, POLLOUT, deadline_at_us))
                return broke(kv, "the command could not be sent in time");
        } else if (errno != EINTR) {
            return broke(kv, "the connection broke while sending");
        }
    }
    return TG_OK;
}

/* The next reply; *ret NULL when the deadline passed without one. */
static enum tg_class read_reply(struct tg_kv *kv, int64_t deadline_at_us, void **ret)
{
    for (;;) {
        *ret = NULL;
        if (redisGetReplyFromReader(kv->context, ret) != REDIS_OK)
            return broke(kv, kv->context->errstr);
        if (*ret != NULL)
            return TG_OK;
        /* A thread that sleeps in read() on a Unix socket is woken twice: the peer that takes the
         * command makes room, which wakes readers too. poll() is asked for POLLIN alone. */
        if (!wait_for(kv, POLLIN, deadline_at_us))
            return TG_OK;
        if (redisBufferRead(kv->context) != REDIS_OK)
            return broke(kv, kv->context->errstr);
    }
}

/* What an error reply means; its first word tells. */
static enum tg_class refused(struct tg_kv *kv, const char *words)
{
    static const char *const not_now[] = {"LOADING ",    "BUSY ",     "MASTERDOWN ", "READONLY ",
                                          "NOREPLICAS ", "TRYAGAIN ", "CLUSTERDOWN ", "MISCONF "};

    if (strncmp(words, "OOM ", 4) == 0) {
        (void)tg_fail(&kv->error, TG_CLASS_OVERLOAD, "redis_memory", "%s", words);
        return TG_CLASS_OVERLOAD;
    }
    for (size_t i = 0; i < TG_COUNT_OF(not_now); i++)
        if (strncmp(words, not_now[i], strlen(not_now[i])) == 0)
            return broke(kv, words); /* it may be another server by now: connect anew */
    (void)tg_fail(&kv->error, TG_CLASS_INTERNAL, "redis_error", "%s", words);
    return TG_CLASS_INTERNAL;
}

static void forget_reply(struct tg_kv *kv)
{
    if (kv->reply != NULL)
        freeReplyObject(kv->reply);
    kv->reply = NULL;
}

/* "*3\r\n" or "$12\r\n". */
static void add_head(struct tg_buf *out, char mark, size_t number)
{
    char text[24];
    size_t at = sizeof text;

    text[--at] = '\n';
    text[--at] = '\r';
    do
        text[--at] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    text[--at] = mark;
    tg_buf_add(out, text + at, sizeof text - at);
}

/* The library's own formatter takes as long as the server takes for a PING (25 arguments). */
static void format_argv(struct tg_kv *kv, size_t count)
{
    tg_buf_reset(&kv->out);
    add_head(&kv->out, '*', count);
    for (size_t i = 0; i < count; i++) {
        add_head(&kv->out, '$', kv->argv[i].len);
        tg_buf_add(&kv->out, kv->argv[i].ptr, kv->argv[i].len);
        tg_buf_add(&kv->out, "\r\n", 2);
    }
}

/* Sends argv[0..count) and waits for its reply. */
static enum tg_class call_argv(struct tg_kv *kv, size_t count, int64_t deadline_at_us,
                               const struct tg_kv_reply **ret)
{
    enum tg_class class;
    redisReply *reply;

    forget_reply(kv);
    if (kv->broken)
        return broke(kv, "the connection is broken");
    if (tg_now_us() >= deadline_at_us) { /* nothing is sent: the connection stays good */
        (void)tg_fail(&kv->error, TG_CLASS_DOWN, "redis_down", "no time left for the call");
        return TG_CLASS_DOWN;
    }
    format_argv(kv, count);
    class = send_all(kv, kv->out.data, kv->out.len, deadline_at_us);
    if (class != TG_OK)
        return class;
    class = read_reply(kv, deadline_at_us, &kv->reply);
    if (class != TG_OK)
        return class;
    if (kv->reply == NULL)
        return broke(kv, "no answer in time");
    kv->answered_at_us = tg_now_us();
    reply = kv->reply;
    *ret = kv->reply;
    return reply->type == REDIS_REPLY_ERROR ? refused(kv, reply->str) : TG_OK;
}

/* The scratch of a call: <before> words of ours, then the caller's. */
static void set_argv(struct tg_kv *kv, size_t before, const struct tg_kv_call *call)
{
    if (before + call->count > kv->argv_room) {
        kv->argv_room = before + call->count;
        kv->argv = tg_realloc(kv->argv, kv->argv_room * sizeof *kv->argv);
    }
    if (call->count > 0)
        memcpy(kv->argv + before, call->args, call->count * sizeof *call->args);
}

enum tg_class tg_kv_command(struct tg_kv *kv, const struct tg_kv_call *call,
                            const struct tg_kv_reply **ret, struct tg_error *err)
{
    enum tg_class class;

    set_argv(kv, 0, call);
    class = call_argv(kv, call->count, call->deadline_at_us, ret);
    if (class != TG_OK && err != NULL)
        *err = kv->error;
    return class;
}

enum tg_class tg_kv_run(struct tg_kv *kv, const struct tg_kv_script *script,
                        const struct tg_kv_call *call, size_t key_count,
                        const struct tg_kv_reply **ret)
{
    const char keys[3] = {(char)('0' + key_count / 100), (char)('0' + key_count / 10 % 10),
                          (char)('0' + key_count % 10)};
    /* Redis takes no leading zero */
    const size_t skipped = key_count < 10 ? 2 : key_count < 100 ? 1 : 0;
    enum tg_class class;

    tg_assert(key_count < 1000); /* the audit asks for hundreds of accounts at once */
    set_argv(kv, 3, call);
    kv->argv[0] = (struct tg_span){"EVALSHA", 7};
    kv->argv[1] = (struct tg_span){script->sha1, 40};
    kv->argv[2] = (struct tg_span){keys + skipped, sizeof keys - skipped};
    class = call_argv(kv, call->count + 3, call->deadline_at_us, ret);
    if (class != TG_CLASS_INTERNAL || strncmp(kv->error.message, "NOSCRIPT", 8) != 0)
        return class;
    kv->argv[0] = (struct tg_span){"EVAL", 4};
    kv->argv[1] = (struct tg_span){script->text, script->len};
    return call_argv(kv, call->count + 3, call->deadline_at_us, ret);
}

const struct tg_error *tg_kv_error(const struct tg_kv *kv)
{
    return &kv->error;
}

/* ---- connecting */

/* The number behind the last colon; 0 when it is no port. */
static int port_of(const char *host_port)
{
    const char *colon = strrchr(host_port, ':');
    char *end;
    long port = strtol(colon + 1, &end, 10);

    return *end == '\0' && port > 0 && port < 65536 ? (int)port : 0;
}

enum tg_class tg_kv_address_check(const char *address, struct tg_error *err)
{
    if ((strncmp(address, "unix:", 5) == 0 && address[5] != '\0') ||
        strcmp(address, TG_KV_NONE) == 0)
        return TG_OK;
    if (strncmp(address, "tcp:", 4) == 0 && strrchr(address, ':') > address + 4 &&
        port_of(address) != 0)
        return TG_OK;
    return tg_fail(err, TG_CLASS_CONFIG, "redis_address",
                   "'%s' is neither unix:PATH nor tcp:HOST:PORT", address);
}

static redisContext *connect_tcp(const char *host_port)
{
    const char *colon = strrchr(host_port, ':');
    char *host;
    redisContext *context;

    if (host_port[0] == '[' && colon[-1] == ']')
        host = tg_strndup(host_port + 1, (size_t)(colon - host_port) - 2);
    else
        host = tg_strndup(host_port, (size_t)(colon - host_port));
    context = redisConnectNonBlock(host, port_of(host_port));
    free(host);
    return context;
}

static enum tg_class connect_link(struct tg_kv *kv, const char *address, int64_t deadline_at_us)
{
    bool tcp = strncmp(address, "tcp:", 4) == 0;
    int failed = 0, limit_ms = SENDING_LIMIT_MS;
    socklen_t failed_len = sizeof failed;

    kv->context = tcp ? connect_tcp(address + 4) : redisConnectUnixNonBlock(address + 5);
    tg_assert(kv->context != NULL);
    if (kv->context->err != 0)
        return broke(kv, kv->context->errstr);
    if (!wait_for(kv, POLLOUT, deadline_at_us))
        return broke(kv, "no connection in time");
    getsockopt(kv->context->fd, SOL_SOCKET, SO_ERROR, &failed, &failed_len);
    if (failed != 0)
        return broke(kv, strerror(failed));
    /* Reads wait by themselves from here on. */
    if (fcntl(kv->context->fd, F_SETFL, O_RDWR) != 0)
        return broke(kv, strerror(errno));
    if (tcp) {
        setsockopt(kv->context->fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit_ms, sizeof limit_ms);
        if (redisEnableKeepAlive(kv->context) != REDIS_OK)
            return broke(kv, kv->context->errstr);
    }
    return TG_OK;
}

static enum tg_class simple(struct tg_kv *kv, const char *const words[], int64_t deadline_at_us,
                            const struct tg_kv_reply **ret)
{
    struct tg_span args[4];
    size_t count = 0;

    for (; words[count] != NULL; count++)
        args[count] = (struct tg_span){words[count], strlen(words[count])};
    return tg_kv_command(kv,
                         &(struct tg_kv_call){.args = args,
                                              .count = count,
                                              .deadline_at_us = deadline_at_us},
                         ret, NULL);
}

static enum tg_class log_in(struct tg_kv *kv, const struct tg_kv_conf *conf,
                            int64_t deadline_at_us)
{
    const struct tg_kv_reply *reply;

    if (conf->password == NULL || conf->password[0] == '\0')
        return TG_OK;
    if (conf->user != NULL && conf->user[0] != '\0')
        return simple(kv, (const char *const[]){"AUTH", conf->user, conf->password, NULL},
                      deadline_at_us, &reply);
    return simple(kv, (const char *const[]){"AUTH", conf->password, NULL}, deadline_at_us, &reply);
}

static enum tg_class read_run_id(struct tg_kv *kv, int64_t deadline_at_us)
{
    const struct tg_kv_reply *reply;
    const char *at;
    enum tg_class class =
        simple(kv, (const char *const[]){"INFO", "server", NULL}, deadline_at_us, &reply);

    if (class != TG_OK)
        return class;
    at = strstr(tg_kv_string(reply).ptr, "run_id:");
    if (at == NULL || strspn(at + 7, "0123456789abcdef") != 40)
        return broke(kv, "the server does not tell its run id");
    memcpy(kv->run_id, at + 7, 40);
    return TG_OK;
}

enum tg_class tg_kv_sync_clock(struct tg_kv *kv, int64_t deadline_at_us, struct tg_error *err)
{
    const struct tg_kv_reply *reply;
    int64_t before_us = tg_now_us(), seconds, micros;
    enum tg_class class = simple(kv, (const char *const[]){"TIME", NULL}, deadline_at_us, &reply);

    if (class == TG_OK && (tg_kv_len(reply) != 2 || !tg_kv_int(tg_kv_at(reply, 0), &seconds) ||
                           !tg_kv_int(tg_kv_at(reply, 1), &micros)))
        class = broke(kv, "the server does not tell its time");
    if (class == TG_OK)
        kv->clock_offset_us = seconds * 1000000 + micros - (before_us + tg_now_us()) / 2;
    else if (err != NULL)
        *err = kv->error;
    return class;
}

enum tg_class tg_kv_open(const struct tg_kv_conf *conf, int64_t deadline_at_us,
                         struct tg_kv **ret, struct tg_error *err)
{
    struct tg_kv *kv;
    enum tg_class class;

    if (strcmp(conf->address, TG_KV_NONE) == 0)
        return tg_fail(err, TG_CLASS_DOWN, "redis_none", "this site has no Redis");
    kv = tg_calloc(1, sizeof *kv);
    class = connect_link(kv, conf->address, deadline_at_us);
    if (class == TG_OK)
        class = log_in(kv, conf, deadline_at_us);
    if (class == TG_OK)
        class = read_run_id(kv, deadline_at_us);
    if (class == TG_OK)
        class = tg_kv_sync_clock(kv, deadline_at_us, NULL);
    if (class == TG_OK) {
        *ret = kv;
        return TG_OK;
    }
    if (err != NULL)
        *err = kv->error;
    tg_kv_close(kv);
    return class;
}

void tg_kv_close(struct tg_kv *kv)
{
    if (kv == NULL)
        return;
    forget_reply(kv);
    redisFree(kv->context);
    free(kv->argv);
    tg_buf_done(&kv->out);
    free(kv);
}

bool tg_kv_is_quiet(const struct tg_kv *kv)
{
    char byte;

    return recv(kv->context->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

enum tg_class tg_kv_receive(struct tg_kv *kv, int64_t deadline_at_us,
                            const struct tg_kv_reply **ret)
{
    enum tg_class class;

    forget_reply(kv);
    if (kv->broken)
        return TG_CLASS_DOWN;
    class = read_reply(kv, deadline_at_us, &kv->reply);
    if (class == TG_OK)
        *ret = kv->reply;
    return class;
}

const char *tg_kv_run_id(const struct tg_kv *kv)
{
    return kv->run_id;
}

int64_t tg_kv_server_ms(const struct tg_kv *kv)
{
    return (tg_now_us() + kv->clock_offset_us) / 1000;
}

/* ---- replies */

static const redisReply *as_reply(const struct tg_kv_reply *reply)
{
    return (const redisReply *)reply;
}

enum tg_kv_type tg_kv_type(const struct tg_kv_reply *reply)
{
    switch (as_reply(reply)->type) {
    case REDIS_REPLY_INTEGER:
        return TG_KV_INT;
    case REDIS_REPLY_STRING:
        return TG_KV_STRING;
    case REDIS_REPLY_STATUS:
        return TG_KV_STATUS;
    case REDIS_REPLY_ARRAY:
        return TG_KV_ARRAY;
    default:
        return TG_KV_NIL;
    }
}

struct tg_span tg_kv_string(const struct tg_kv_reply *reply)
{
    enum tg_kv_type type = tg_kv_type(reply);

    if (type != TG_KV_STRING && type != TG_KV_STATUS)
        return (struct tg_span){"", 0};
    return (struct tg_span){as_reply(reply)->str, (size_t)as_reply(reply)->len};
}

bool tg_kv_int(const struct tg_kv_reply *reply, int64_t *ret)
{
    struct tg_span text = tg_kv_string(reply);
    char *end;
    long long value;

    if (tg_kv_type(reply) == TG_KV_INT) {
        *ret = as_reply(reply)->integer;
        return true;
    }
    if (text.len == 0 || text.len > 20 || strspn(text.ptr, "-0123456789") != text.len)
        return false;
    errno = 0;
    value = strtoll(text.ptr, &end, 10);
    if (errno != 0 || end != text.ptr + text.len)
        return false;
    *ret = value;
    return true;
}

size_t tg_kv_len(const struct tg_kv_reply *reply)
{
    return tg_kv_type(reply) == TG_KV_ARRAY ? as_reply(reply)->elements : 0;
}

const struct tg_kv_reply *tg_kv_at(const struct tg_kv_reply *reply, size_t i)
{
    tg_assert(i < tg_kv_len(reply));
    return (const struct tg_kv_reply *)as_reply(reply)->element[i];
}
