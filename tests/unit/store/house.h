/* house - the parts of unit-store share one migrated database, emptied before each case. */
#ifndef TOLLGATE_TESTS_STORE_HOUSE_H
#define TOLLGATE_TESTS_STORE_HOUSE_H

#include "common/base/arena.h"
#include "common/crypto/crypto.h"
#include "common/store/change.h"
#include "tests/unit/lib/schema.h"
#include "tests/unit/unit.h"

struct house {
    struct test_mariadb *server;
    struct tg_db_pool *pool;
    struct tg_db *db;
    struct tg_arena *arena;
    struct tg_actor actor;
    struct tg_error err;
    uint8_t seal_public[TG_KEY_BYTES], seal_private[TG_KEY_BYTES];
};

int house_start(void **state);
int house_stop(void **state);
int house_enter(void **state); /* before each case */
int house_leave(void **state);

int64_t house_user(struct house *house, const char *name);
/* A channel for gpt-a and GPT-A in groups default and vip; key "sk-upstream-0123456789". */
int64_t house_channel(struct house *house, const char *name);

void users_have_one_name_whatever_its_case(void **state);
void bad_users_leave_nothing_behind(void **state);
void a_token_is_found_by_its_fingerprint(void **state);
void a_token_without_limits_allows_all(void **state);
void a_limit_that_cannot_be_read_is_an_error(void **state);
void a_revoked_token_says_so(void **state);
void balances_come_with_their_epoch(void **state);
void credits_wait_for_their_push(void **state);
void bad_credits_leave_nothing_behind(void **state);
void group_access_must_be_allowed(void **state);
void options_are_laid_over_the_conf(void **state);
void options_that_do_not_fit_are_not_stored(void **state);

void a_channel_brings_its_abilities(void **state);
void its_key_opens_with_the_identity_of_its_row_only(void **state);
void a_disabled_channel_is_not_read_for_routing(void **state);
void bad_channels_leave_nothing_behind(void **state);
void prices_round_trip_and_are_replaced_whole(void **state);
void every_form_of_price_round_trips(void **state);
void an_import_is_whole_or_nothing(void **state);
void ratios_round_trip(void **state);
void every_change_is_in_the_audit_chain(void **state);
void a_changed_audit_row_breaks_the_chain(void **state);
void a_channel_goes_and_comes_back_by_itself(void **state);
void a_channel_with_another_key_stays(void **state);
void what_a_person_has_set_is_left_alone(void **state);
void the_model_for_tests_is_one_that_has_a_name(void **state);
void what_is_known_of_a_channel_wakes_nobody(void **state);
void breakers_of_a_node_are_written_whole(void **state);

void views_are_json_without_secrets(void **state);
void a_request_is_shown_with_its_detail(void **state);

#endif
