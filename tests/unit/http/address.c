/* The table of addresses that channels may and may not reach. */
#include "tests/unit/unit.h"

#include "common/http/address.h"

static void special_addresses_are_refused_in_all_their_forms(void **state)
{
    static const struct {
        const char *address;
        bool reach;
    } cases[] = {
        {"8.8.8.8", true},          {"1.1.1.1", true},        {"9.255.255.255", true},
        {"0.0.0.0", false},         {"0.1.2.3", false},       {"10.0.0.1", false},
        {"100.63.255.255", true},   {"100.64.0.0", false},    {"100.127.255.255", false},
        {"100.128.0.0", true},      {"127.0.0.1", false},     {"127.255.255.254", false},
        {"169.254.169.254", false}, {"172.15.0.1", true},     {"172.16.0.1", false},
        {"172.31.255.255", false},  {"172.32.0.1", true},     {"192.0.0.8", false},
        {"192.0.2.7", false},       {"192.88.99.1", false},   {"192.168.1.1", false},
        {"192.169.1.1", true},      {"198.17.0.1", true},     {"198.18.0.1", false},
        {"198.19.255.255", false},  {"198.20.0.1", true},     {"198.51.100.1", false},
        {"203.0.113.9", false},     {"223.255.255.255", true}, {"224.0.0.1", false},
        {"239.255.255.255", false}, {"240.0.0.1", false},     {"255.255.255.255", false},
        {"::", false},              {"::1", false},           {"::7f00:1", false},
        {"::ffff:10.0.0.1", false}, {"::ffff:8.8.8.8", true}, {"64:ff9b::a00:1", false},
        {"64:ff9b::808:808", true}, {"64:ff9b:1::808:808", false}, {"2002:a00:1::", false},
        {"2002:7f00:1::1", false},  {"2002:808:808::1", true}, {"2001:0:4136:e378::", false},
        {"2001:10::1", false},      {"2001:200::1", true},    {"2001:db8::1", false},
        {"2606:4700::1111", true},  {"3fff::1", false},       {"3fff:1000::1", true},
        {"100::1", false},          {"fc00::1", false},       {"fdff::1", false},
        {"fe80::1", false},         {"fec0::1", false},       {"ff02::1", false},
        {"4000::1", false},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        struct tg_address address;

        assert_true(tg_address_parse(cases[i].address, &address));
        if (tg_address_may_reach(&address, NULL, 0) != cases[i].reach)
            fail_msg("%s: expected %d", cases[i].address, cases[i].reach);
    }
}

static void an_operators_range_opens_exactly_itself(void **state)
{
    static const struct {
        const char *range, *address;
        bool reach;
    } cases[] = {
        {"127.0.0.0/8", "127.0.0.1", true},       {"127.0.0.0/8", "::ffff:127.0.0.1", true},
        {"127.0.0.0/8", "::1", false},            {"::1/128", "::1", true},
        {"::1/128", "127.0.0.1", false},          {"10.1.0.0/16", "10.1.255.255", true},
        {"10.1.0.0/16", "10.2.0.0", false},       {"10.1.0.0/16", "64:ff9b::a01:1", true},
        {"fd00::/8", "fd12::1", true},            {"fd00::/8", "fc00::1", false},
        {"192.168.7.9/32", "192.168.7.9", true},  {"192.168.7.9/32", "192.168.7.8", false},
        {"10.0.0.0/8", "8.8.8.8", true},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        struct tg_address address;
        struct tg_cidr range;

        assert_true(tg_cidr_parse(cases[i].range, &range));
        assert_true(tg_address_parse(cases[i].address, &address));
        if (tg_address_may_reach(&address, &range, 1) != cases[i].reach)
            fail_msg("%s in %s: expected %d", cases[i].address, cases[i].range, cases[i].reach);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(special_addresses_are_refused_in_all_their_forms),
        cmocka_unit_test(an_operators_range_opens_exactly_itself),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
