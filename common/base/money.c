#include "common/base/money.h"

#include <stdio.h>

bool tg_usd_parse(const char *text, int64_t *ret_quota)
{
    const int64_t micro_limit = TG_QUOTA_MAX * 2;
    bool negative = *text == '-', any = false;
    int64_t micro = 0, place = 100000;

    if (*text == '-' || *text == '+')
        text++;
    for (; *text >= '0' && *text <= '9'; text++, any = true) {
        micro = micro * 10 + (*text - '0');
        if (micro > micro_limit / 1000000)
            return false;
    }
    micro *= 1000000;
    if (*text == '.')
        for (text++; *text >= '0' && *text <= '9'; text++, any = true, place /= 10) {
            if (place == 0 && *text != '0')
                return false;
            micro += (*text - '0') * place;
        }
    if (!any || *text != '\0' || micro % 2 != 0 || micro > micro_limit)
        return false;
    *ret_quota = (negative ? -micro : micro) / 2; /* a quota is two millionths of a dollar */
    return true;
}

void tg_usd_format(int64_t quota, char text[TG_USD_TEXT])
{
    uint64_t size = quota < 0 ? 0 - (uint64_t)quota : (uint64_t)quota;

    snprintf(text, TG_USD_TEXT, "%s%llu.%06llu", quota < 0 ? "-" : "",
             (unsigned long long)(size / TG_QUOTA_PER_USD),
             (unsigned long long)(size % TG_QUOTA_PER_USD * 2));
}
