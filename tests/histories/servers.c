#include "tests/histories/servers.h"

#include "tests/histories/seam.h"
#include "tests/histories/world.h"

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/redis/kv_link.h"
#include "tests/unit/lib/server.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SLOTS = 6, STATES = 12, DELAYED_MOST = 64, AGED = 20, START_US = 60000000 };

struct server {
    struct test_server process;
    bool running;
    int age; /* histories since its folder was empty */
    struct tg_kv *link;
    off_t states[STATES]; /* lengths of the file, oldest first */
    int count;
};

struct delayed {
    char run_id[41];
    const struct tg_kv_script *script;
    struct tg_span *args;
    size_t count, key_count;
};

static struct server slots[SLOTS], *current;
static char address[128], folder[64];
static struct delayed delayed[DELAYED_MOST];
static size_t delayed_count;

const char *servers_address(void)
{
    return address;
}

static void path_of(const struct server *server, const char *name, char path[128])
{
    snprintf(path, 128, "%s/%s", server->process.folder, name);
}

static const char file_name[] = "appendonlydir/appendonly.aof.1.incr.aof";

static off_t file_length(const struct server *server)
{
    struct stat info;
    char path[128];

    path_of(server, file_name, path);
    return stat(path, &info) == 0 ? info.st_size : 0;
}

/* A server that still loads its file tells its run id, but nothing else. */
static bool link_up(const struct tg_kv_conf *conf, struct server *server)
{
    const struct tg_span words[] = {{"DBSIZE", 6}};
    const struct tg_kv_reply *reply;
    const struct tg_kv_call call = {
        .args = words, .count = 1, .deadline_at_us = tg_now_us() + 1000000};

    if (tg_kv_open(conf, call.deadline_at_us, &server->link, NULL) != TG_OK)
        return false;
    if (seam_command(server->link, &call, &reply) == TG_OK)
        return true;
    tg_kv_close(server->link);
    return false;
}

static void spawn(struct server *server)
{
    char socket[128];
    char *const argv[] = {(char[]){"redis-server"}, (char[]){"--port"}, (char[]){"0"},
                          (char[]){"--unixsocket"}, socket, (char[]){"--dir"},
                          server->process.folder, (char[]){"--appendonly"}, (char[]){"yes"},
                          /* what was answered is in the file: a cut is where we say */
                          (char[]){"--appendfsync"}, (char[]){"no"}, (char[]){"--save"},
                          (char[]){""}, (char[]){"--auto-aof-rewrite-percentage"}, (char[]){"0"},
                          NULL};
    struct tg_kv_conf conf = {.user = "", .password = "", .connections = 1};
    char text[140];
    int64_t until_us;

    world.virtual_time = false;
    until_us = tg_now_us() + START_US;
    path_of(server, "sock", socket);
    unlink(socket);
    snprintf(text, sizeof text, "unix:%s", socket);
    conf.address = text;
    test_server_spawn(&server->process, argv);
    while (!link_up(&conf, server)) {
        if (tg_now_us() > until_us || !test_server_is_running(&server->process))
            test_server_give_up(&server->process, "redis-server does not start");
        tg_clock_sleep_us(2000);
    }
    world.virtual_time = true;
    server->running = true;
    server->states[0] = file_length(server);
    server->count = 1;
}

static void end(struct server *server)
{
    if (!server->running)
        return;
    tg_kv_close(server->link);
    server->link = NULL;
    test_server_end(&server->process, SIGKILL);
    server->running = false;
}

static void use(struct server *server)
{
    char link[96], socket[128];

    current = server;
    snprintf(link, sizeof link, "%s/now", folder);
    path_of(server, "sock", socket);
    unlink(link);
    tg_assert(symlink(socket, link) == 0);
}

static void wipe(struct server *server)
{
    static const char *const names[] = {"appendonlydir/appendonly.aof.manifest",
                                        "appendonlydir/appendonly.aof.1.base.rdb",
                                        "appendonlydir/appendonly.aof.1.incr.aof"};
    char path[128];

    for (size_t i = 0; i < TG_COUNT_OF(names); i++) {
        path_of(server, names[i], path);
        unlink(path);
    }
    server->age = 0;
}

static struct server *free_slot(void)
{
    for (size_t i = 0; i < SLOTS; i++)
        if (!slots[i].running)
            return &slots[i];
    for (size_t i = 0; i < SLOTS; i++)
        if (&slots[i] != current) {
            end(&slots[i]);
            return &slots[i];
        }
    return NULL;
}

void servers_start(void)
{
    for (size_t i = 0; i < SLOTS; i++)
        test_server_init(&slots[i].process, "history");
    snprintf(folder, sizeof folder, "%s", slots[0].process.folder);
    snprintf(address, sizeof address, "unix:%s/now", folder);
}

void servers_stop(void)
{
    for (size_t i = 0; i < SLOTS; i++) {
        end(&slots[i]);
        test_server_done(&slots[i].process);
    }
}

static void forget_delayed(struct delayed *one)
{
    for (size_t i = 0; i < one->count; i++)
        free((char *)(uintptr_t)one->args[i].ptr);
    free(one->args);
}

