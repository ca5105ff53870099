/* Addresses of databases: what is read, what is refused. */
#include "tests/unit/unit.h"

#include "common/sql/dsn.h"

static void addresses_are_taken_apart(void **state)
{
    static const struct {
        const char *text, *user, *host, *schema, *socket;
        unsigned port;
    } cases[] = {
        {"mysql://me@db1/tollgate", "me", "db1", "tollgate", "", 0},
        {"mysql://me@db1:3307/tollgate", "me", "db1", "tollgate", "", 3307},
        {"mysql://me@[2001:db8::1]:3307/t", "me", "2001:db8::1", "t", "", 3307},
        {"mysql://me@[::1]/t", "me", "::1", "t", "", 0},
        {"mysql://a%40b@localhost/t_1-x$?socket=/run/my%20db.sock", "a@b", "localhost", "t_1-x$",
         "/run/my db.sock", 0},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        struct tg_dsn dsn;

        assert_int_equal(tg_dsn_parse(cases[i].text, &dsn, NULL), TG_OK);
        assert_string_equal(dsn.user, cases[i].user);
        assert_string_equal(dsn.host, cases[i].host);
        assert_string_equal(dsn.schema, cases[i].schema);
        assert_string_equal(dsn.socket, cases[i].socket);
        assert_int_equal(dsn.port, cases[i].port);
    }
}

static void malformed_addresses_are_refused(void **state)
{
    static const char *const cases[] = {
        "",
        "mysql://",
        "postgres://me@db1/t",
        "mysql://db1/t",
        "mysql://@db1/t",
        "mysql://me@/t",
        "mysql://me@db1",
        "mysql://me@db1/",
        "mysql://me:secret@db1/t",
        "mysql://me@db1:0/t",
        "mysql://me@db1:65536/t",
        "mysql://me@db1:x/t",
        "mysql://me@db1:+1/t",
        "mysql://me@[::1/t",
        "mysql://me@[::1]3307/t",
        "mysql://me@db1/a`b",
        "mysql://me@db1/a;b",
        "mysql://me@db1/t?socket=relative",
        "mysql://me@db1/t?port=3",
        "mysql://m%zz@db1/t",
        "mysql://m%00@db1/t",
        "mysql://me@db1/0123456789012345678901234567890123456789012345678901234567890123456789",
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        struct tg_dsn dsn;
        struct tg_error err;

        assert_int_equal(tg_dsn_parse(cases[i], &dsn, &err), TG_CLASS_CONFIG);
        assert_string_equal(err.code, "db_address");
        assert_null(strstr(err.message, "secret"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_are_taken_apart),
        cmocka_unit_test(malformed_addresses_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
