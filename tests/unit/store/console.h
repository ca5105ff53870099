/* console - the cases of unit-console-rows. */
#ifndef TOLLGATE_TESTS_STORE_CONSOLE_H
#define TOLLGATE_TESTS_STORE_CONSOLE_H

#include "tests/unit/store/house.h"

void a_session_is_rotated_by_the_first_who_comes(void **state);
void an_expired_session_is_gone(void **state);
void sessions_are_ended_one_by_one_and_together(void **state);
void a_pat_works_until_it_is_revoked(void **state);
void an_expired_pat_does_not_work(void **state);
void scopes_are_plain_words(void **state);
void attempts_are_counted_by_account_and_address(void **state);
void grants_are_set_and_taken_away(void **state);

void a_person_is_found_by_id_and_name(void **state);
void a_changed_person_raises_authver(void **state);
void bad_changes_of_a_person_leave_nothing_behind(void **state);
void the_last_root_stays(void **state);
void a_changed_token_is_told_as_a_difference(void **state);
void bad_changes_of_a_token_leave_nothing_behind(void **state);
void a_changed_channel_has_new_abilities(void **state);
void bad_changes_of_a_channel_leave_nothing_behind(void **state);
void keys_are_added_replaced_and_switched(void **state);
void no_group_is_named_auto(void **state);
void groups_are_described_used_and_deleted(void **state);
void a_price_is_deleted(void **state);
void the_chain_holds_when_many_write(void **state);

void pages_go_on_behind_the_last_row(void **state);
void users_are_filtered_and_sorted(void **state);
void tokens_are_filtered(void **state);
void channels_are_found_by_what_they_serve(void **state);
void keys_are_listed_without_what_is_sealed(void **state);
void groups_and_their_access_are_listed(void **state);
void prices_are_listed_and_what_has_none(void **state);
void the_audit_log_is_filtered(void **state);
void what_is_no_json_is_shown_as_text(void **state);
void bad_pages_are_refused(void **state);

void requests_are_filtered_by_each_member(void **state);
void requests_are_paged_without_gaps(void **state);
void a_page_looks_at_a_bounded_number_of_rows(void **state);
void requests_are_told_as_csv(void **state);
void usage_is_summed_for_all_and_for_one(void **state);
void usage_is_split_into_parts(void **state);
void percentiles_come_from_the_buckets(void **state);

#endif
