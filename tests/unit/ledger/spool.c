/* The spool: what survives torn lines, full disks and kill -9. */
#include "tests/unit/unit.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/ledger/spool.h"
#include "tests/unit/lib/server.h"

enum { WORKER = 1700000001, SOON_US = 10000000 };

static struct test_server place; /* only its folder */

static struct tg_span span(const char *text)
{
    return (struct tg_span){text, strlen(text)};
}

static struct tg_entry charge(int64_t amount)
{
    return (struct tg_entry){.id = tg_id_new(),
                             .kind = TG_ENTRY_CHARGE,
                             .user_id = 7,
                             .token_id = 8,
                             .channel_id = 9,
                             .funding = {10},
                             .amount_quota = amount,
                             .token_unlimited = -1,
                             .record = span("{\"log\":{\"a\":\"b\\n\"},\"detail\":{}}")};
}

static const char *folder(void)
{
    static char path[96];

    snprintf(path, sizeof path, "%s/spool", place.folder);
    return path;
}

static struct tg_spool *open_spool(int64_t worker)
{
    struct tg_spool_conf conf = {.folder = folder(), .node = "node.one", .worker = worker};
    struct tg_spool *spool;

    assert_int_equal(tg_spool_open(&conf, &spool, NULL), TG_OK);
    return spool;
}

static size_t list(struct tg_arena *arena, struct tg_spool_file **ret)
{
    size_t count = 0;

    assert_int_equal(tg_spool_list(folder(), "node.one", arena, ret, &count), TG_OK);
    return count;
}

/* The path of the spool's only file. */
static void only_file(char path[512])
{
    struct tg_arena *arena = tg_arena_new();
    struct tg_spool_file *files;

    assert_int_equal(list(arena, &files), 1);
    memcpy(path, files[0].path, 512);
    tg_arena_free(arena);
}

struct reading {
    int64_t sum;
    int count, stop_at; /* stop before the entry of this number; 0: never */
};

static bool visit(void *context, const struct tg_entry *entry)
{
    struct reading *reading = context;

    if (reading->stop_at != 0 && reading->count + 1 == reading->stop_at)
        return false;
    reading->count++;
    reading->sum += entry->amount_quota;
    assert_int_equal(entry->user_id, 7);
    assert_true(entry->record.len > 0);
    return true;
}

static int64_t read_all(const char *path, int64_t *offset, struct reading *reading)
{
    struct tg_spool_seen seen;

    assert_int_equal(tg_spool_read(path, offset, visit, reading, &seen), TG_OK);
    return seen.torn;
}

static void append(struct tg_spool *spool, int64_t amount)
{
    struct tg_entry entry = charge(amount);

    assert_int_equal(tg_spool_append(spool, &entry, NULL), TG_OK);
}

static void append_raw(const char *path, const char *bytes, size_t len)
{
    int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);

    assert_true(write(fd, bytes, len) == (ssize_t)len);
    close(fd);
}

static void what_was_appended_is_read_once(void **state)
{
    struct tg_spool *spool = open_spool(WORKER);
    struct reading reading = {0};
    int64_t offset = 0;
    char path[512];

    (void)state;
    only_file(path);
    assert_int_equal(read_all(path, &offset, &reading), 0);
    append(spool, 1);
    append(spool, 2);
    assert_int_equal(read_all(path, &offset, &reading), 0);
    assert_int_equal(reading.sum, 3);
    append(spool, 4);
    assert_int_equal(read_all(path, &offset, &reading), 0);
    assert_int_equal(read_all(path, &offset, &reading), 0);
    assert_int_equal(reading.sum, 7);
    assert_int_equal(reading.count, 3);
    offset = 0;
    reading = (struct reading){.stop_at = 3};
    assert_int_equal(read_all(path, &offset, &reading), 0);
    assert_int_equal(reading.sum, 3);
    reading.stop_at = 0; /* goes on in front of the one that was not taken */
    assert_int_equal(read_all(path, &offset, &reading), 0);
    assert_int_equal(reading.sum, 7);
    tg_spool_close(spool);
}

