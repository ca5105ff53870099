#include "tests/unit/lib/server.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

void test_server_give_up(const struct test_server *server, const char *what)
{
    char line[512];
    FILE *log;

    fprintf(stderr, "private server in %s: %s (%s)\n", server->folder, what, strerror(errno));
    snprintf(line, sizeof line, "%s/log", server->folder);
    log = fopen(line, "r");
    while (log != NULL && fgets(line, sizeof line, log) != NULL)
        fputs(line, stderr);
    exit(1);
}

/* A process that outlives this one just long enough to remove the folder. */
static void watch_folder(struct test_server *server)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) != 0)
        test_server_give_up(server, "no pipe");
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

void test_server_init(struct test_server *server, const char *name)
{
    snprintf(server->folder, sizeof server->folder, "/tmp/tollgate-%s.XXXXXX", name);
    server->pid = 0;
    if (mkdtemp(server->folder) == NULL)
        test_server_give_up(server, "no temporary folder");
    watch_folder(server);
}

void test_server_spawn(struct test_server *server, char *const argv[])
{
    char log[96];
    pid_t parent = getpid();
    int out;

    snprintf(log, sizeof log, "%s/log", server->folder);
    server->pid = fork();
    if (server->pid != 0)
        return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    out = open(log, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    close(server->keep_open);
    execvp(argv[0], argv);
    fprintf(stderr, "%s: %s\n", argv[0], strerror(errno));
    _exit(127);
}

bool test_server_is_running(struct test_server *server)
{
    return server->pid > 0 && waitpid(server->pid, NULL, WNOHANG) == 0;
}

void test_server_end(struct test_server *server, int signal)
{
    if (server->pid == 0)
        return;
    kill(server->pid, signal);
    waitpid(server->pid, NULL, 0);
    server->pid = 0;
}

void test_server_done(struct test_server *server)
{
    test_server_end(server, SIGKILL); /* the data is thrown away */
    close(server->keep_open);
}
