/* Channels, prices, groups, the audit chain, views. */
#include "tests/unit/store/house.h"

#include <stdio.h>

#include "common/base/id.h"
#include "common/json/json.h"
#include "common/store/channel.h"
#include "common/store/group.h"
#include "common/store/price.h"
#include "common/store/routing.h"
#include "common/store/view.h"

static struct tg_routing_rows routing(struct house *house)
{
    struct tg_routing_rows rows;

    assert_int_equal(tg_store_routing_read(house->db, house->arena, &rows, &house->err), TG_OK);
    return rows;
}

void a_channel_brings_its_abilities(void **state)
{
    static const char *const expected[][2] = {
        {"default", "GPT-A"}, {"default", "gpt-a"}, {"vip", "GPT-A"}, {"vip", "gpt-a"}};
    struct house *house = *state;
    int64_t id = house_channel(house, "one");
    struct tg_routing_rows rows = routing(house);

    assert_int_equal(rows.version, 2);
    assert_int_equal(rows.channel_count, 1);
    assert_int_equal(rows.channels[0].id, id);
    assert_string_equal(rows.channels[0].name, "one");
    assert_string_equal(rows.channels[0].base_url, "https://api.example.com/v1");
    assert_string_equal(rows.channels[0].organisation, "org");
    assert_string_equal(rows.channels[0].timeouts, "");
    assert_non_null(strstr(rows.channels[0].model_mapping, "real-a"));
    assert_false(rows.channels[0].bill_upstream);
    assert_int_equal(rows.ability_count, TG_COUNT_OF(expected));
    for (size_t i = 0; i < TG_COUNT_OF(expected); i++) {
        assert_string_equal(rows.abilities[i].group_name, expected[i][0]);
        assert_string_equal(rows.abilities[i].model, expected[i][1]);
        assert_int_equal(rows.abilities[i].channel_id, id);
        assert_int_equal(rows.abilities[i].priority, 5);
        assert_int_equal(rows.abilities[i].weight, 3);
    }
    /* many rows: the arrays grow */
    for (int i = 0; i < 9; i++) {
        char name[16];

        snprintf(name, sizeof name, "more-%d", i);
        house_channel(house, name);
    }
    rows = routing(house);
    assert_int_equal(rows.channel_count, 10);
    assert_int_equal(rows.ability_count, 40);
    assert_int_equal(rows.key_count, 10);
    assert_string_equal(rows.channels[9].name, "more-8");
    assert_int_equal(rows.version, 11);
}

void its_key_opens_with_the_identity_of_its_row_only(void **state)
{
    struct house *house = *state;
    char aad[TG_KEY_AAD_TEXT];
    struct tg_buf opened;
    struct tg_routing_rows rows;
    const struct tg_channel_key_row *key;

    house_channel(house, "one");
    rows = routing(house);
    assert_int_equal(rows.key_count, 1);
    key = &rows.keys[0];
    assert_string_equal(key->hint, "6789");
    assert_int_equal(key->key_version, 1);
    tg_buf_init(&opened, 0);
    tg_channel_key_aad(key->id, aad);
    assert_int_equal(tg_unseal(house->seal_private, aad, key->sealed, &opened, &house->err),
                     TG_OK);
    assert_string_equal(tg_buf_text(&opened), "sk-upstream-0123456789");
    tg_buf_reset(&opened);
    tg_channel_key_aad(key->id + 1, aad);
    assert_int_not_equal(tg_unseal(house->seal_private, aad, key->sealed, &opened, &house->err),
                         TG_OK);
    tg_buf_done(&opened);
    assert_int_equal(test_number(house->db, "SELECT COUNT(*) FROM audit_log WHERE after_json LIKE "
                                            "'%upstream-0123%'"),
                     0);
}

