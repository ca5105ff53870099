/* The table of addresses that channels may and may not reach. */
#include "tests/unit/unit.h"

#include "common/http/address.h"
#include "common/http/url.h"

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

static void some_are_refused_whatever_is_allowed(void **state)
{
    static const char *const addresses[] = {
        "169.254.169.254", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::1",
        "fe80::1",         "0.0.0.0",                "::",                 "100.100.100.200",
        "fd00:ec2::254",   "224.0.0.1",              "ff02::1",            "255.255.255.255",
    };
    struct tg_cidr all[2];

    (void)state;
    assert_true(tg_cidr_parse("0.0.0.0/0", &all[0]));
    assert_true(tg_cidr_parse("::/0", &all[1]));
    for (size_t i = 0; i < TG_COUNT_OF(addresses); i++) {
        struct tg_address address;

        assert_true(tg_address_parse(addresses[i], &address));
        if (tg_address_may_reach(&address, all, 2))
            fail_msg("%s can be opened", addresses[i]);
    }
}

/* S1 as it is written: what a URL says, what comes of it with and without 127.0.0.0/8 allowed. */
enum { FORM = 1, SHUT, OPEN };
static const struct {
    const char *url;
    int alone, allowed;
} urls[] = {
    {"https://api.openai.com/v1", OPEN, OPEN},
    {"http://api.openai.com:8080", OPEN, OPEN},
    {"HTTPS://API.OPENAI.COM/v1", OPEN, OPEN},
    {"https://8.8.8.8/v1", OPEN, OPEN},
    {"https://[2606:4700::1111]:443/v1", OPEN, OPEN},
    {"http://127.0.0.1:6379/", SHUT, OPEN},
    {"http://127.1/", SHUT, OPEN},
    {"http://0177.0.0.1/", SHUT, OPEN},
    {"http://0x7f000001/", SHUT, OPEN},
    {"http://0x7f.1/", SHUT, OPEN},
    {"http://2130706433/", SHUT, OPEN},
    {"http://127.0.0.1./", SHUT, OPEN},
    {"http://localhost:6379/", SHUT, OPEN},
    {"http://LOCALHOST./", SHUT, OPEN},
    {"http://x.localhost/", SHUT, OPEN},
    {"http://[::ffff:127.0.0.1]/", SHUT, OPEN},
    {"http://[::ffff:7f00:1]/", SHUT, OPEN},
    {"http://[64:ff9b::7f00:1]/", SHUT, OPEN},
    {"http://[::1]/", SHUT, SHUT},
    {"http://10.0.0.5/", SHUT, SHUT},
    {"http://169.254.169.254/latest/meta-data", SHUT, SHUT},
    {"http://2852039166/", SHUT, SHUT},
    {"http://[::ffff:169.254.169.254]/", SHUT, SHUT},
    {"http://0/", SHUT, SHUT},
    {"http://[fe80::1]/", SHUT, SHUT},
    {"http://[fe80::1%25eth0]/", FORM, FORM},
    {"http://127.0.0.1.nip.io/", OPEN, OPEN}, /* a name: refused at the socket */
    {"http://metadata.google.internal/", OPEN, OPEN},
    {"http://u:p@10.0.0.1/", FORM, FORM},
    {"http://api.openai.com@127.0.0.1/", FORM, FORM},
    {"file:///etc/passwd", FORM, FORM},
    {"gopher://127.0.0.1:6379/_x", FORM, FORM},
    {"ftp://example.com/", FORM, FORM},
    {"dict://127.0.0.1:6379/", FORM, FORM},
    {"//example.com/", FORM, FORM},
    {"http://", FORM, FORM},
    {"http:///v1", FORM, FORM},
    {"http://:80/", FORM, FORM},
    {"http://a b/", FORM, FORM},
    {"http://a\r\nHost: x/", FORM, FORM},
    {"http://a/?x=1", FORM, FORM},
    {"http://a/#x", FORM, FORM},
    {"http://a:0/", FORM, FORM},
    {"http://a:65536/", FORM, FORM},
    {"http://a:80:80/", FORM, FORM},
    {"http://a:-1/", FORM, FORM},
    {"http://[::1/", FORM, FORM},
    {"http://[127.0.0.1]/", FORM, FORM},
    {"http://[::1]x/", FORM, FORM},
    {"http://%31%32%37.0.0.1/", FORM, FORM},
    {"http://\xef\xbc\x91\xef\xbc\x92\xef\xbc\x97.0.0.1/", FORM, FORM},
    {"http://a\\@b/", FORM, FORM},
};

static void urls_are_read_as_resolvers_read_them(void **state)
{
    struct tg_cidr loopback;

    (void)state;
    assert_true(tg_cidr_parse("127.0.0.0/8", &loopback));
    for (size_t i = 0; i < TG_COUNT_OF(urls); i++) {
        for (int allowed = 0; allowed < 2; allowed++) {
            struct tg_error err = {0};
            enum tg_class class =
                tg_url_check_reach(urls[i].url, &loopback, (size_t)allowed, &err);
            int got = class == TG_OK                           ? OPEN
                      : strcmp(err.code, "address_refused") == 0 ? SHUT
                                                               : FORM;

            if (got != (allowed ? urls[i].allowed : urls[i].alone))
                fail_msg("%s, allowed %d: %s", urls[i].url, allowed, err.message);
        }
    }
    assert_int_equal(tg_url_check("http://127.0.0.1/", NULL), TG_OK);
    assert_int_equal(tg_url_check("http://2852039166/", NULL), TG_CLASS_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(special_addresses_are_refused_in_all_their_forms),
        cmocka_unit_test(an_operators_range_opens_exactly_itself),
        cmocka_unit_test(some_are_refused_whatever_is_allowed),
        cmocka_unit_test(urls_are_read_as_resolvers_read_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
