/* Pages of rows. */
#include "tests/unit/store/console.h"

#include <stdio.h>

#include "common/json/json.h"
#include "common/store/list.h"

/* One page as a parsed document; reset before the next. */
struct answer {
    struct tg_buf buf;
    struct tg_json_writer out;
    struct tg_json *root;
    char next[TG_CURSOR_TEXT];
};

static void begin(struct answer *answer)
{
    tg_buf_init(&answer->buf, 0);
    tg_json_writer_init(&answer->out, &answer->buf);
    tg_json_begin_object(&answer->out);
    answer->root = NULL;
}

static void end(struct answer *answer, enum tg_class class, const struct tg_error *err)
{
    struct tg_span next;

    assert_string_equal(class == TG_OK ? "" : err->message, "");
    tg_json_end_object(&answer->out);
    assert_int_equal(
        tg_json_parse(tg_buf_text(&answer->buf), answer->buf.len, &answer->root, NULL), TG_OK);
    answer->next[0] = '\0';
    if (tg_json_get_string(answer->root, "next", &next) == TG_JSON_GOT)
        snprintf(answer->next, sizeof answer->next, "%s", next.ptr);
}

static void done(struct answer *answer)
{
    tg_json_free(answer->root);
    tg_buf_done(&answer->buf);
}

static size_t row_count(const struct answer *answer)
{
    const struct tg_json *rows;

    assert_int_equal(tg_json_get_array(answer->root, "rows", &rows), TG_JSON_GOT);
    return tg_json_array_len(rows);
}

/* "a,b,c": one text member of every row. */
static const char *column(struct house *house, const struct answer *answer, const char *key)
{
    const struct tg_json *rows;
    const char *all = "";

    assert_int_equal(tg_json_get_array(answer->root, "rows", &rows), TG_JSON_GOT);
    for (size_t i = 0; i < tg_json_array_len(rows); i++) {
        struct tg_span text;

        assert_int_equal(tg_json_get_string(tg_json_array_at(rows, i), key, &text), TG_JSON_GOT);
        all = tg_arena_printf(house->arena, "%s%s%s", all, i > 0 ? "," : "", text.ptr);
    }
    return all;
}

static const char *user_names(struct house *house, const struct tg_user_filter *filter,
                              const struct tg_page *page, char *next)
{
    struct answer answer;
    const char *names;

    begin(&answer);
    end(&answer, tg_list_users(house->db, filter, page, &answer.out, &house->err), &house->err);
    names = column(house, &answer, "username");
    if (next != NULL)
        snprintf(next, TG_CURSOR_TEXT, "%s", answer.next);
    done(&answer);
    return names;
}

void pages_go_on_behind_the_last_row(void **state)
{
    static const char *const sorts[] = {"id", "-id", "username", "-username", "quota", "-quota"};
    static const char *const orders[] = {"u3,u1,u5,u2,u4", "u4,u2,u5,u1,u3", "u1,u2,u3,u4,u5",
                                         "u5,u4,u3,u2,u1", "u3,u2,u1,u5,u4", "u4,u5,u1,u2,u3"};
    static const char *const names[] = {"u3", "u1", "u5", "u2", "u4"};
    const struct tg_user_filter all = {.search = NULL};
    struct house *house = *state;

    for (size_t i = 0; i < TG_COUNT_OF(names); i++)
        house_user(house, names[i]);
    /* equal values: the id decides */
    test_mariadb_sql(house->server, "main",
                     "UPDATE users SET quota = 9007199254740993; "
                     "UPDATE users SET quota = -5 WHERE username IN ('u3', 'u2'); "
                     "UPDATE users SET quota = 9007199254740992 WHERE username = 'u1'");
    for (size_t i = 0; i < TG_COUNT_OF(sorts); i++) {
        struct tg_page page = {.limit = 2, .sort = sorts[i]};
        char next[TG_CURSOR_TEXT] = "";
        const char *got = "";

        for (int at = 0; at < 3; at++) {
            char place[TG_CURSOR_TEXT];

            snprintf(place, sizeof place, "%s", next);
            page.after = place;
            got = tg_arena_printf(house->arena, "%s%s%s", got, at > 0 ? "," : "",
                                  user_names(house, &all, &page, next));
            assert_int_equal(next[0] == '\0', at == 2);
        }
        assert_string_equal(got, orders[i]);
    }
}

