#include "tests/unit/store/house.h"

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
                                           .seal = {house->seal_public, 1, house->seal_private}};
    int64_t id = 0;
    enum tg_class class =
        tg_store_channel_add(house->db, &house->actor, &channel, &id, &house->err);

    assert_string_equal(class == TG_OK ? "" : house->err.message, "");
    return id;
}

int house_start(void **state)
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

int house_stop(void **state)
{
    struct house *house = *state;

    tg_db_pool_free(house->pool);
    test_mariadb_stop(house->server);
    return 0;
}

int house_enter(void **state)
{
    struct house *house = *state;

    test_mariadb_sql(house->server, "main",
                     "ALTER DATABASE main COLLATE utf8mb4_general_ci;" /* as an operator may */
                     "DELETE FROM users; DELETE FROM tokens; DELETE FROM channels;"
                     "DELETE FROM channel_keys; DELETE FROM abilities; DELETE FROM model_prices;"
                     "DELETE FROM credits; DELETE FROM adjustments; DELETE FROM options;"
                     "DELETE FROM audit_log; UPDATE audit_chain SET hash = '';"
                     "DELETE FROM console_sessions; DELETE FROM pats;"
                     "DELETE FROM login_attempts; DELETE FROM acl_grants;"
                     "DELETE FROM group_access; DELETE FROM `groups`;"
                     "INSERT INTO `groups` (name) VALUES ('default');"
                     "UPDATE routing_version SET version = 1");
    house->db = test_take(house->pool);
    house->arena = tg_arena_new();
    return 0;
}

int house_leave(void **state)
{
    struct house *house = *state;

    tg_db_release(house->db);
    tg_arena_free(house->arena);
    return 0;
}
