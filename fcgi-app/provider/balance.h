/* balance - where a provider says what is left of an account, and how its answer is read. Pure.
 *
 *   openrouter   GET {base}/credits            data.total_credits - data.total_usage
 *   deepseek     GET {origin}/user/balance     total_balance of the entry in USD, else in CNY
 *   moonshot     GET {base}/users/me/balance   data.available_balance (api.moonshot.cn: CNY)
 *   siliconflow  GET {base}/user/info          data.totalBalance (api.siliconflow.cn: CNY)
 *   billing      GET {base}/dashboard/billing/subscription, then /usage: hard_limit_usd less
 *                total_usage, which is in cents; what many gateways in OpenAI's dialect offer
 *
 * A channel names one of these words, or "none"; by "" it is found by the base URL's host, and
 * hosts that are not known have none.
 *
 * Errors   TG_CLASS_UPSTREAM "balance_unknown": the answer does not say it.
 * Threads  any.
 */
#ifndef TOLLGATE_PROVIDER_BALANCE_H
#define TOLLGATE_PROVIDER_BALANCE_H

#include "common/base/arena.h"
#include "common/base/error.h"

struct tg_balance_source;

/* NULL: it has none. */
const struct tg_balance_source *tg_balance_find(const char *word, const char *base_url) must_check
    non_null(1, 2);
/* The call number <step> (0, 1), NULL behind the last one. <first>: what the first one answered. */
const char *tg_balance_url(const struct tg_balance_source *source, struct tg_arena *arena,
                           const char *base_url, int step, struct tg_span first) must_check
    non_null(1, 2, 3);
struct tg_balance_facts {
    const char *base_url;
    struct tg_span answers[2]; /* of the steps */
    const char *cny_per_usd;   /* a decimal */
};
/* In quota. */
enum tg_class tg_balance_read(const struct tg_balance_source *source,
                              const struct tg_balance_facts *facts, int64_t *ret_quota,
                              struct tg_error *err) must_check non_null(1, 2, 3, 4);

#endif
