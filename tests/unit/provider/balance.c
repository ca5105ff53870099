/* What is left of a provider's account: who is asked where, and how the answers are read. */
#include "tests/unit/unit.h"

#include "fcgi-app/provider/balance.h"

static void the_source_is_found_by_word_or_host(void **state)
{
    static const struct {
        const char *word, *base_url;
        const char *url; /* of the first call; NULL: there is none */
    } cases[] = {
        {"", "https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1/credits"},
        {"", "https://openrouter.ai/api/v1/", "https://openrouter.ai/api/v1/credits"},
        {"", "https://api.deepseek.com/v1", "https://api.deepseek.com/user/balance"},
        {"", "https://api.deepseek.com", "https://api.deepseek.com/user/balance"},
        {"", "https://api.moonshot.cn/v1", "https://api.moonshot.cn/v1/users/me/balance"},
        {"", "https://api.siliconflow.com/v1", "https://api.siliconflow.com/v1/user/info"},
        {"deepseek", "http://127.0.0.1:99/x/v1", "http://127.0.0.1:99/user/balance"},
        {"billing", "http://10.0.0.1:3000/v1",
         "http://10.0.0.1:3000/v1/dashboard/billing/subscription"},
        {"", "https://api.openai.com/v1", NULL},
        {"", "https://openrouter.ai.example/api/v1", NULL},
        {"none", "https://openrouter.ai/api/v1", NULL},
        {"another", "https://openrouter.ai/api/v1", NULL},
    };
    struct tg_arena *arena = tg_arena_new();

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        const struct tg_balance_source *source =
            tg_balance_find(cases[i].word, cases[i].base_url);

        if ((source != NULL) != (cases[i].url != NULL))
            fail_msg("case %zu", i);
        if (source != NULL)
            assert_string_equal(tg_balance_url(source, arena, cases[i].base_url, 0,
                                               (struct tg_span){"", 0}),
                                cases[i].url);
    }
    tg_arena_free(arena);
}

static void only_billing_asks_twice(void **state)
{
    static const char paid[] = "{\"has_payment_method\":true,\"hard_limit_usd\":5}";
    const struct tg_balance_source *billing = tg_balance_find("billing", "http://h/v1");
    const struct tg_balance_source *other = tg_balance_find("moonshot", "http://h/v1");
    struct tg_arena *arena = tg_arena_new();
    const char *url =
        tg_balance_url(billing, arena, "http://h/v1", 1, (struct tg_span){paid, strlen(paid)});

    (void)state;
    assert_non_null(strstr(url, "http://h/v1/dashboard/billing/usage?start_date="));
    assert_non_null(strstr(url, "-01&end_date="));
    assert_null(tg_balance_url(billing, arena, "http://h/v1", 2, (struct tg_span){"", 0}));
    assert_null(tg_balance_url(other, arena, "http://h/v1", 1, (struct tg_span){"", 0}));
    tg_arena_free(arena);
}

static void answers_are_read_exactly(void **state)
{
    enum { UNREAD = 99 };
    static const struct {
        const char *word, *base_url, *first, *second;
        int64_t quota;
    } cases[] = {
        {"openrouter", "https://openrouter.ai/api/v1",
         "{\"data\":{\"total_credits\":10.5,\"total_usage\":0.25}}", "", 5125000},
        {"openrouter", "https://openrouter.ai/api/v1",
         "{\"data\":{\"total_credits\":1,\"total_usage\":1.000002}}", "", -1},
        {"deepseek", "https://api.deepseek.com",
         "{\"is_available\":true,\"balance_infos\":[{\"currency\":\"CNY\",\"total_balance\":"
         "\"72.00\"},{\"currency\":\"USD\",\"total_balance\":\"3.10\"}]}",
         "", 1550000},
        {"deepseek", "https://api.deepseek.com",
         "{\"balance_infos\":[{\"currency\":\"CNY\",\"total_balance\":\"72.00\"}]}", "", 5000000},
        {"moonshot", "https://api.moonshot.ai/v1", "{\"data\":{\"available_balance\":49.58894}}",
         "", 24794470},
        {"moonshot", "https://api.moonshot.cn/v1", "{\"data\":{\"available_balance\":7.2}}", "",
         500000},
        {"siliconflow", "https://api.siliconflow.com/v1",
         "{\"code\":20000,\"data\":{\"totalBalance\":\"88.00\"}}", "", 44000000},
        {"siliconflow", "https://api.siliconflow.com/v1",
         "{\"code\":50000,\"data\":{\"totalBalance\":\"88.00\"}}", "", UNREAD},
        {"billing", "http://h/v1", "{\"hard_limit_usd\":20}", "{\"total_usage\":1250.5}",
         3747500},
        {"billing", "http://h/v1", "{\"hard_limit_usd\":20}", "{}", UNREAD},
        {"moonshot", "http://h/v1", "{\"data\":{\"available_balance\":-0}}", "", 0},
        {"moonshot", "http://h/v1", "{\"data\":{\"available_balance\":1e400}}", "", UNREAD},
        {"moonshot", "http://h/v1", "{\"data\":{\"available_balance\":true}}", "", UNREAD},
        {"moonshot", "http://h/v1", "{\"data\":{\"available_balance\":\"much\"}}", "", UNREAD},
        {"moonshot", "http://h/v1", "{}", "", UNREAD},
        {"moonshot", "http://h/v1", "", "", UNREAD},
    };
    struct tg_error err;

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        const struct tg_balance_facts facts = {
            .base_url = cases[i].base_url,
            .answers = {{cases[i].first, strlen(cases[i].first)},
                        {cases[i].second, strlen(cases[i].second)}},
            .cny_per_usd = "7.2"};
        int64_t quota = UNREAD;
        enum tg_class class =
            tg_balance_read(tg_balance_find(cases[i].word, cases[i].base_url), &facts, &quota,
                            &err);

        if (class != TG_OK)
            assert_string_equal(err.code, "balance_unknown");
        if (quota != cases[i].quota)
            fail_msg("case %zu: %lld", i, (long long)quota);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_source_is_found_by_word_or_host),
        cmocka_unit_test(only_billing_asks_twice),
        cmocka_unit_test(answers_are_read_exactly),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
