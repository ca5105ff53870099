/* What becomes of channels by themselves, and what is noted of them. */
#include "tests/unit/store/house.h"

#include "common/json/writer.h"
#include "common/store/channel.h"
#include "common/store/channel_watch.h"
#include "common/store/routing.h"

static bool disabled(struct house *house, int64_t id, int64_t key_id)
{
    const struct tg_channel_verdict why = {id, key_id, "because"};
    bool done;

    assert_int_equal(tg_store_channel_auto_disable(house->db, &why, &done, &house->err), TG_OK);
    return done;
}

static bool enabled(struct house *house, int64_t id, int64_t key_id)
{
    const struct tg_channel_verdict why = {id, key_id, "it works"};
    bool done;

    assert_int_equal(tg_store_channel_auto_enable(house->db, &why, &done, &house->err), TG_OK);
    return done;
}

static void run(struct house *house, const char *sql)
{
    assert_int_equal(tg_db_run(house->db, sql, NULL, 0, &house->err), TG_OK);
}

static struct tg_routing_rows routing(struct house *house)
{
    struct tg_routing_rows rows;

    assert_int_equal(tg_store_routing_read(house->db, house->arena, &rows, &house->err), TG_OK);
    return rows;
}

void a_channel_goes_and_comes_back_by_itself(void **state)
{
    struct house *house = *state;
    int64_t id = house_channel(house, "one");
    int64_t key = test_number(house->db, "SELECT id FROM channel_keys");
    struct tg_routing_rows rows;

    assert_false(enabled(house, id, key)); /* it is */
    assert_false(disabled(house, id, key + 1)); /* that key is gone */
    run(house, "UPDATE channel_keys SET state = 'suspended', state_reason = 'bad'");
    assert_true(disabled(house, id, key));
    assert_false(disabled(house, id, key));
    assert_string_equal(test_text(house->db, "SELECT status_reason FROM channels"), "because");
    rows = routing(house);
    assert_int_equal(rows.ability_count, 0);
    assert_int_equal(rows.channel_count, 1);
    assert_true(rows.channels[0].off);
    assert_string_equal(rows.channels[0].test_model, "gpt-a");
    assert_int_equal(rows.key_count, 1);

    assert_true(enabled(house, id, key));
    rows = routing(house);
    assert_int_equal(rows.ability_count, 4);
    assert_false(rows.channels[0].off);
    assert_string_equal(
        test_text(house->db, "SELECT CONCAT(state, state_reason, state_event) FROM channel_keys"),
        "active1");
    assert_int_equal(test_number(house->db, "SELECT COUNT(*) FROM audit_log WHERE action IN "
                                            "('channel.auto_disable', 'channel.auto_enable')"),
                     2);
}

void a_channel_with_another_key_stays(void **state)
{
    struct house *house = *state;
    int64_t id = house_channel(house, "one");
    int64_t key = test_number(house->db, "SELECT id FROM channel_keys");

    run(house, "INSERT INTO channel_keys (channel_id, position, sealed, key_version, state) "
               "SELECT channel_id, 1, sealed, 1, 'resting' FROM channel_keys");
    assert_false(disabled(house, id, key));
    run(house, "UPDATE channel_keys SET state = 'suspended' WHERE position = 1");
    assert_true(disabled(house, id, key));
    assert_true(enabled(house, id, key));
    /* About the channel itself, its keys say nothing. */
    assert_true(disabled(house, id, 0));
}

void what_a_person_has_set_is_left_alone(void **state)
{
    struct house *house = *state;
    int64_t id = house_channel(house, "one");

    run(house, "UPDATE channels SET auto_disable = 0");
    assert_false(disabled(house, id, 0));
    run(house, "UPDATE channels SET auto_disable = 1, status = 'disabled'");
    assert_false(disabled(house, id, 0));
    assert_false(enabled(house, id, 0));
    assert_int_equal(routing(house).channel_count, 0);
    assert_string_equal(test_text(house->db, "SELECT status FROM channels"), "disabled");
}