static void say(struct server *server, const char *word)
{
    const struct tg_span args[] = {{word, strlen(word)}};
    const struct tg_kv_reply *reply;
    const struct tg_kv_call call = {
        .args = args, .count = 1, .deadline_at_us = tg_now_us() + START_US};

    if (seam_command(server->link, &call, &reply) != TG_OK)
        test_server_give_up(&server->process, tg_kv_error(server->link)->message);
}

void servers_fresh(void)
{
    while (delayed_count > 0)
        forget_delayed(&delayed[--delayed_count]);
    for (size_t i = 0; i < SLOTS; i++)
        if (&slots[i] != current)
            end(&slots[i]);
    if (current == NULL || current->age++ >= AGED) {
        struct server *server = current != NULL ? current : &slots[0];

        end(server);
        wipe(server);
        spawn(server);
        use(server);
    }
    say(current, "FLUSHALL");
    current->states[0] = file_length(current);
    current->count = 1;
}

static struct server *server_of(const char *run_id)
{
    for (size_t i = 0; i < SLOTS; i++)
        if (slots[i].running && strcmp(slots[i].link->run_id, run_id) == 0)
            return &slots[i];
    return NULL;
}

void servers_note(const struct tg_kv *kv)
{
    struct server *server = server_of(kv->run_id);
    off_t length;

    if (server == NULL)
        return;
    length = file_length(server);
    if (length == server->states[server->count - 1])
        return;
    if (server->count == STATES) {
        memmove(server->states, server->states + 1, (STATES - 1) * sizeof(off_t));
        server->count--;
    }
    server->states[server->count++] = length;
}

int servers_states(void)
{
    return current->count;
}

static off_t cut_of(int back, bool torn)
{
    int at = current->count - 1 - TG_MIN(back, current->count - 1);
    off_t length = current->states[at];

    if (torn && at + 1 < current->count)
        length += (current->states[at + 1] - length) / 2;
    return length;
}

void servers_restart(int back, bool torn)
{
    off_t length = cut_of(back, torn);
    char path[128];

    end(current);
    path_of(current, file_name, path);
    tg_assert(truncate(path, length) == 0);
    spawn(current);
}

void servers_empty(void)
{
    say(current, "FLUSHALL");
    servers_note(current->link);
}

void servers_replace(void)
{
    struct server *old = current, *server = free_slot();

    wipe(server);
    spawn(server);
    use(server);
    end(old);
}

static void copy(const char *from, const char *to, off_t most)
{
    char piece[16384];
    int in = open(from, O_RDONLY | O_CLOEXEC);
    int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    ssize_t got;

    tg_assert(in >= 0 && out >= 0);
    while (most > 0 &&
           (got = read(in, piece, (size_t)TG_MIN(most, (off_t)sizeof piece))) > 0) {
        tg_assert(write(out, piece, (size_t)got) == got);
        most -= got;
    }
    close(in);
    close(out);
}

void servers_fail_over(int back)
{
    static const char *const names[] = {"appendonlydir/appendonly.aof.1.base.rdb",
                                        "appendonlydir/appendonly.aof.manifest", file_name};
    struct server *server = free_slot();
    off_t length = cut_of(back, false);
    char from[128], to[128];

    path_of(server, "appendonlydir", to);
    tg_assert(mkdir(to, 0700) == 0 || errno == EEXIST);
    for (size_t i = 0; i < TG_COUNT_OF(names); i++) {
        path_of(current, names[i], from);
        path_of(server, names[i], to);
        copy(from, to, names[i] == file_name ? length : INT64_MAX);
    }
    server->age = current->age;
    spawn(server);
    use(server);
}

void servers_end_old(void)
{
    for (size_t i = 0; i < SLOTS; i++)
        if (&slots[i] != current)
            end(&slots[i]);
}

struct tg_kv *servers_link(void)
{
    return current->link;
}

void servers_delay(struct tg_kv *kv, const struct tg_kv_script *script,
                   const struct tg_kv_call *call, size_t key_count)
{
    struct delayed *one = &delayed[delayed_count];

    if (delayed_count == DELAYED_MOST)
        return; /* then it is lost */
    *one = (struct delayed){.script = script, .count = call->count, .key_count = key_count};
    memcpy(one->run_id, kv->run_id, sizeof one->run_id);
    one->args = tg_calloc(call->count, sizeof *one->args);
    for (size_t i = 0; i < call->count; i++) {
        char *bytes = tg_malloc(call->args[i].len + 1);

        if (call->args[i].len > 0)
            memcpy(bytes, call->args[i].ptr, call->args[i].len);
        one->args[i] = (struct tg_span){bytes, call->args[i].len};
    }
    delayed_count++;
}

static void deliver(size_t index)
{
    struct delayed one = delayed[index];
    struct server *server = server_of(one.run_id);
    const struct tg_kv_reply *reply;
    const struct tg_kv_call call = {
        .args = one.args, .count = one.count, .deadline_at_us = tg_now_us() + START_US};

    delayed[index] = delayed[--delayed_count];
    if (server != NULL) {
        note("%s runs late", one.script->name);
        if (seam_run(server->link, one.script, &call, one.key_count, &reply) != TG_OK)
            test_server_give_up(&server->process, tg_kv_error(server->link)->message);
    }
    forget_delayed(&one);
}

void servers_deliver(bool all)
{
    for (size_t i = delayed_count; i-- > 0;)
        if (all || chance(5))
            deliver(i);
}
