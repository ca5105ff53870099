/* The text form of entries, as the spool and offline rows keep it. */
#include "tests/unit/unit.h"

#include "common/ledger/entry.h"

static struct tg_span span(const char *text)
{
    return (struct tg_span){text, strlen(text)};
}

static struct tg_entry charge(int64_t amount)
{
    return (struct tg_entry){.id = tg_id_new(),
                             .kind = TG_ENTRY_CHARGE,
                             .user_id = 7,
                             .token_id = 8,
                             .channel_id = 9,
                             .funding = {10},
                             .amount_quota = amount,
                             .token_unlimited = -1,
                             .record = span("{\"log\":{\"a\":\"b\\n\"},\"detail\":{}}")};
}

static void assert_same(const struct tg_entry *a, const struct tg_entry *b)
{
    assert_memory_equal(&a->id, &b->id, sizeof a->id);
    assert_int_equal(a->kind, b->kind);
    assert_true(a->user_id == b->user_id && a->token_id == b->token_id &&
                a->channel_id == b->channel_id && a->funding.plan_id == b->funding.plan_id);
    assert_true(a->amount_quota == b->amount_quota);
    assert_true(a->token_delta_quota == b->token_delta_quota && a->authver == b->authver);
    assert_int_equal(a->token_unlimited, b->token_unlimited);
    assert_true(a->funding.plan_id == b->funding.plan_id && a->grant_quota == b->grant_quota);
    assert_int_equal(a->funding.period, b->funding.period);
    assert_int_equal(a->record.len, b->record.len);
    if (a->record.len > 0)
        assert_memory_equal(a->record.ptr, b->record.ptr, a->record.len);
}

static void entries_survive_their_text(void **state)
{
    struct tg_entry cases[6];
    struct tg_arena *arena = tg_arena_new();
    struct tg_buf text;

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        cases[i] = charge(INT64_C(-9000000000000000) + (int64_t)i);
        cases[i].kind = (enum tg_entry_kind)i;
    }
    cases[TG_ENTRY_CREDIT].record = (struct tg_span){NULL, 0};
    cases[TG_ENTRY_ADJUST].token_delta_quota = -5;
    cases[TG_ENTRY_ADJUST].token_unlimited = 1;
    cases[TG_ENTRY_ADJUST].authver = 12;
    cases[TG_ENTRY_RESET].funding = (struct tg_funding){.plan_id = 9, .period = 3};
    cases[TG_ENTRY_RESET].grant_quota = 700;
    tg_buf_init(&text, 0);
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        struct tg_entry back;

        tg_buf_reset(&text);
        tg_entry_encode(&cases[i], &text);
        assert_null(strchr(text.data, '\n'));
        assert_int_equal(tg_entry_decode(text.data, text.len, arena, &back, NULL), TG_OK);
        assert_same(&cases[i], &back);
    }
    tg_buf_done(&text);
    tg_arena_free(arena);
}

static void a_records_line_breaks_become_blanks(void **state)
{
    struct tg_entry entry = charge(1), back;
    struct tg_arena *arena = tg_arena_new();
    struct tg_buf text;

    (void)state;
    entry.record = span("{\n\"a\":\r1}");
    tg_buf_init(&text, 0);
    tg_entry_encode(&entry, &text);
    assert_int_equal(tg_entry_decode(text.data, text.len, arena, &back, NULL), TG_OK);
    assert_memory_equal(back.record.ptr, "{ \"a\": 1}", back.record.len);
    tg_buf_done(&text);
    tg_arena_free(arena);
}

#define ID "\"id\":\"01890a5d-ac96-774b-bcce-b302099a8057\","
#define REST "\"user_id\":1,\"token_id\":2,\"channel_id\":0,\"plan_id\":0"

static void bad_texts_are_refused(void **state)
{
    static const struct {
        const char *text, *bad;
    } cases[] = {
        {"{" ID "\"kind\":\"charge\"," REST ",\"amount_quota\":5}", NULL},
        {"{\"kind\":\"charge\"," REST ",\"amount_quota\":5}", "'id'"},
        {"{\"id\":\"x\",\"kind\":\"charge\"," REST ",\"amount_quota\":5}", "'id'"},
        {"{" ID "\"kind\":\"gift\"," REST ",\"amount_quota\":5}", "'kind'"},
        {"{" ID "\"kind\":\"charge\"," REST "}", "'amount_quota'"},
        {"{" ID "\"kind\":\"charge\"," REST ",\"amount_quota\":\"5\"}", "'amount_quota'"},
        {"{" ID "\"kind\":\"charge\"," REST ",\"amount_quota\":9000000000000001}", "'amount"},
        {"{" ID "\"kind\":\"charge\",\"user_id\":-1,\"token_id\":2,\"channel_id\":0,"
         "\"plan_id\":0,\"amount_quota\":5}",
         "'user_id'"},
        {"{" ID "\"kind\":\"adjust\"," REST ",\"amount_quota\":0}", "'token_delta_quota'"},
        {"{" ID "\"kind\":\"adjust\"," REST ",\"amount_quota\":0,\"token_delta_quota\":0,"
         "\"token_unlimited\":2,\"authver\":0}",
         "'token_unlimited'"},
        {"[1]", "'id'"},
        {"{", ""},
    };
    struct tg_arena *arena = tg_arena_new();
    struct tg_entry entry;
    struct tg_error err;

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(cases); i++) {
        enum tg_class class =
            tg_entry_decode(cases[i].text, strlen(cases[i].text), arena, &entry, &err);

        if (class != (cases[i].bad == NULL ? TG_OK : TG_CLASS_INVALID) ||
            (class != TG_OK && strstr(err.message, cases[i].bad) == NULL))
            fail_msg("%s", cases[i].text);
    }
    tg_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_survive_their_text),
        cmocka_unit_test(a_records_line_breaks_become_blanks),
        cmocka_unit_test(bad_texts_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
