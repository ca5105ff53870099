/* The listening socket: made, replaced when it was left behind, refused when it is taken. */
#include "tests/unit/unit.h"

#include "fcgi-app/listen.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/tollgate-listen-XXXXXX";
static char address[128];
static const char *path;

static enum tg_class listen_here(struct tg_listener *listener, struct tg_error *err)
{
    return tg_listen(address, "0660", listener, err);
}

static void a_path_gets_its_permissions_and_goes_at_the_end(void **state)
{
    struct tg_listener listener;
    struct stat file;

    (void)state;
    assert_int_equal(listen_here(&listener, NULL), TG_OK);
    assert_int_equal(stat(path, &file), 0);
    assert_true(S_ISSOCK(file.st_mode));
    assert_int_equal(file.st_mode & 0777, 0660);
    assert_string_equal(listener.shown, address);
    tg_listen_done(&listener);
    assert_int_not_equal(stat(path, &file), 0);
}

static void a_socket_that_was_left_behind_is_replaced(void **state)
{
    struct tg_listener first, second;

    (void)state;
    assert_int_equal(listen_here(&first, NULL), TG_OK);
    close(first.fd); /* as kill -9 does */
    assert_int_equal(listen_here(&second, NULL), TG_OK);
    tg_listen_done(&second);
}

static void a_socket_somebody_listens_on_is_refused(void **state)
{
    struct tg_listener first, second;
    struct tg_error err;

    (void)state;
    assert_int_equal(listen_here(&first, NULL), TG_OK);
    assert_int_equal(listen_here(&second, &err), TG_CLASS_CONFIG);
    assert_string_equal(err.code, "listen_taken");
    tg_listen_done(&first);
}

static void what_is_no_socket_is_never_removed(void **state)
{
    struct tg_listener listener;
    struct tg_error err;
    struct stat file;
    int fd = open(path, O_CREAT | O_WRONLY, 0600);

    (void)state;
    close(fd);
    assert_int_equal(listen_here(&listener, &err), TG_CLASS_CONFIG);
    assert_string_equal(err.code, "listen_taken");
    assert_int_equal(stat(path, &file), 0);
    (void)unlink(path);
}

static void a_port_is_listened_on(void **state)
{
    static const char *const addresses[] = {"tcp:127.0.0.1:0", "tcp:[::1]:0"};

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(addresses); i++) {
        struct tg_listener listener;
        int on = 0;
        socklen_t len = sizeof on;

        assert_int_equal(tg_listen(addresses[i], "0660", &listener, NULL), TG_OK);
        assert_int_equal(getsockopt(listener.fd, SOL_SOCKET, SO_ACCEPTCONN, &on, &len), 0);
        assert_int_equal(on, 1);
        assert_string_equal(listener.socket_path, "");
        tg_listen_done(&listener);
    }
}

static void an_inherited_socket_is_used_as_it_is(void **state)
{
    struct tg_listener made, inherited;
    int saved = dup(STDIN_FILENO);

    (void)state;
    assert_int_equal(listen_here(&made, NULL), TG_OK);
    assert_int_equal(dup2(made.fd, STDIN_FILENO), STDIN_FILENO);
    assert_int_equal(tg_listen("unix:/nonexistent/s", "0660", &inherited, NULL), TG_OK);
    assert_int_equal(inherited.fd, STDIN_FILENO);
    assert_string_equal(inherited.socket_path, "");
    if (saved >= 0) {
        (void)dup2(saved, STDIN_FILENO);
        close(saved);
    } else {
        close(STDIN_FILENO);
    }
    tg_listen_done(&made);
}

static void nonsense_is_a_configuration_error(void **state)
{
    static const struct {
        const char *address, *mode, *code;
    } cases[] = {
        {"/run/x", "0660", "listen_address"},     {"unix:relative", "0660", "listen_address"},
        {"tcp:127.0.0.1", "0660", "listen_address"}, {"tcp:127.0.0.1:", "0660", "listen_address"},
        {"unix:/nonexistent/s", "0660", "listen_failed"}, {"unix:/tmp/x", "rw", "listen_mode"},
        {"unix:/tmp/x", "1777", "listen_mode"},   {"unix:/tmp/x", "", "listen_mode"},
        {"tcp:192.0.2.1:1", "0660", "listen_failed"},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        struct tg_listener listener;
        struct tg_error err;

        assert_int_equal(tg_listen(cases[i].address, cases[i].mode, &listener, &err),
                         TG_CLASS_CONFIG);
        assert_string_equal(err.code, cases[i].code);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_path_gets_its_permissions_and_goes_at_the_end),
        cmocka_unit_test(a_socket_that_was_left_behind_is_replaced),
        cmocka_unit_test(a_socket_somebody_listens_on_is_refused),
        cmocka_unit_test(what_is_no_socket_is_never_removed),
        cmocka_unit_test(a_port_is_listened_on),
        cmocka_unit_test(an_inherited_socket_is_used_as_it_is),
        cmocka_unit_test(nonsense_is_a_configuration_error),
    };
    int failed;

    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(address, sizeof address, "unix:%s/s", folder);
    path = address + 5;
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    (void)rmdir(folder);
    return failed;
}
