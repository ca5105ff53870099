#include "fcgi-app/access/carrier.h"

#include "common/crypto/crypto.h"
#include "fcgi-app/pool/intake.h"

#include <string.h>
#include <strings.h>

enum { PIN_DIGITS_MOST = 18 };

static const char *skip_blanks(const char *text)
{
    while (*text == ' ' || *text == '\t')
        text++;
    return text;
}

/* "Bearer T", "bearer T" or "T". */
static const char *bare(const char *text)
{
    text = skip_blanks(text);
    if (strncasecmp(text, "Bearer", 6) == 0 && (text[6] == ' ' || text[6] == '\t'))
        text = skip_blanks(text + 6);
    return text;
}

/* The token and its pin in one carrier's text. */
static bool take(const char *text, struct tg_carried *ret)
{
    size_t len, token_len;
    int64_t pin = 0;
    const char *dash;

    if (text == NULL)
        return false;
    text = bare(text);
    for (len = strlen(text); len > 0 && (text[len - 1] == ' ' || text[len - 1] == '\t'); len--)
        continue;
    token_len = len;
    dash = memrchr(text, '-', len);
    if (dash != NULL && dash - text > 2) { /* not the one of "sk-" */
        size_t digits = len - (size_t)(dash + 1 - text);

        if (digits == 0 || digits > PIN_DIGITS_MOST)
            return false;
        for (const char *at = dash + 1; at < text + len; at++) {
            if (*at < '0' || *at > '9')
                return false;
            pin = pin * 10 + (*at - '0');
        }
        token_len = (size_t)(dash - text);
    }
    if (!tg_token_shape_ok(text, token_len))
        return false;
    *ret = (struct tg_carried){.token = {text, token_len}, .pinned_channel_id = pin};
    return true;
}

/* The value of ?key=, decoded; NULL when there is none. */
static const char *query_key(struct tg_arena *arena, const char *query)
{
    while (query != NULL && *query != '\0') {
        size_t len = strcspn(query, "&");

        if (len >= 4 && memcmp(query, "key=", 4) == 0)
            return tg_intake_decode(arena, query + 4, len - 4);
        query += len;
        query += *query == '&';
    }
    return NULL;
}

static bool may_be_elsewhere(const char *authorization)
{
    const char *text = authorization != NULL ? bare(authorization) : "";

    return *text == '\0' || strcmp(text, "midjourney-proxy") == 0 ||
           strcasecmp(text, "Bearer") == 0;
}

bool tg_carrier_token(struct tg_arena *arena, const struct tg_carriers *carriers,
                      struct tg_carried *ret)
{
    return take(carriers->x_api_key, ret) || take(carriers->x_goog_api_key, ret) ||
           take(query_key(arena, carriers->query), ret) || take(carriers->authorization, ret) ||
           (may_be_elsewhere(carriers->authorization) && take(carriers->mj_api_secret, ret));
}