void users_are_filtered_and_sorted(void **state)
{
    struct house *house = *state;
    const struct tg_page page = {.sort = "username"};
    struct {
        struct tg_user_filter filter;
        const char *names;
    } cases[] = {
        {{.search = ""}, "ann,bobx,bob_"},
        {{.search = "BOB"}, "bobx,bob_"},
        {{.search = "b_"}, "bob_"}, /* no wildcard */
        {{.search = "%"}, ""},
        {{.role = "admin"}, "ann"},
        {{.status = "disabled", .search = "bob"}, "bobx"},
        {{.group_name = "default", .team = "blue"}, "bob_"},
        {{.group_name = "vip"}, ""},
    };

    house_user(house, "ann");
    house_user(house, "bob_");
    house_user(house, "bobx");
    test_mariadb_sql(house->server, "main",
                     "UPDATE users SET role = 'admin' WHERE username = 'ann'; "
                     "UPDATE users SET team = 'blue' WHERE username = 'bob_'; "
                     "UPDATE users SET status = 'disabled' WHERE username = 'bobx'");
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++)
        assert_string_equal(user_names(house, &cases[i].filter, &page, NULL), cases[i].names);
}

void tokens_are_filtered(void **state)
{
    struct house *house = *state;
    int64_t alice = house_user(house, "alice"), bob = house_user(house, "bob");
    const struct tg_page page = {.sort = "name"};
    const struct {
        struct tg_token_filter filter;
        const char *names, *owners;
    } cases[] = {
        {{.user_id = 0}, "a1,a2,b1", "alice,alice,bob"},
        {{.user_id = alice}, "a1,a2", "alice,alice"},
        {{.user_id = bob, .search = "1"}, "b1", "bob"},
        {{.search = "wxyz"}, "a2", "alice"},
        {{.status = "revoked"}, "b1", "bob"},
        {{.group_name = "vip", .user_id = alice}, "a1", "alice"},
    };
    const char *sql = tg_arena_printf(
        house->arena,
        "INSERT INTO tokens (key_hmac, user_id, name, hint, group_name, status) VALUES "
        "('1', %d, 'a1', 'aaaa', 'vip', 'enabled'), ('2', %d, 'a2', 'wxyz', '', 'enabled'), "
        "('3', %d, 'b1', 'bbbb', '', 'revoked')",
        (int)alice, (int)alice, (int)bob);

    test_mariadb_sql(house->server, "main", sql);
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        struct answer answer;

        begin(&answer);
        end(&answer,
            tg_list_tokens(house->db, &cases[i].filter, &page, &answer.out, &house->err),
            &house->err);
        assert_string_equal(column(house, &answer, "name"), cases[i].names);
        assert_string_equal(column(house, &answer, "username"), cases[i].owners);
        assert_null(strstr(tg_buf_text(&answer.buf), "hmac"));
        done(&answer);
    }
}

void channels_are_found_by_what_they_serve(void **state)
{
    struct house *house = *state;
    const struct tg_page page = {.limit = 0};
    const struct {
        struct tg_channel_filter filter;
        const char *names;
    } cases[] = {
        {{.model = NULL}, "one,two"},          {{.model = "GPT-A"}, "one,two"},
        {{.model = "Gpt-A"}, ""},              {{.model = "gpt-a", .group_name = "vip"}, "one,two"},
        {{.group_name = "nowhere"}, ""},       {{.search = "tw"}, "two"},
        {{.provider = "openai"}, "one,two"},   {{.status = "disabled"}, "two"},
        {{.tag = "eu", .model = ""}, "one"},
    };

    house_channel(house, "one");
    house_channel(house, "two");
    test_mariadb_sql(house->server, "main",
                     "UPDATE channels SET status = 'disabled' WHERE name = 'two'; UPDATE channels "
                     "SET tag = 'eu', proxy = 'http://me:pw@proxy:1' WHERE name = 'one'");
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        struct answer answer;

        begin(&answer);
        end(&answer,
            tg_list_channels(house->db, &cases[i].filter, &page, &answer.out, &house->err),
            &house->err);
        assert_string_equal(column(house, &answer, "name"), cases[i].names);
        assert_null(strstr(tg_buf_text(&answer.buf), "pw"));
        assert_null(strstr(tg_buf_text(&answer.buf), "sk-upstream"));
        done(&answer);
    }
}

void keys_are_listed_without_what_is_sealed(void **state)
{
    struct house *house = *state;
    int64_t id = house_channel(house, "one");
    struct answer answer;

    begin(&answer);
    end(&answer, tg_list_channel_keys(house->db, id, &answer.out, &house->err), &house->err);
    assert_int_equal(row_count(&answer), 1);
    assert_string_equal(column(house, &answer, "hint"), "6789");
    assert_null(strstr(tg_buf_text(&answer.buf), "sealed"));
    done(&answer);
}