void a_disabled_channel_is_not_read_for_routing(void **state)
{
    struct house *house = *state;
    int64_t id = house_channel(house, "one");
    struct tg_routing_rows rows;

    assert_int_equal(
        tg_store_channel_set_status(house->db, &house->actor, id, "disabled", &house->err), TG_OK);
    rows = routing(house);
    assert_int_equal(rows.channel_count + rows.key_count + rows.ability_count, 0);
    assert_int_equal(rows.version, 3);
    assert_int_equal(test_number(house->db, "SELECT COUNT(*) FROM abilities WHERE enabled = 0"), 4);
    assert_int_equal(
        tg_store_channel_set_status(house->db, &house->actor, id, "enabled", &house->err), TG_OK);
    assert_int_equal(routing(house).ability_count, 4);
    assert_int_equal(
        tg_store_channel_set_status(house->db, &house->actor, id + 1, "enabled", &house->err),
        TG_CLASS_NOT_FOUND);
    assert_string_equal(house->err.code, "channel_not_found");
    assert_int_equal(routing(house).version, 4);
}

void bad_channels_leave_nothing_behind(void **state)
{
    static const char *const model[] = {"m"}, *const bad_model[] = {"a b"}, *const group[] = {"g"};
    struct house *house = *state;
    const struct tg_channel_new good = {.name = "c",
                                        .provider = "openai",
                                        .base_url = "http://127.0.0.1:8000/v1",
                                        .organisation = "",
                                        .proxy = "",
                                        .models = model,
                                        .model_count = 1,
                                        .groups = group,
                                        .group_count = 1,
                                        .key = "k",
                                        .seal = {house->seal_public, 1, house->seal_private}};
    struct {
        struct tg_channel_new channel;
        const char *code;
    } cases[] = {
        {good, "invalid_name"},   {good, "invalid_url"},  {good, "invalid_url"},
        {good, "invalid_url"},    {good, "invalid_list"}, {good, "invalid_model"},
        {good, "invalid_weight"}, {good, "invalid_key"},  {good, "invalid_key"},
        {good, "channel_exists"},
    };
    int64_t id;

    house_channel(house, "taken");
    cases[0].channel.name = "";
    cases[1].channel.base_url = "ftp://x/v1";
    cases[2].channel.base_url = "https://me:pw@x/v1";
    cases[3].channel.base_url = "https:///v1";
    cases[4].channel.model_count = 0;
    cases[5].channel.models = bad_model;
    cases[6].channel.weight = -1;
    cases[7].channel.key = "";
    cases[8].channel.key = "one\ntwo";
    cases[9].channel.name = "taken";
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        assert_int_not_equal(tg_store_channel_add(house->db, &house->actor, &cases[i].channel, &id,
                                                  &house->err),
                             TG_OK);
        assert_string_equal(house->err.code, cases[i].code);
    }
    assert_int_equal(routing(house).channel_count, 1);
    assert_int_equal(routing(house).version, 2);
    assert_int_equal(tg_store_channel_add(house->db, &house->actor, &good, &id, &house->err),
                     TG_OK);
    /* nothing of so short a key is shown */
    assert_string_equal(test_text(house->db, "SELECT hint FROM channel_keys ORDER BY id DESC "
                                             "LIMIT 1"),
                        "");
}

void prices_round_trip_and_are_replaced_whole(void **state)
{
    struct house *house = *state;
    struct tg_price price = {.form = TG_PRICE_TOKEN,
                             .rates.input = "2.50",
                             .rates.output = "0.0000000001",
                             .rates.cache_read = "1",
                             .tool_call = "0.01",
                             .max_output_tokens = 16384};
    struct tg_routing_rows rows;

    snprintf(price.hash, sizeof price.hash, "%064d", 7);
    assert_int_equal(
        tg_store_price_set(house->db, &house->actor, "gpt-a", &price, &house->err), TG_OK);
    rows = routing(house);
    assert_int_equal(rows.price_count, 1);
    assert_string_equal(rows.prices[0].model, "gpt-a");
    assert_int_equal(rows.prices[0].price.form, TG_PRICE_TOKEN);
    assert_string_equal(rows.prices[0].price.rates.input, "2.5");
    assert_string_equal(rows.prices[0].price.rates.output, "0.0000000001");
    assert_string_equal(rows.prices[0].price.rates.cache_read, "1");
    assert_string_equal(rows.prices[0].price.rates.image, "");
    assert_string_equal(rows.prices[0].price.tool_call, "0.01");
    assert_string_equal(rows.prices[0].price.hash, price.hash);
    assert_int_equal(rows.prices[0].price.max_output_tokens, 16384);
    price = (struct tg_price){.form = TG_PRICE_CALL, .call = "100"};
    assert_int_equal(
        tg_store_price_set(house->db, &house->actor, "gpt-a", &price, &house->err), TG_OK);
    rows = routing(house);
    assert_int_equal(rows.price_count, 1);
    assert_int_equal(rows.prices[0].price.form, TG_PRICE_CALL);
    assert_string_equal(rows.prices[0].price.call, "100");
    assert_string_equal(rows.prices[0].price.rates.input, "");
    assert_string_equal(rows.prices[0].price.tool_call, "");
    assert_int_equal(rows.version, 3);
    assert_string_equal(
        test_text(house->db, "SELECT CONCAT(JSON_VALUE(before_json, '$.input'), ' ', "
                             "JSON_VALUE(after_json, '$.call')) FROM audit_log "
                             "WHERE action = 'price.set' ORDER BY id DESC LIMIT 1"),
        "2.5 100");
    assert_int_equal(tg_store_price_set(house->db, &house->actor, "a,b", &price, &house->err),
                     TG_CLASS_INVALID);
}

