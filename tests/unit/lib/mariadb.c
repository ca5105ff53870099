#include "tests/unit/lib/mariadb.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/memory.h"

enum { START_SECONDS = 120, MOST_TEXTS = 64 };

struct test_mariadb {
    char folder[64];
    char user[64];
    pid_t pid;     /* of mariadbd; 0: not running */
    int keep_open; /* the watcher removes the folder when this end of the pipe closes */
    char *texts[MOST_TEXTS];
    size_t text_count;
};

static void give_up(const struct test_mariadb *server, const char *what)
{
    char command[512];

    fprintf(stderr, "private MariaDB: %s (%s)\n", what, strerror(errno));
    snprintf(command, sizeof command, "%s/log", server->folder);
    FILE *log = fopen(command, "r");

    while (log != NULL && fgets(command, sizeof command, log) != NULL)
        fputs(command, stderr);
    exit(1);
}

/* Starts a program with its output in FOLDER/log; it dies with this process. */
static pid_t spawn(const struct test_mariadb *server, char *const argv[])
{
    char log[96];
    pid_t pid, parent = getpid();

    snprintf(log, sizeof log, "%s/log", server->folder);
    pid = fork();
    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    int out = open(log, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);

    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    close(server->keep_open);
    /* Debian keeps the server in sbin, which an ordinary user's PATH lacks */
    setenv("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin", 1);
    /* a starting server removes what it takes for left-over temporary tables, others' too */
    setenv("TMPDIR", server->folder, 1);
    execvp(argv[0], argv);
    fprintf(stderr, "%s: %s\n", argv[0], strerror(errno));
    _exit(127);
}

/* A process that outlives this one just long enough to remove the folder. */
static void watch_folder(struct test_mariadb *server)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) != 0)
        give_up(server, "no pipe");
    fflush(NULL);
    if (fork() == 0) {
        char byte, *const argv[] = {(char[]){"rm"}, (char[]){"-rf"}, (char[]){"--"},
                                    server->folder, NULL};

        setsid();
        close(ends[1]);
        close(STDOUT_FILENO); /* or a reader of the test's output waits for us */
        close(STDERR_FILENO);
        while (read(ends[0], &byte, 1) < 0 && errno == EINTR)
            continue;
        execvp(argv[0], argv);
        _exit(1);
    }
    close(ends[0]);
    server->keep_open = ends[1];
}

static void install(const struct test_mariadb *server)
{
    char data[96], user[80];
    char *const argv[] = {(char[]){"mariadb-install-db"},
                          (char[]){"--no-defaults"},
                          (char[]){"--auth-root-authentication-method=normal"},
                          (char[]){"--skip-test-db"},
                          (char[]){"--skip-name-resolve"},
                          (char[]){"--innodb-log-file-size=8M"},
                          user,
                          data,
                          NULL};
    int status;

    snprintf(data, sizeof data, "--datadir=%s/data", server->folder);
    snprintf(user, sizeof user, "--user=%s", server->user);
    if (waitpid(spawn(server, argv), &status, 0) < 0 || status != 0)
        give_up(server, "mariadb-install-db failed");
}

static bool answers(const struct test_mariadb *server)
{
    struct tg_db_pool *pool = test_mariadb_pool((struct test_mariadb *)(uintptr_t)server, "", 1);
    struct tg_db *db = NULL;
    struct tg_error err;
    bool up = tg_db_acquire(pool, tg_now_us() + 1000000, &db, &err) == TG_OK &&
              tg_db_script(db, "SELECT 1", &err) == TG_OK;

    tg_db_release(db);
    tg_db_pool_free(pool);
    return up;
}

void test_mariadb_again(struct test_mariadb *server)
{
    char data[96], socket[96], pidfile[96], user[80];
    char *const argv[] = {(char[]){"mariadbd"},
                          (char[]){"--no-defaults"},
                          (char[]){"--skip-networking"},
                          (char[]){"--skip-name-resolve"},
                          (char[]){"--innodb-buffer-pool-size=16M"},
                          (char[]){"--innodb-log-file-size=8M"},
                          /* the process may be killed, the machine may not */
                          (char[]){"--innodb-flush-log-at-trx-commit=2"},
                          (char[]){"--innodb-flush-method=nosync"},
                          (char[]){"--innodb-doublewrite=0"},
                          (char[]){"--performance-schema=off"},
                          (char[]){"--max-connections=40"},
                          data,
                          socket,
                          pidfile,
                          user,
                          NULL};
    int64_t until = tg_now_us() + START_SECONDS * INT64_C(1000000);

    snprintf(data, sizeof data, "--datadir=%s/data", server->folder);
    snprintf(socket, sizeof socket, "--socket=%s/sock", server->folder);
    snprintf(pidfile, sizeof pidfile, "--pid-file=%s/pid", server->folder);
    snprintf(user, sizeof user, "--user=%s", server->user);
    server->pid = spawn(server, argv);
    while (!answers(server)) {
        int status;

        if (tg_now_us() > until || waitpid(server->pid, &status, WNOHANG) != 0)
            give_up(server, "mariadbd does not start");
        tg_clock_sleep_us(20000);
    }
}