static void torn_lines_cost_only_themselves(void **state)
{
    struct tg_spool *spool = open_spool(WORKER);
    struct reading reading = {0};
    int64_t offset = 0;
    char path[512], byte = 'X';
    int fd;

    (void)state;
    only_file(path);
    append(spool, 1);
    append_raw(path, "\n000000ff 00112233", 18); /* cut off by a full disk */
    append(spool, 2);
    append_raw(path, "\nno line of ours\n\n\n", 19);
    append(spool, 4);
    assert_int_equal(read_all(path, &offset, &reading), 2);
    assert_int_equal(reading.sum, 7);
    append_raw(path, "\n00000010 0011", 14); /* its writer may be in the middle of it */
    assert_int_equal(read_all(path, &offset, &reading), 1);
    append(spool, 8);
    assert_int_equal(read_all(path, &offset, &reading), 1);
    assert_int_equal(reading.sum, 15);
    fd = open(path, O_WRONLY | O_CLOEXEC); /* a flipped byte in the first line */
    assert_int_equal(pwrite(fd, &byte, 1, 60), 1);
    close(fd);
    offset = 0;
    reading = (struct reading){0};
    assert_int_equal(read_all(path, &offset, &reading), 4);
    assert_int_equal(reading.sum, 14);
    tg_spool_close(spool);
}

/* Still a line of the right length and form: the sum alone tells. */
static void a_changed_amount_is_not_believed(void **state)
{
    struct tg_spool *spool = open_spool(WORKER);
    struct reading reading = {0};
    char path[512], text[1024] = "", *amount;
    int64_t offset = 0;
    int fd;

    (void)state;
    only_file(path);
    append(spool, 424242);
    append(spool, 1);
    fd = open(path, O_RDWR | O_CLOEXEC);
    assert_true(pread(fd, text, sizeof text - 1, 0) > 0);
    amount = strstr(text, "424242");
    assert_non_null(amount);
    assert_int_equal(pwrite(fd, "9", 1, amount - text), 1);
    close(fd);
    assert_int_equal(read_all(path, &offset, &reading), 1);
    assert_int_equal(reading.sum, 1);
    tg_spool_close(spool);
}

static void a_full_file_is_followed_by_the_next(void **state)
{
    struct tg_spool *spool = open_spool(WORKER);
    struct tg_entry entry = charge(1);
    struct tg_arena *arena = tg_arena_new();
    struct tg_spool_file *files;
    char *big = tg_malloc(2000000);

    (void)state;
    memset(big, 'a', 2000000);
    big[0] = big[1999999] = '"';
    entry.record = (struct tg_span){big, 2000000};
    for (int i = 0; i < 9; i++)
        assert_int_equal(tg_spool_append(spool, &entry, NULL), TG_OK);
    assert_int_equal(list(arena, &files), 1);
    append(spool, 1);
    assert_int_equal(list(arena, &files), 2);
    assert_non_null(strstr(files[0].path, "/node.one.1700000001.1.spool"));
    assert_non_null(strstr(files[1].path, "/node.one.1700000001.2.spool"));
    assert_false(files[0].writer_alive); /* it has moved on … */
    assert_true(files[1].writer_alive);
    assert_true(tg_spool_worker_is_alive(folder(), "node.one", WORKER)); /* … and lives */
    tg_spool_close(spool);
    assert_false(tg_spool_worker_is_alive(folder(), "node.one", WORKER));
    tg_arena_free(arena);
    free(big);
}

static void the_lock_tells_the_dead_from_the_living(void **state)
{
    int ready[2];
    char byte, path[512];
    struct reading reading = {0};
    int64_t offset = 0;
    struct tg_arena *arena = tg_arena_new();
    struct tg_spool_file *files;
    pid_t child;

    (void)state;
    assert_int_equal(pipe(ready), 0);
    child = fork();
    if (child == 0) {
        struct tg_spool *spool;

        prctl(PR_SET_PDEATHSIG, SIGKILL);
        spool = open_spool(WORKER);
        append(spool, 5);
        if (write(ready[1], "x", 1) == 1)
            for (;;)
                pause();
        _exit(1);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_true(tg_spool_worker_is_alive(folder(), "node.one", WORKER));
    assert_false(tg_spool_worker_is_alive(folder(), "node.one", WORKER + 1));
    assert_int_equal(list(arena, &files), 1);
    assert_true(files[0].writer_alive);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_false(tg_spool_worker_is_alive(folder(), "node.one", WORKER));
    only_file(path);
    assert_int_equal(read_all(path, &offset, &reading), 0);
    assert_int_equal(reading.sum, 5);
    close(ready[0]);
    close(ready[1]);
    tg_arena_free(arena);
}

static void files_of_others_are_not_ours(void **state)
{
    static const char *const others[] = {
        "node.1.1.spool",           "node.one.two.1.1.spool", "node.one.1.1.spool.new",
        "node.one.1.spool",         "node.one.x.1.spool",     "node.one.-1.1.spool",
        "node.one.1.1.spool.spool", "readme",
    };
    struct tg_spool *late = open_spool(20), *early = open_spool(3);
    struct tg_arena *arena = tg_arena_new();
    struct tg_spool_file *files;
    char path[512];

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(others); i++) {
        snprintf(path, sizeof path, "%s/%s", folder(), others[i]);
        close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    }
    assert_int_equal(list(arena, &files), 2);
    assert_int_equal(files[0].worker, 3); /* oldest first */
    assert_int_equal(files[1].worker, 20);
    append(late, 1);
    tg_spool_close(early); /* empty: removed */
    tg_spool_close(late);
    assert_int_equal(list(arena, &files), 1);
    assert_int_equal(files[0].worker, 20);
    tg_arena_free(arena);
}