void every_form_of_price_round_trips(void **state)
{
    struct house *house = *state;
    struct tg_price_row prices[] = {
        {"by-expression", {.form = TG_PRICE_EXPRESSION, .expression = "p * price.input + c * 2",
                           .rates = {.input = "0.5"}}},
        {"by-tier", {.form = TG_PRICE_TIER,
                     .rates = {.input = "1", .output = "2"},
                     .tiers = {{200000, {.input = "2", .output = "4.5"}}},
                     .tier_count = 1,
                     .tools = {[TG_TOOL_WEB_SEARCH] = "0.01"},
                     .context_tokens = 1000000,
                     .vendor = "a vendor",
                     .dated = "2026-11-30"}},
        {"gpt-*", {.form = TG_PRICE_TOKEN, .rates = {.input = "9", .output = "9"}}},
    };
    struct tg_price_import import = {.rows = prices, .count = TG_COUNT_OF(prices)};
    struct tg_price_rows got;

    assert_int_equal(tg_store_price_import(house->db, &house->actor, &import, &house->err), TG_OK);
    assert_int_equal(import.set, 3);
    assert_int_equal(tg_store_prices(house->db, house->arena, &got, &house->err), TG_OK);
    assert_int_equal(got.count, 3);
    assert_int_equal(got.rows[0].price.form, TG_PRICE_EXPRESSION);
    assert_string_equal(got.rows[0].price.expression, "p * price.input + c * 2");
    assert_string_equal(got.rows[0].price.rates.input, "0.5");
    assert_int_equal(got.rows[1].price.form, TG_PRICE_TIER);
    assert_int_equal(got.rows[1].price.tier_count, 1);
    assert_int_equal(got.rows[1].price.tiers[0].above, 200000);
    assert_string_equal(got.rows[1].price.tiers[0].rates.output, "4.5");
    assert_string_equal(got.rows[1].price.tools[TG_TOOL_WEB_SEARCH], "0.01");
    assert_int_equal(got.rows[1].price.context_tokens, 1000000);
    assert_string_equal(got.rows[1].price.vendor, "a vendor");
    assert_string_equal(got.rows[1].price.dated, "2026-11-30");
    assert_string_equal(got.rows[2].model, "gpt-*");
    assert_null(got.rows[2].price.expression);
    import.missing_only = true;
    import.rows = prices + 1;
    import.count = 2;
    assert_int_equal(tg_store_price_import(house->db, &house->actor, &import, &house->err), TG_OK);
    assert_int_equal(import.set, 0);
    assert_int_equal(import.left, 2);
    test_mariadb_sql(house->server, "main",
                     "UPDATE model_prices SET tiers = '[7]' WHERE model = 'by-tier'");
    assert_int_equal(tg_store_prices(house->db, house->arena, &got, &house->err), TG_OK);
    assert_int_equal(got.rows[1].price.form, TG_PRICE_FORM__COUNT);
}

void an_import_is_whole_or_nothing(void **state)
{
    struct house *house = *state;
    const struct tg_price price = {.form = TG_PRICE_CALL, .call = "1"};
    const struct tg_price_row prices[] = {{"good", price}, {"not,good", price}};
    struct tg_price_import import = {.rows = prices, .count = 2};

    assert_int_equal(tg_store_price_import(house->db, &house->actor, &import, &house->err),
                     TG_CLASS_INVALID);
    assert_int_equal(routing(house).price_count, 0);
}

