/* The stores on a real database. */
#include "tests/unit/store/house.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/store/channel.h"
#include "common/store/user.h"

int64_t house_user(struct house *house, const char *name)
{
    const struct tg_user_new user = {.username = name, .role = "user", .group_name = "default"};
    int64_t id = 0;

    assert_int_equal(tg_store_user_add(house->db, &house->actor, &user, &id, &house->err), TG_OK);
    assert_true(id > 0);
    return id;
}

int64_t house_channel(struct house *house, const char *name)
{
    static const char *const models[] = {"gpt-a", "GPT-A", "gpt-a"};
    static const char *const groups[] = {"default", "vip"};
    const struct tg_channel_new channel = {.name = name,
                                           .provider = "openai",
                                           .base_url = "https://api.example.com/v1",
                                           .organisation = "org",
                                           .proxy = "",
                                           .model_mapping = "{\"gpt-a\": \"real-a\"}",
                                           .models = models,
                                           .model_count = TG_COUNT_OF(models),
                                           .groups = groups,
                                           .group_count = TG_COUNT_OF(groups),
                                           .priority = 5,
                                           .weight = 3,
                                           .key = "sk-upstream-0123456789",
                                           .seal_public = house->seal_public,
                                           .key_version = 1};
    int64_t id = 0;
    enum tg_class class =
        tg_store_channel_add(house->db, &house->actor, &channel, &id, &house->err);

    assert_string_equal(class == TG_OK ? "" : house->err.message, "");
    return id;
}

static int start(void **state)
{
    static struct house house = {.actor = {.address = ""}};

    if (tg_crypto_init(&house.err) != TG_OK)
        return 1;
    tg_seal_keypair(house.seal_public, house.seal_private);
    house.server = test_mariadb_start();
    house.pool = test_schema(house.server, "main", "main", 4);
    *state = &house;
    return 0;
}

static int stop(void **state)
{
    struct house *house = *state;

    tg_db_pool_free(house->pool);
    test_mariadb_stop(house->server);
    return 0;
}

static int enter(void **state)
{
    struct house *house = *state;

    test_mariadb_sql(house->server, "main",
                     "ALTER DATABASE main COLLATE utf8mb4_general_ci;" /* as an operator may */
                     "DELETE FROM users; DELETE FROM tokens; DELETE FROM channels;"
                     "DELETE FROM channel_keys; DELETE FROM abilities; DELETE FROM model_prices;"
                     "DELETE FROM credits; DELETE FROM adjustments; DELETE FROM options;"
                     "DELETE FROM audit_log; UPDATE audit_chain SET hash = '';"
                     "DELETE FROM group_access; DELETE FROM `groups`;"
                     "INSERT INTO `groups` (name) VALUES ('default');"
                     "UPDATE routing_version SET version = 1");
    house->db = test_take(house->pool);
    house->arena = tg_arena_new();
    return 0;
}

static int leave(void **state)
{
    struct house *house = *state;

    tg_db_release(house->db);
    tg_arena_free(house->arena);
    return 0;
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, enter, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(users_have_one_name_whatever_its_case),
        CASE(bad_users_leave_nothing_behind),
        CASE(a_status_change_raises_authver_and_is_to_be_pushed),
        CASE(a_token_is_found_by_its_fingerprint),
        CASE(a_token_without_limits_allows_all),
        CASE(a_limit_that_cannot_be_read_is_an_error),
        CASE(a_revoked_token_says_so),
        CASE(balances_come_with_their_epoch),
        CASE(credits_wait_for_their_push),
        CASE(bad_credits_leave_nothing_behind),
        CASE(group_access_must_be_allowed),
        CASE(options_are_laid_over_the_conf),
        CASE(a_channel_brings_its_abilities),
        CASE(its_key_opens_with_the_identity_of_its_row_only),
        CASE(a_disabled_channel_is_not_read_for_routing),
        CASE(bad_channels_leave_nothing_behind),
        CASE(prices_round_trip_and_are_replaced_whole),
        CASE(every_form_of_price_round_trips),
        CASE(an_import_is_whole_or_nothing),
        CASE(ratios_round_trip),
        CASE(every_change_is_in_the_audit_chain),
        CASE(a_changed_audit_row_breaks_the_chain),
        CASE(views_are_json_without_secrets),
        CASE(a_request_is_shown_with_its_detail),
    };

    return cmocka_run_group_tests(tests, start, stop);
}
