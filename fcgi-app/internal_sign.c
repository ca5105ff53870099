#include "fcgi-app/internal.h"

#include <stdio.h>
#include <string.h>

enum { CLOCK_SLACK_S = 60, TIME_DIGITS_MOST = 18 };

bool tg_internal_signed(const uint8_t key[TG_KEY_BYTES], const struct tg_internal_call *call)
{
    char text[64];
    uint8_t wanted[TG_HMAC_BYTES], given[TG_HMAC_BYTES];
    int64_t seconds = 0;
    size_t len = call->time != NULL ? strlen(call->time) : 0;
    int text_len;

    if (len == 0 || len > TIME_DIGITS_MOST || call->signature == NULL ||
        strlen(call->signature) != 2 * sizeof given ||
        !tg_unhex(call->signature, sizeof given, given))
        return false;
    for (size_t i = 0; i < len; i++) {
        if (call->time[i] < '0' || call->time[i] > '9')
            return false;
        seconds = seconds * 10 + (call->time[i] - '0');
    }
    if (seconds < call->now_s - CLOCK_SLACK_S || seconds > call->now_s + CLOCK_SLACK_S)
        return false;
    text_len = snprintf(text, sizeof text, "channel-test:%lld:%lld", (long long)call->channel_id,
                        (long long)seconds);
    tg_hmac(key, text, (size_t)text_len, wanted);
    return tg_equal_constant_time(wanted, given, sizeof wanted);
}