void ratios_round_trip(void **state)
{
    static const char *const bad[] = {"", "-1", "1.", ".5", "1e3", "1000000", "0.00000000001",
                                      "1 ", "a"};
    struct house *house = *state;
    struct tg_routing_rows rows;

    assert_int_equal(tg_store_group_set(house->db, &house->actor, "vip", "0.80", &house->err),
                     TG_OK);
    assert_int_equal(tg_store_group_set(house->db, &house->actor, "default", "2", &house->err),
                     TG_OK);
    assert_int_equal(tg_store_group_set(house->db, &house->actor, "vip", "0.75", &house->err),
                     TG_OK);
    for (size_t i = 0; i < TG_COUNT_OF(bad); i++) {
        assert_int_equal(tg_store_group_set(house->db, &house->actor, "vip", bad[i], &house->err),
                         TG_CLASS_INVALID);
        assert_string_equal(house->err.code, "invalid_ratio");
    }
    test_mariadb_sql(house->server, "main",
                     "INSERT INTO group_access (user_group, used_group, ratio) VALUES "
                     "('default', 'vip', 1.5), ('vip', 'default', NULL)");
    rows = routing(house);
    assert_int_equal(rows.group_count, 2);
    assert_string_equal(rows.groups[0].name, "default");
    assert_string_equal(rows.groups[0].ratio, "2");
    assert_string_equal(rows.groups[1].ratio, "0.75");
    assert_int_equal(rows.access_count, 2);
    assert_string_equal(rows.access[0].ratio, "1.5");
    assert_string_equal(rows.access[1].ratio, "");
    assert_true(rows.access[0].allowed);
}

static int64_t broken_at(struct house *house)
{
    int64_t broken = -1;

    assert_int_equal(tg_change_chain_check(house->db, &broken, &house->err), TG_OK);
    return broken;
}

void every_change_is_in_the_audit_chain(void **state)
{
    struct house *house = *state;

    assert_int_equal(broken_at(house), 0);
    house_user(house, "alice");
    house_channel(house, "one");
    assert_int_equal(tg_store_group_set(house->db, &house->actor, "vip", "2", &house->err), TG_OK);
    assert_int_equal(test_number(house->db, "SELECT COUNT(*) FROM audit_log"), 3);
    assert_string_equal(
        test_text(house->db, "SELECT GROUP_CONCAT(action ORDER BY id) FROM audit_log"),
        "user.add,channel.add,group.set");
    assert_int_equal(broken_at(house), 0);
}

void a_changed_audit_row_breaks_the_chain(void **state)
{
    static const char *const harm[] = {
        "UPDATE audit_log SET after_json = '{}' ORDER BY id LIMIT 1",
        "UPDATE audit_log SET actor_id = 9 ORDER BY id LIMIT 1",
        "UPDATE audit_log SET before_json = '' ORDER BY id LIMIT 1",
        "DELETE FROM audit_log ORDER BY id LIMIT 1",
        "DELETE FROM audit_log ORDER BY id DESC LIMIT 1",
        "DELETE FROM audit_log",
    };
    struct house *house = *state;

    for (size_t i = 0; i < TG_COUNT_OF(harm); i++) {
        char name[16];

        test_mariadb_sql(house->server, "main",
                         "DELETE FROM audit_log; UPDATE audit_chain SET hash = ''");
        for (int k = 0; k < 3; k++) {
            snprintf(name, sizeof name, "u%zu-%d", i, k);
            house_user(house, name);
        }
        assert_int_equal(broken_at(house), 0);
        test_mariadb_sql(house->server, "main", harm[i]);
        assert_int_not_equal(broken_at(house), 0);
    }
}

static struct tg_json *parsed(const struct tg_buf *buf)
{
    struct tg_json *root = NULL;
    struct tg_error err = {.message = ""};
    enum tg_class class = tg_json_parse(buf->data, buf->len, &root, &err);

    assert_string_equal(class == TG_OK ? "" : err.message, "");
    return root;
}

