/* The words with which vendors refuse a key or an account. */
#include "fcgi-app/relay/key_verdict.h"

#include <string.h>
#include <strings.h>

/* Codes and types. */
static const char *const money_codes[] = {
    "insufficient_quota",         "insufficient_balance",   "insufficient_user_quota",
    "billing_hard_limit_reached", "billing_error",          "billing_not_active",
    "credit_balance_too_low",     "quota_exhausted",        "insufficient_credits",
};
static const char *const key_codes[] = {
    "invalid_api_key",      "api_key_invalid",         "incorrect_api_key",
    "account_deactivated",  "account_suspended",       "authentication_error",
    "unauthenticated",      "key_expired",             "organization_restricted",
    "access_terminated",
};

/* Phrases in messages, lower case. Each names the account or the key, so that a refusal for the
 * model, the region or the content does not match. */
static const char *const money_phrases[] = {
    "credit balance is too low",  "exceeded your current quota", "check your plan and billing",
    "insufficient balance",       "insufficient credits",        "billing hard limit",
    "quota exhausted",            "account is not active",
};
static const char *const key_phrases[] = {
    "api key not valid",          "invalid api key",           "incorrect api key",
    "api key expired",            "api_key_invalid",           "invalid x-api-key",
    "organization has been disabled", "account has been disabled",
    "account has been deactivated",   "account has been suspended",
    "api key has been disabled",  "api key is disabled",
};

static bool is_listed(const char *word, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcasecmp(word, list[i]) == 0)
            return true;
    return false;
}

static bool holds_one(const char *message, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcasestr(message, list[i]) != NULL)
            return true;
    return false;
}

bool tg_error_says_money(const struct tg_error *error)
{
    /* One vendor's word for every 429, with "check your plan and billing" in each. */
    if (error->status == 429 && strcmp(error->type, "RESOURCE_EXHAUSTED") == 0)
        return false;
    return is_listed(error->code, money_codes, TG_COUNT_OF(money_codes)) ||
           is_listed(error->type, money_codes, TG_COUNT_OF(money_codes)) ||
           holds_one(error->message, money_phrases, TG_COUNT_OF(money_phrases));
}

bool tg_error_says_bad_key(const struct tg_error *error)
{
    return is_listed(error->code, key_codes, TG_COUNT_OF(key_codes)) ||
           is_listed(error->type, key_codes, TG_COUNT_OF(key_codes)) ||
           holds_one(error->message, key_phrases, TG_COUNT_OF(key_phrases));
}
