/* The stores on a real database. */
#include "tests/unit/store/house.h"

#define CASE(name) cmocka_unit_test_setup_teardown(name, house_enter, house_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(users_have_one_name_whatever_its_case),
        CASE(bad_users_leave_nothing_behind),
        CASE(a_token_is_found_by_its_fingerprint),
        CASE(a_token_without_limits_allows_all),
        CASE(a_limit_that_cannot_be_read_is_an_error),
        CASE(a_revoked_token_says_so),
        CASE(balances_come_with_their_epoch),
        CASE(credits_wait_for_their_push),
        CASE(bad_credits_leave_nothing_behind),
        CASE(group_access_must_be_allowed),
        CASE(options_are_laid_over_the_conf),
        CASE(options_that_do_not_fit_are_not_stored),
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
        CASE(a_channel_goes_and_comes_back_by_itself),
        CASE(a_channel_with_another_key_stays),
        CASE(what_a_person_has_set_is_left_alone),
        CASE(the_model_for_tests_is_one_that_has_a_name),
        CASE(what_is_known_of_a_channel_wakes_nobody),
        CASE(breakers_of_a_node_are_written_whole),
        CASE(views_are_json_without_secrets),
        CASE(a_request_is_shown_with_its_detail),
    };

    return cmocka_run_group_tests(tests, house_start, house_stop);
}