void views_are_json_without_secrets(void **state)
{
    struct house *house = *state;
    struct tg_json_writer out;
    struct tg_json *root;
    const struct tg_json *list;
    struct tg_span text;
    struct tg_buf buf;
    int64_t number, id = house_channel(house, "one");

    house_user(house, "alice");
    test_mariadb_sql(house->server, "main",
                     "UPDATE users SET quota = 1, password_hash = 'hidden'");
    tg_buf_init(&buf, 0);
    tg_json_writer_init(&out, &buf);
    tg_json_begin_object(&out);
    assert_int_equal(tg_view_user(house->db, "alice", &out, &house->err), TG_OK);
    tg_json_end_object(&out);
    root = parsed(&buf);
    assert_int_equal(tg_json_get_int(root, "quota", &number), TG_JSON_GOT);
    assert_int_equal(number, 1);
    assert_int_equal(tg_json_get_string(root, "quota_usd", &text), TG_JSON_GOT);
    assert_string_equal(text.ptr, "0.000002");
    assert_int_equal(tg_json_get(root, "limits", &list), TG_JSON_GOT_NULL);
    assert_null(strstr(buf.data, "hidden"));
    tg_json_free(root);

    tg_buf_reset(&buf);
    tg_json_writer_init(&out, &buf);
    assert_int_equal(tg_view_channel(house->db, id, &out, &house->err), TG_OK);
    root = parsed(&buf);
    assert_int_equal(tg_json_get_array(root, "models", &list), TG_JSON_GOT);
    assert_int_equal(tg_json_array_len(list), 3);
    assert_int_equal(tg_json_get_string(root, "key_hint", &text), TG_JSON_GOT);
    assert_string_equal(text.ptr, "6789");
    tg_json_free(root);
    tg_buf_done(&buf);
    assert_int_equal(tg_view_user(house->db, "bob", &out, &house->err), TG_CLASS_NOT_FOUND);
    assert_int_equal(tg_view_token(house->db, 77, &out, &house->err), TG_CLASS_NOT_FOUND);
    assert_int_equal(tg_view_channel(house->db, 77, &out, &house->err), TG_CLASS_NOT_FOUND);
}

void a_request_is_shown_with_its_detail(void **state)
{
    struct house *house = *state;
    struct tg_db_pool *pool = test_schema(house->server, "log", "log", 1);
    struct tg_db *log = test_take(pool);
    struct tg_id id = tg_id_new(), other = tg_id_new();
    char text[TG_ID_TEXT];
    struct tg_json_writer out;
    struct tg_json *root;
    const struct tg_json *value;
    struct tg_span got;
    struct tg_buf buf;

    for (int i = 0; i < 2; i++)
        assert_int_equal(
            tg_db_run(log,
                      i == 0 ? "INSERT INTO request_log (request_id, created_at, quota, stream) "
                               "VALUES (?, UTC_TIMESTAMP(6), 15, 1)"
                             : "INSERT INTO request_detail SELECT request_id, created_at, "
                               "'[{\"n\":1}]', NULL, '{}', NULL FROM request_log WHERE "
                               "request_id = ?",
                      &TG_DB_B(id.bytes, TG_ID_BYTES), 1, NULL),
            TG_OK);
    tg_buf_init(&buf, 0);
    tg_json_writer_init(&out, &buf);
    assert_int_equal(tg_view_request(log, &id, &out, &house->err), TG_OK);
    root = parsed(&buf);
    tg_id_format(&id, text);
    assert_int_equal(tg_json_get_string(root, "request_id", &got), TG_JSON_GOT);
    assert_string_equal(got.ptr, text);
    assert_int_equal(tg_json_get_array(root, "attempts_json", &value), TG_JSON_GOT);
    assert_int_equal(tg_json_get(root, "diagnostics_json", &value), TG_JSON_GOT_NULL);
    assert_int_equal(tg_json_get_string(root, "quota_usd", &got), TG_JSON_GOT);
    assert_string_equal(got.ptr, "0.000030");
    tg_json_free(root);
    tg_buf_done(&buf);
    assert_int_equal(tg_view_request(log, &other, &out, &house->err), TG_CLASS_NOT_FOUND);
    tg_db_release(log);
    tg_db_pool_free(pool);
}
