/* streams - many clients of streams at once, as one web server's connections: for measurements
 *
 *     streams SOCKET MODEL COUNT        the credential is in BENCH_TOKEN
 *
 * Opens COUNT FastCGI requests (some at a time), prints "open" when every one of them has had an
 * event, waits for a line on standard input, and from then on notes how old each event is: the
 * stub (upstream.c) writes the time into it, and both read the same clock. At the end it prints
 * "done LOST EVENTS P50_US P99_US MAX_US". LOST are the streams that ended without [DONE].
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { OPENING_MOST = 64, BATCH = 256, CARRY = 64, STAMP_LEN = 16, AGES_MOST = 4000000 };

static const char marker[] = "\"content\":\" ";

struct client {
    int fd;
    bool begun, whole;
    size_t carry_len;
    char carry[CARRY]; /* the end of what was read: a marker may lie across two reads */
};

static struct client *clients;
static char request[4096];
static size_t request_len;
static long count, opened, begun, closed, lost;
static bool noting;
static uint32_t *ages;
static size_t age_count;

static int64_t now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void die(const char *what)
{
    perror(what);
    exit(1);
}

/* --- the request ---------------------------------------------------------------------------- */

static void put_record(int type, const char *content, size_t len)
{
    const unsigned char head[8] = {1, (unsigned char)type, 0, 1, (unsigned char)(len >> 8),
                                   (unsigned char)len};

    memcpy(request + request_len, head, sizeof head);
    memcpy(request + request_len + sizeof head, content, len);
    request_len += sizeof head + len;
}

static char *put(char *out, const char *bytes, size_t len)
{
    memcpy(out, bytes, len);
    return out + len;
}

static size_t put_pair(char *out, const char *name, const char *value)
{
    size_t name_len = strlen(name), value_len = strlen(value);

    out[0] = (char)name_len;
    out[1] = (char)value_len;
    put(put(out + 2, name, name_len), value, value_len);
    return 2 + name_len + value_len;
}

static void make_request(const char *token, const char *model)
{
    char params[1024], body[512], bearer[128], length[16];
    size_t len = 0;

    snprintf(body, sizeof body,
             "{\"model\":\"%s\",\"stream\":true,\"messages\":[{\"role\":\"user\","
             "\"content\":\"Measure this, please.\"}]}",
             model);
    snprintf(bearer, sizeof bearer, "Bearer %s", token);
    snprintf(length, sizeof length, "%zu", strlen(body));
    put_record(1, "\0\1\0\0\0\0\0\0", 8);
    len += put_pair(params + len, "REQUEST_METHOD", "POST");
    len += put_pair(params + len, "REQUEST_URI", "/v1/chat/completions");
    len += put_pair(params + len, "REMOTE_ADDR", "127.0.0.1");
    len += put_pair(params + len, "CONTENT_TYPE", "application/json");
    len += put_pair(params + len, "CONTENT_LENGTH", length);
    len += put_pair(params + len, "HTTP_AUTHORIZATION", bearer);
    put_record(4, params, len);
    put_record(4, "", 0);
    put_record(5, body, strlen(body));
    put_record(5, "", 0);
}

/* --- a client ------------------------------------------------------------------------------- */

static void open_client(int epoll, const char *path, long number)
{
    struct client *client = &clients[number];
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = (uint64_t)number};

    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    client->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (client->fd < 0 ||
        connect(client->fd, (struct sockaddr *)&address, sizeof address) != 0 ||
        send(client->fd, request, request_len, MSG_NOSIGNAL) != (ssize_t)request_len ||
        fcntl(client->fd, F_SETFL, O_NONBLOCK) != 0 ||
        epoll_ctl(epoll, EPOLL_CTL_ADD, client->fd, &event) != 0)
        die("streams: open");
    opened++;
}

