/* Who may: the order of the decision, and scopes that only narrow. */
#include "tests/unit/unit.h"

#include "admin-cgi/access/pat.h"
#include "admin-cgi/access/who.h"

static bool may(enum access_role role, const struct tg_acl_grant *grants, size_t count,
                enum access_permission permission)
{
    const struct access_who who = {
        .user_id = 7, .role = role, .grants = grants, .grant_count = count};

    return access_may(&who, permission);
}

static void roles_have_their_baseline(void **state)
{
    const struct access_who nobody = {.role = ACCESS_ROLE_NONE};

    (void)state;
    for (size_t i = ACCESS_PUBLIC + 1; i < ACCESS__COUNT; i++) {
        enum access_permission permission = (enum access_permission)i;
        enum access_role least = access_permission_role(permission);

        assert_true(least > ACCESS_ROLE_NONE);
        assert_false(access_may(&nobody, permission));
        assert_int_equal(may(ACCESS_ROLE_USER, NULL, 0, permission), least == ACCESS_ROLE_USER);
        assert_int_equal(may(ACCESS_ROLE_ADMIN, NULL, 0, permission), least <= ACCESS_ROLE_ADMIN);
        assert_true(may(ACCESS_ROLE_ROOT, NULL, 0, permission));
        assert_int_equal(access_permission_find(access_permission_word(permission)), permission);
    }
    assert_true(access_may(&nobody, ACCESS_PUBLIC));
    assert_int_equal(access_permission_find("no:such"), ACCESS__COUNT);
    assert_int_equal(access_permission_find(""), ACCESS__COUNT);
    assert_int_equal(access_role_of("Root"), ACCESS_ROLE_NONE);
}

static void a_denial_counts_most_but_not_for_root(void **state)
{
    static const struct tg_acl_grant both[] = {{"user:read", TG_ACL_DENY},
                                               {"user:read", TG_ACL_ALLOW}};
    static const struct tg_acl_grant allow[] = {{"user:read", TG_ACL_ALLOW}};
    static const struct tg_acl_grant deny[] = {{"user:read", TG_ACL_DENY}};

    (void)state;
    assert_false(may(ACCESS_ROLE_ADMIN, both, 2, ACCESS_USERS_READ));
    assert_false(may(ACCESS_ROLE_ADMIN, deny, 1, ACCESS_USERS_READ));
    assert_true(may(ACCESS_ROLE_USER, allow, 1, ACCESS_USERS_READ));
    assert_false(may(ACCESS_ROLE_USER, allow, 1, ACCESS_USERS_WRITE));
    assert_true(may(ACCESS_ROLE_ROOT, deny, 1, ACCESS_USERS_READ));
    assert_false(may(ACCESS_ROLE_NONE, allow, 1, ACCESS_USERS_READ));
    assert_false(may(ACCESS_ROLE_ADMIN, NULL, 0, ACCESS__COUNT));
}

static void scopes_are_whole_words(void **state)
{
    struct access_who who = {.user_id = 7, .pat_id = 1, .scopes = "user:read channel:write"};

    (void)state;
    assert_true(access_scope_ok(&who, "user:read"));
    assert_true(access_scope_ok(&who, "channel:write"));
    assert_true(access_scope_ok(&who, "*"));
    assert_false(access_scope_ok(&who, "user:rea"));
    assert_false(access_scope_ok(&who, "ser:read"));
    assert_false(access_scope_ok(&who, "user:read channel:write"));
    assert_false(access_scope_ok(&who, ""));
    assert_false(access_scope_ok(&who, NULL));
    who.scopes = NULL;
    assert_false(access_scope_ok(&who, "user:read"));
    who.pat_id = 0;
    assert_true(access_scope_ok(&who, NULL));
}

static void tokens_have_a_shape(void **state)
{
    char text[ACCESS_PAT_TEXT], other[ACCESS_PAT_TEXT], print[TG_HMAC_HEX], again[TG_HMAC_HEX];

    (void)state;
    assert_int_equal(tg_crypto_init(NULL), TG_OK);
    access_pat_new(text, print);
    access_pat_new(other, again);
    assert_memory_equal(text, "tgp_", 4);
    assert_int_equal(strlen(text), ACCESS_PAT_TEXT - 1);
    assert_string_not_equal(text, other);
    assert_true(access_pat_read(text, again));
    assert_string_equal(print, again);
    text[20] = '-';
    assert_false(access_pat_read(text, again));
    assert_false(access_pat_read("tgp_", again));
    assert_false(access_pat_read("' OR '1'='1", again));
    assert_false(access_pat_read("", again));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(roles_have_their_baseline),
        cmocka_unit_test(a_denial_counts_most_but_not_for_root),
        cmocka_unit_test(scopes_are_whole_words),
        cmocka_unit_test(tokens_have_a_shape),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