void the_model_for_tests_is_one_that_has_a_name(void **state)
{
    static const struct {
        const char *sql, *model;
    } cases[] = {
        {"UPDATE channels SET models = '[\"gpt-*\", \"gpt-b\", \"gpt-c\"]'", "gpt-b"},
        {"UPDATE channels SET models = '[\"gpt-*\"]'", ""},
        {"UPDATE channels SET test_model = 'gpt-z'", "gpt-z"},
    };
    struct house *house = *state;

    house_channel(house, "one");
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        run(house, cases[i].sql);
        assert_string_equal(routing(house).channels[0].test_model, cases[i].model);
    }
}

void what_is_known_of_a_channel_wakes_nobody(void **state)
{
    static const char known[] =
        "SELECT CONCAT_WS('/', test_ms, test_code, ROUND(balance_usd, 6), balance_code, "
        "tested_at IS NULL, balance_at IS NULL) FROM channels";
    struct house *house = *state;
    int64_t id = house_channel(house, "one");
    int64_t version = test_number(house->db, "SELECT version FROM routing_version");

    assert_string_equal(test_text(house->db, known), "//1/1");
    assert_int_equal(
        tg_store_channel_tested(
            house->db, &(struct tg_channel_test_row){id, 812, "upstream_timeout"}, &house->err),
        TG_OK);
    assert_int_equal(tg_store_channel_balance(
                         house->db, &(struct tg_channel_balance_row){id, 3747500, ""},
                         &house->err),
                     TG_OK);
    assert_string_equal(test_text(house->db, known), "812/upstream_timeout/7.495000//0/0");
    assert_int_equal(tg_store_channel_balance(
                         house->db, &(struct tg_channel_balance_row){id, 0, "balance_unknown"},
                         &house->err),
                     TG_OK);
    assert_string_equal(test_text(house->db, known),
                        "812/upstream_timeout/7.495000/balance_unknown/0/0");
    assert_int_equal(test_number(house->db, "SELECT version FROM routing_version"), version);
}

void breakers_of_a_node_are_written_whole(void **state)
{
    static const char all[] =
        "SELECT COALESCE(GROUP_CONCAT(CONCAT_WS('/', node, model, state) ORDER BY node, model "
        "SEPARATOR ' '), '') FROM breaker_states";
    static const struct tg_breaker_row rows[] = {{7, "m-a", false, 30000000}, {7, "m-b", true, 0}};
    struct house *house = *state;
    struct tg_json_writer out;
    struct tg_buf buf;

    run(house, "DELETE FROM breaker_states");
    assert_int_equal(tg_store_breakers(house->db, "n1", rows, 2, &house->err), TG_OK);
    assert_int_equal(tg_store_breakers(house->db, "n2", rows, 1, &house->err), TG_OK);
    assert_string_equal(test_text(house->db, all), "n1/m-a/open n1/m-b/probing n2/m-a/open");
    assert_int_equal(tg_store_breakers(house->db, "n1", rows + 1, 1, &house->err), TG_OK);
    assert_string_equal(test_text(house->db, all), "n1/m-b/probing n2/m-a/open");

    /* A probe whose time is over leaves the next one to whoever comes; silent nodes are gone. */
    run(house, "UPDATE breaker_states SET seen_at = seen_at - INTERVAL 2 MINUTE WHERE node = 'n2'");
    tg_buf_init(&buf, 0);
    tg_json_writer_init(&out, &buf);
    tg_json_begin_object(&out);
    assert_int_equal(tg_list_channel_breakers(house->db, 7, &out, &house->err), TG_OK);
    tg_json_end_object(&out);
    assert_non_null(strstr(tg_buf_text(&buf), "\"state\":\"half_open\""));
    assert_null(strstr(tg_buf_text(&buf), "n2"));
    tg_buf_done(&buf);
    assert_int_equal(tg_store_breakers(house->db, "n1", rows, 0, &house->err), TG_OK);
    assert_string_equal(test_text(house->db, all), "n2/m-a/open");
}