static void no_folder_is_no_file(void **state)
{
    struct tg_arena *arena = tg_arena_new();
    struct tg_spool_file *files;
    size_t count = 1;

    (void)state;
    assert_int_equal(tg_spool_list("/tmp/tollgate/none", "n", arena, &files, &count), TG_OK);
    assert_int_equal(count, 0);
    tg_arena_free(arena);
}

/* A limit on the size of files stands for a full disk. */
static void limit_files(rlim_t bytes)
{
    struct rlimit limit;

    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void a_full_disk_stops_paid_requests_until_it_has_room(void **state)
{
    struct tg_spool *spool = open_spool(WORKER);
    struct tg_entry entry = charge(2);
    struct reading reading = {0};
    struct tg_error err;
    int64_t offset = 0, until_us = tg_now_us() + SOON_US;
    char path[512];
    struct stat size;

    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    only_file(path);
    append(spool, 1);
    assert_true(tg_spool_is_healthy(spool));
    stat(path, &size);
    limit_files((rlim_t)size.st_size + 40);
    assert_int_equal(tg_spool_append(spool, &entry, &err), TG_CLASS_OVERLOAD);
    assert_string_equal(err.code, "spool");
    assert_false(tg_spool_is_healthy(spool));
    assert_int_equal(tg_spool_append(spool, &entry, &err), TG_CLASS_OVERLOAD);
    limit_files(RLIM_INFINITY);
    while (!tg_spool_is_healthy(spool)) { /* it finds out by itself */
        assert_true(tg_now_us() < until_us);
        tg_clock_sleep_us(10000);
    }
    append(spool, 4);
    assert_int_equal(read_all(path, &offset, &reading), 1);
    assert_int_equal(reading.sum, 5);
    tg_spool_close(spool);
}

static void an_append_makes_it_healthy_at_once(void **state)
{
    struct tg_spool *spool = open_spool(WORKER);
    struct tg_entry entry = charge(2);

    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    limit_files(1);
    assert_int_equal(tg_spool_append(spool, &entry, NULL), TG_CLASS_OVERLOAD);
    limit_files(RLIM_INFINITY);
    append(spool, 4);
    assert_true(tg_spool_is_healthy(spool));
    tg_spool_close(spool);
}

static void the_syncing_thread_ends_with_the_spool(void **state)
{
    struct tg_spool_conf conf = {
        .folder = folder(), .node = "node.one", .worker = WORKER, .sync_every_second = true};
    struct tg_spool *spool;

    (void)state;
    assert_int_equal(tg_spool_open(&conf, &spool, NULL), TG_OK);
    append(spool, 1);
    tg_spool_close(spool);
}

static int empty_folder(void **state)
{
    DIR *dir = opendir(folder());
    struct dirent *item;

    (void)state;
    while (dir != NULL && (item = readdir(dir)) != NULL)
        unlinkat(dirfd(dir), item->d_name, 0);
    if (dir != NULL)
        closedir(dir);
    return 0;
}

static int start(void **state)
{
    (void)state;
    test_server_init(&place, "spool");
    return 0;
}

static int stop(void **state)
{
    (void)state;
    test_server_done(&place);
    return 0;
}

#define CASE(name) cmocka_unit_test_setup(name, empty_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(what_was_appended_is_read_once),
        CASE(torn_lines_cost_only_themselves),
        CASE(a_changed_amount_is_not_believed),
        CASE(a_full_file_is_followed_by_the_next),
        CASE(the_lock_tells_the_dead_from_the_living),
        CASE(files_of_others_are_not_ours),
        CASE(no_folder_is_no_file),
        CASE(a_full_disk_stops_paid_requests_until_it_has_room),
        CASE(an_append_makes_it_healthy_at_once),
        CASE(the_syncing_thread_ends_with_the_spool),
    };

    return cmocka_run_group_tests(tests, start, stop);
}
