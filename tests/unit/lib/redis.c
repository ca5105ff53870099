#include "tests/unit/lib/redis.h"

#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "tests/unit/lib/server.h"

enum { START_US = 60000000, CALL_US = 10000000, WORDS = 16 };

struct test_redis {
    struct test_server process;
    char address[96];
    struct tg_buf reply; /* of the last test_redis_say */
};

static bool answers(struct test_redis *server)
{
    return strcmp(test_redis_say(server, "PING", NULL), "PONG") == 0;
}

void test_redis_again(struct test_redis *server)
{
    char socket[96], pidfile[96];
    char *const argv[] = {(char[]){"redis-server"},
                          (char[]){"--port"},
                          (char[]){"0"},
                          (char[]){"--unixsocket"},
                          socket,
                          (char[]){"--dir"},
                          server->process.folder,
                          (char[]){"--pidfile"},
                          pidfile,
                          (char[]){"--appendonly"},
                          (char[]){"yes"},
                          /* a write never waits for a flush: a kill loses nothing answered */
                          (char[]){"--appendfsync"},
                          (char[]){"no"},
                          (char[]){"--save"},
                          (char[]){""},
                          NULL};
    int64_t until_us = tg_now_us() + START_US;

    snprintf(socket, sizeof socket, "%s/sock", server->process.folder);
    snprintf(pidfile, sizeof pidfile, "%s/pid", server->process.folder);
    test_server_spawn(&server->process, argv);
    while (!answers(server)) {
        if (tg_now_us() > until_us || !test_server_is_running(&server->process))
            test_server_give_up(&server->process, "redis-server does not start");
        tg_clock_sleep_us(5000);
    }
}

struct test_redis *test_redis_start(void)
{
    struct test_redis *server = tg_calloc(1, sizeof *server);

    test_server_init(&server->process, "redis");
    snprintf(server->address, sizeof server->address, "unix:%s/sock", server->process.folder);
    test_redis_again(server);
    return server;
}

void test_redis_stop(struct test_redis *server)
{
    if (server == NULL)
        return;
    test_server_done(&server->process);
    tg_buf_done(&server->reply);
    free(server);
}

void test_redis_kill(struct test_redis *server)
{
    test_server_end(&server->process, SIGKILL);
}

void test_redis_restart(struct test_redis *server)
{
    test_server_end(&server->process, SIGTERM);
    test_redis_again(server);
}

void test_redis_pause(struct test_redis *server)
{
    kill(server->process.pid, SIGSTOP);
}

void test_redis_resume(struct test_redis *server)
{
    kill(server->process.pid, SIGCONT);
}

const char *test_redis_address(const struct test_redis *server)
{
    return server->address;
}

struct tg_kv_pool *test_redis_pool(const struct test_redis *server, int connections)
{
    struct tg_kv_conf conf = {.address = server->address, .connections = connections};
    struct tg_kv_pool *pool;
    struct tg_error err;

    if (tg_kv_pool_new(&conf, &pool, &err) == TG_OK)
        return pool;
    fprintf(stderr, "private Redis: %s\n", err.message);
    exit(1);
}

static void add_text(struct tg_buf *out, const struct tg_kv_reply *reply)
{
    int64_t number;

    switch (tg_kv_type(reply)) {
    case TG_KV_NIL:
        tg_buf_str(out, "(nil)");
        break;
    case TG_KV_INT:
        if (tg_kv_int(reply, &number))
            tg_buf_printf(out, "%" PRId64, number);
        break;
    case TG_KV_ARRAY:
        for (size_t i = 0; i < tg_kv_len(reply); i++) {
            if (i > 0)
                tg_buf_char(out, ' ');
            add_text(out, tg_kv_at(reply, i));
        }
        break;
    default:
        tg_buf_add(out, tg_kv_string(reply).ptr, tg_kv_string(reply).len);
    }
}

const char *test_redis_say(struct test_redis *server, ...)
{
    struct tg_kv_pool *pool = test_redis_pool(server, 1);
    struct tg_span args[WORDS];
    struct tg_kv_call call = {.args = args, .deadline_at_us = tg_now_us() + CALL_US};
    const struct tg_kv_reply *reply;
    struct tg_error err;
    struct tg_kv *kv = NULL;
    va_list list;

    va_start(list, server);
    for (const char *word; (word = va_arg(list, const char *)) != NULL;) {
        tg_assert(call.count < WORDS);
        args[call.count++] = (struct tg_span){word, strlen(word)};
    }
    va_end(list);
    tg_buf_reset(&server->reply);
    if (tg_kv_acquire(pool, call.deadline_at_us, &kv, &err) == TG_OK &&
        tg_kv_command(kv, &call, &reply, &err) == TG_OK)
        add_text(&server->reply, reply);
    else
        tg_buf_str(&server->reply, err.message);
    tg_kv_release(kv);
    tg_kv_pool_free(pool);
    return tg_buf_text(&server->reply);
}