struct test_mariadb *test_mariadb_start(void)
{
    struct test_mariadb *server = tg_calloc(1, sizeof *server);
    const struct passwd *me = getpwuid(geteuid());

    snprintf(server->folder, sizeof server->folder, "/tmp/tollgate-db.XXXXXX");
    snprintf(server->user, sizeof server->user, "%s", me != NULL ? me->pw_name : "root");
    if (mkdtemp(server->folder) == NULL)
        give_up(server, "no temporary folder");
    watch_folder(server);
    install(server);
    test_mariadb_again(server);
    return server;
}

static void end(struct test_mariadb *server, int how)
{
    if (server->pid == 0)
        return;
    kill(server->pid, how);
    waitpid(server->pid, NULL, 0);
    server->pid = 0;
}

void test_mariadb_stop(struct test_mariadb *server)
{
    if (server == NULL)
        return;
    end(server, SIGKILL); /* the data is thrown away */
    close(server->keep_open);
    for (size_t i = 0; i < server->text_count; i++)
        free(server->texts[i]);
    free(server);
}

void test_mariadb_kill(struct test_mariadb *server)
{
    end(server, SIGKILL);
}

void test_mariadb_restart(struct test_mariadb *server)
{
    end(server, SIGTERM);
    test_mariadb_again(server);
}

const char *test_mariadb_folder(const struct test_mariadb *server)
{
    return server->folder;
}

const char *test_mariadb_dsn(struct test_mariadb *server, const char *schema)
{
    char text[256];

    snprintf(text, sizeof text, "mysql://root@localhost/%s?socket=%s/sock", schema,
             server->folder);
    for (size_t i = 0; i < server->text_count; i++)
        if (strcmp(server->texts[i], text) == 0)
            return server->texts[i];
    tg_assert(server->text_count < MOST_TEXTS);
    return server->texts[server->text_count++] = tg_strdup(text);
}

static void run_or_end(struct tg_db *db, const char *sql)
{
    struct tg_error err;

    if (tg_db_script(db, sql, &err) == TG_OK)
        return;
    fprintf(stderr, "private MariaDB: %s\n%s\n", err.message, sql);
    exit(1);
}

void test_mariadb_sql(struct test_mariadb *server, const char *schema, const char *sql)
{
    struct tg_db_pool *pool = test_mariadb_pool(server, schema, 1);
    char *copy = tg_strdup(sql), *rest = copy, *one;
    struct tg_db *db = NULL;

    if (tg_db_acquire(pool, tg_now_us() + 1000000, &db, NULL) != TG_OK)
        exit(1);
    while ((one = strsep(&rest, ";")) != NULL)
        if (one[strspn(one, " \n")] != '\0')
            run_or_end(db, one);
    tg_db_release(db);
    tg_db_pool_free(pool);
    free(copy);
}

struct tg_db_pool *test_mariadb_pool(struct test_mariadb *server, const char *schema,
                                     int connections)
{
    struct tg_db_conf conf = {.dsn = test_mariadb_dsn(server, schema[0] != '\0' ? schema : "none"),
                              .password = "",
                              .connections = connections,
                              .timeout_us = 60000000,
                              .without_schema = schema[0] == '\0'};
    struct tg_db_pool *pool;
    struct tg_error err;

    if (schema[0] != '\0') {
        char create[128];

        snprintf(create, sizeof create, "CREATE DATABASE IF NOT EXISTS `%s`", schema);
        test_mariadb_sql(server, "", create);
    }
    if (tg_db_pool_new(&conf, &pool, &err) == TG_OK)
        return pool;
    fprintf(stderr, "private MariaDB: %s\n", err.message);
    exit(1);
}
