/* A name that means something else each time it is asked for (DNS rebinding, S1), and one whose
 * answer does not come (F28).
 *
 * This program's getaddrinfo stands in front of the C library's: libcurl finds it first. 127.0.0.1
 * plays the public address, being the only one allowed; 127.0.0.2 plays the private one.
 */
#include "tests/unit/unit.h"

#include "tests/unit/http/exchange.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static const struct tg_cidr only_public[1] = {
    {.base = {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1}}, .prefix_len = 128},
};

/* Addresses of the next answers, one text per question: "a b" are two addresses. */
static const char *const *script;
static atomic_int asked;

/* Who asks for slow.test waits here until it is open. */
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gate_moved = PTHREAD_COND_INITIALIZER;
static bool gate_open;
static int gate_waiting;

static struct addrinfo *make(const char *address, const char *service)
{
    struct addrinfo *info = calloc(1, sizeof *info + sizeof(struct sockaddr_in));
    struct sockaddr_in *in = (struct sockaddr_in *)(info + 1);

    in->sin_family = AF_INET;
    in->sin_port = htons((uint16_t)(service != NULL ? strtol(service, NULL, 10) : 0));
    if (inet_pton(AF_INET, address, &in->sin_addr) != 1)
        abort();
    info->ai_family = AF_INET;
    info->ai_socktype = SOCK_STREAM;
    info->ai_protocol = IPPROTO_TCP;
    info->ai_addrlen = sizeof *in;
    info->ai_addr = (struct sockaddr *)in;
    return info;
}

static void wait_at_gate(void)
{
    pthread_mutex_lock(&gate);
    gate_waiting++;
    pthread_cond_broadcast(&gate_moved);
    while (!gate_open)
        pthread_cond_wait(&gate_moved, &gate);
    gate_waiting--;
    pthread_cond_broadcast(&gate_moved);
    pthread_mutex_unlock(&gate);
}

/* Under names of our own, so that the C library's declarations are no concern of theirs. */
int stand_in_lookup(const char *node, const char *service, const struct addrinfo *hints,
                    struct addrinfo **ret) __asm__("getaddrinfo");
void stand_in_free(struct addrinfo *info) __asm__("freeaddrinfo");

int stand_in_lookup(const char *node, const char *service, const struct addrinfo *hints,
                    struct addrinfo **ret)
{
    char line[64];
    char *rest = line, *word;
    struct addrinfo **end = ret;

    (void)hints;
    if (node != NULL && strcmp(node, "slow.test") == 0) {
        wait_at_gate();
        *ret = make("127.0.0.1", service);
        return 0;
    }
    if (node == NULL || strcmp(node, "rebind.test") != 0)
        abort();
    snprintf(line, sizeof line, "%s", script[atomic_fetch_add(&asked, 1)]);
    *ret = NULL;
    while ((word = strsep(&rest, " ")) != NULL) {
        *end = make(word, service);
        end = &(*end)->ai_next;
    }
    return 0;
}

void stand_in_free(struct addrinfo *info)
{
    while (info != NULL) {
        struct addrinfo *next = info->ai_next;

        free(info);
        info = next;
    }
}

static void say_ok(struct test_server *server, int fd, int connection)
{
    (void)connection;
    if (test_read_request(server, fd))
        test_send_answer(fd, 200, "", "ok");
}

/* One exchange with fresh connections and a fresh cache of names. */
static enum tg_http_end ask(const struct test_server *server)
{
    struct tg_http_pool *pool = test_pool(0);
    struct recorded recorded = {0};
    struct tg_http_result result;
    struct tg_http_spec spec;
    char url[64];

    snprintf(url, sizeof url, "http://rebind.test:%d/", server->port);
    spec = test_spec(url);
    spec.allow = only_public;
    result = test_exchange(pool, &spec, &recorded);
    tg_buf_done(&recorded.body);
    tg_http_pool_free(pool);
    return result.end;
}

static void every_address_is_checked_when_it_is_used(void **state)
{
    static const char *const answers[] = {
        "127.0.0.1",           /* public: the check of yesterday */
        "127.0.0.2",           /* and rebound */
        "127.0.0.2 127.0.0.1", /* both: only the public one is connected to */
        "127.0.0.2 10.0.0.5 169.254.169.254 0.0.0.0",
    };
    static const enum tg_http_end ends[] = {TG_HTTP_DONE, TG_HTTP_REFUSED_ADDRESS, TG_HTTP_DONE,
                                            TG_HTTP_REFUSED_ADDRESS};
    struct test_server server;

    (void)state;
    script = answers;
    atomic_store(&asked, 0);
    test_server_start(&server, say_ok);
    for (size_t i = 0; i < TG_COUNT_OF(ends); i++)
        assert_int_equal(ask(&server), ends[i]);
    assert_int_equal(atomic_load(&asked), TG_COUNT_OF(answers));
    test_server_stop(&server);
    assert_int_equal(server.requests, 2);
}

struct slow {
    struct tg_http_pool *pool;
    enum tg_http_end end;
};

static void *ask_slow(void *context)
{
    struct slow *slow = context;
    struct recorded recorded = {0};
    struct tg_http_spec spec = test_spec("http://slow.test:1/");

    spec.connect_us = 300000;
    slow->end = test_exchange(slow->pool, &spec, &recorded).end;
    tg_buf_done(&recorded.body);
    return NULL;
}

/* Ends at its limit while the lookup still hangs, and stands in nobody's way until then. */
static void a_name_that_does_not_come_costs_its_own_request_only(void **state)
{
    static const char *const answers[] = {"127.0.0.1"};
    struct slow slow = {.pool = test_pool(0)};
    struct recorded recorded = {0};
    struct test_server server;
    struct tg_http_spec spec;
    pthread_t thread;
    char url[64];

    (void)state;
    script = answers;
    atomic_store(&asked, 0);
    test_server_start(&server, say_ok);
    assert_int_equal(pthread_create(&thread, NULL, ask_slow, &slow), 0);
    pthread_mutex_lock(&gate);
    while (gate_waiting == 0)
        pthread_cond_wait(&gate_moved, &gate);
    pthread_mutex_unlock(&gate);
    snprintf(url, sizeof url, "http://rebind.test:%d/", server.port);
    spec = test_spec(url);
    assert_int_equal(test_exchange(slow.pool, &spec, &recorded).end, TG_HTTP_DONE);
    pthread_join(thread, NULL);
    assert_int_equal(slow.end, TG_HTTP_TIMEOUT_CONNECT);
    pthread_mutex_lock(&gate);
    assert_int_equal(gate_waiting, 1);
    gate_open = true;
    pthread_cond_broadcast(&gate_moved);
    while (gate_waiting > 0)
        pthread_cond_wait(&gate_moved, &gate);
    pthread_mutex_unlock(&gate);
    tg_buf_done(&recorded.body);
    tg_http_pool_free(slow.pool);
    test_server_stop(&server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_that_does_not_come_costs_its_own_request_only),
        cmocka_unit_test(every_address_is_checked_when_it_is_used),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
