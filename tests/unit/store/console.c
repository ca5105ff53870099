/* The console's rows on a real database. */
#include "tests/unit/store/console.h"

#define CASE(name) cmocka_unit_test_setup_teardown(name, house_enter, house_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_session_is_rotated_by_the_first_who_comes),
        CASE(an_expired_session_is_gone),
        CASE(sessions_are_ended_one_by_one_and_together),
        CASE(a_pat_works_until_it_is_revoked),
        CASE(an_expired_pat_does_not_work),
        CASE(scopes_are_plain_words),
        CASE(attempts_are_counted_by_account_and_address),
        CASE(grants_are_set_and_taken_away),
        CASE(a_person_is_found_by_id_and_name),
        CASE(a_changed_person_raises_authver),
        CASE(bad_changes_of_a_person_leave_nothing_behind),
        CASE(the_last_root_stays),
        CASE(a_changed_token_is_told_as_a_difference),
        CASE(bad_changes_of_a_token_leave_nothing_behind),
        CASE(a_changed_channel_has_new_abilities),
        CASE(bad_changes_of_a_channel_leave_nothing_behind),
        CASE(keys_are_added_replaced_and_switched),
        CASE(no_group_is_named_auto),
        CASE(groups_are_described_used_and_deleted),
        CASE(a_price_is_deleted),
        CASE(the_chain_holds_when_many_write),
        CASE(pages_go_on_behind_the_last_row),
        CASE(users_are_filtered_and_sorted),
        CASE(tokens_are_filtered),
        CASE(channels_are_found_by_what_they_serve),
        CASE(keys_are_listed_without_what_is_sealed),
        CASE(groups_and_their_access_are_listed),
        CASE(prices_are_listed_and_what_has_none),
        CASE(the_audit_log_is_filtered),
        CASE(what_is_no_json_is_shown_as_text),
        CASE(bad_pages_are_refused),
        CASE(requests_are_filtered_by_each_member),
        CASE(requests_are_paged_without_gaps),
        CASE(a_page_looks_at_a_bounded_number_of_rows),
        CASE(requests_are_told_as_csv),
        CASE(usage_is_summed_for_all_and_for_one),
        CASE(usage_is_split_into_parts),
        CASE(percentiles_come_from_the_buckets),
    };

    return cmocka_run_group_tests(tests, house_start, house_stop);
}