void groups_and_their_access_are_listed(void **state)
{
    struct house *house = *state;
    const struct tg_page page = {.limit = 10};
    struct answer answer;

    test_mariadb_sql(house->server, "main",
                     "INSERT INTO `groups` (name, ratio) VALUES ('vip', 0.80); INSERT INTO "
                     "group_access (user_group, used_group, ratio, allowed) VALUES "
                     "('default', 'vip', 1.10, 1), ('vip', 'default', NULL, 0)");
    begin(&answer);
    end(&answer, tg_list_groups(house->db, NULL, &page, &answer.out, &house->err), &house->err);
    assert_string_equal(column(house, &answer, "name"), "default,vip");
    assert_string_equal(column(house, &answer, "ratio"), "1,0.8");
    done(&answer);
    begin(&answer);
    end(&answer, tg_list_group_access(house->db, "default", &answer.out, &house->err),
        &house->err);
    assert_string_equal(tg_buf_text(&answer.buf),
                        "{\"rows\":[{\"user_group\":\"default\",\"used_group\":\"vip\","
                        "\"allowed\":true,\"ratio\":\"1.1\"}]}");
    done(&answer);
}

void prices_are_listed_and_what_has_none(void **state)
{
    struct house *house = *state;
    const struct tg_page page = {.limit = 10};
    const struct tg_price_filter filter = {.search = "gpt"};
    struct answer answer;

    house_channel(house, "one"); /* gpt-a and GPT-A */
    test_mariadb_sql(house->server, "main",
                     "INSERT INTO model_prices (model, form, input) VALUES ('gpt-*', 'token', "
                     "2.50), ('GPT_A', 'token', 1), ('claude-*', 'call', NULL)");
    begin(&answer);
    end(&answer, tg_list_prices(house->db, &filter, &page, &answer.out, &house->err), &house->err);
    assert_string_equal(column(house, &answer, "model"), "gpt-*");
    assert_string_equal(column(house, &answer, "input"), "2.5");
    done(&answer);
    begin(&answer);
    end(&answer, tg_list_unpriced(house->db, &page, &answer.out, &house->err), &house->err);
    assert_string_equal(column(house, &answer, "model"), "GPT-A"); /* '_' is no wildcard */
    done(&answer);
    begin(&answer);
    end(&answer, tg_view_price(house->db, "gpt-*", &answer.out, &house->err), &house->err);
    done(&answer);
}

void the_audit_log_is_filtered(void **state)
{
    struct house *house = *state;
    int64_t alice = house_user(house, "alice");
    const struct tg_page page = {.limit = 10};
    const struct {
        struct tg_audit_filter filter;
        const char *actions;
    } cases[] = {
        {{.actor_id = 0}, "channel.add,user.add,user.add"},
        {{.action = "user."}, "user.add,user.add"},
        {{.action = "user"}, ""},
        {{.action = "channel.add"}, "channel.add"},
        {{.object_type = "user", .object_id = tg_arena_printf(house->arena, "%d", (int)alice)},
         "user.add"},
        {{.object_type = "user"}, "user.add,user.add"},
        {{.actor_id = 5}, ""},
        {{.from_unix_us = 1}, "channel.add,user.add,user.add"},
        {{.to_unix_us = 1}, ""},
    };

    house_user(house, "bob");
    house_channel(house, "one");
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        struct answer answer;

        begin(&answer);
        end(&answer, tg_list_audit(house->db, &cases[i].filter, &page, &answer.out, &house->err),
            &house->err);
        assert_string_equal(column(house, &answer, "action"), cases[i].actions);
        done(&answer);
    }
}

void what_is_no_json_is_shown_as_text(void **state)
{
    struct house *house = *state;
    const struct tg_audit_filter all = {.actor_id = 0};
    const struct tg_page page = {.limit = 10};
    struct answer answer;

    house_user(house, "alice");
    test_mariadb_sql(house->server, "main", "UPDATE audit_log SET after_json = '{\"forged\":'");
    begin(&answer);
    end(&answer, tg_list_audit(house->db, &all, &page, &answer.out, &house->err), &house->err);
    assert_string_equal(column(house, &answer, "after_json"), "{\"forged\":");
    done(&answer);
}

void bad_pages_are_refused(void **state)
{
    static const struct {
        struct tg_page page;
        const char *code;
    } cases[] = {
        {{.sort = "password_hash"}, "invalid_sort"},
        {{.sort = "--id"}, "invalid_sort"},
        {{.after = "x"}, "invalid_cursor"},
        {{.after = "-id.31"}, "invalid_cursor"},
        {{.after = "-id.3.31"}, "invalid_cursor"},
        {{.after = "-id.31.zz"}, "invalid_cursor"},
        {{.sort = "id", .after = "-id.31.31"}, "invalid_cursor"},
    };
    const struct tg_user_filter all = {.search = NULL};
    struct house *house = *state;

    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        struct answer answer;

        begin(&answer);
        assert_int_equal(
            tg_list_users(house->db, &all, &cases[i].page, &answer.out, &house->err),
            TG_CLASS_INVALID);
        assert_string_equal(house->err.code, cases[i].code);
        done(&answer);
    }
}