static void note(const char *stamp, int64_t at_us)
{
    char text[STAMP_LEN + 1];
    int64_t age_us;

    memcpy(text, stamp, STAMP_LEN);
    text[STAMP_LEN] = '\0';
    age_us = at_us - strtoll(text, NULL, 10);
    if (noting && age_count < AGES_MOST)
        ages[age_count++] = age_us < 0 ? 0 : (uint32_t)age_us;
}

static void look(struct client *client, const char *bytes, size_t len, int64_t at_us)
{
    const char *at = bytes, *end = bytes + len;

    while ((at = memmem(at, (size_t)(end - at), marker, sizeof marker - 1)) != NULL) {
        at += sizeof marker - 1;
        if (end - at < STAMP_LEN)
            break; /* whole in the next look, thanks to the carry */
        note(at, at_us);
        begun += !client->begun;
        client->begun = true;
    }
    if (memmem(bytes, len, "[DONE]", 6) != NULL)
        client->whole = true;
}

/* One byte less than a marker with its stamp: what was seen whole is not seen again. */
static void keep_carry(struct client *client, const char *bytes, size_t len)
{
    size_t room = sizeof marker - 1 + STAMP_LEN - 1;
    size_t keep = len < room ? len : room;

    client->carry_len = keep;
    memcpy(client->carry, bytes + len - keep, keep);
}

static void end_client(struct client *client)
{
    lost += !client->whole;
    begun += !client->begun; /* or "open" would never come */
    client->begun = true;
    closed++;
    close(client->fd);
    client->fd = -1;
}

static void read_client(struct client *client)
{
    static char bytes[CARRY + 65536];
    ssize_t got;

    memcpy(bytes, client->carry, client->carry_len);
    got = recv(client->fd, bytes + client->carry_len, 65536, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got <= 0) {
        end_client(client);
        return;
    }
    look(client, bytes, client->carry_len + (size_t)got, now_us());
    keep_carry(client, bytes, client->carry_len + (size_t)got);
}

/* --- all ------------------------------------------------------------------------------------ */

static void say_open(void)
{
    char line[16];

    puts("open");
    fflush(stdout);
    if (fgets(line, sizeof line, stdin) == NULL)
        exit(1);
    noting = true;
}

static void run(int epoll, const char *path)
{
    struct epoll_event events[BATCH];
    bool said = false;

    while (closed < count) {
        int ready;

        while (opened < count && opened - begun < OPENING_MOST)
            open_client(epoll, path, opened);
        ready = epoll_wait(epoll, events, BATCH, 1000);
        for (int i = 0; i < ready; i++)
            if (clients[events[i].data.u64].fd >= 0)
                read_client(&clients[events[i].data.u64]);
        if (!said && begun == count) {
            say_open();
            said = true;
        }
    }
}

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
    const char *token = getenv("BENCH_TOKEN");
    struct rlimit files;
    int epoll = epoll_create1(EPOLL_CLOEXEC);

    count = argc == 4 ? strtol(argv[3], NULL, 10) : 0;
    if (count < 1 || count > 100000 || token == NULL) {
        fputs("usage: BENCH_TOKEN=... streams SOCKET MODEL COUNT\n", stderr);
        return 2;
    }
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    clients = calloc((size_t)count, sizeof *clients);
    ages = malloc(AGES_MOST * sizeof *ages);
    if (clients == NULL || ages == NULL || epoll < 0)
        die("streams");
    make_request(token, argv[2]);
    run(epoll, argv[1]);
    qsort(ages, age_count, sizeof *ages, compare);
    printf("done %ld %zu %" PRIu32 " %" PRIu32 " %" PRIu32 "\n", lost, age_count,
           age_count > 0 ? ages[age_count / 2] : 0,
           age_count > 0 ? ages[age_count - 1 - age_count / 100] : 0,
           age_count > 0 ? ages[age_count - 1] : 0);
    free(ages);
    free(clients);
    close(epoll);
    return 0;
}
