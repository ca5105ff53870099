#include "fcgi-app/stage.h"

const char *tg_stage_name(enum tg_stage stage)
{
    static const char *const names[] = {
        [TG_STAGE_ACCEPT] = "accept",     [TG_STAGE_ENDPOINT] = "endpoint",
        [TG_STAGE_ACCESS] = "access",     [TG_STAGE_RATE] = "rate",
        [TG_STAGE_BODY] = "body",         [TG_STAGE_SESSION] = "session",
        [TG_STAGE_SCREEN] = "screen",     [TG_STAGE_RULES] = "rules",
        [TG_STAGE_ESTIMATE] = "estimate", [TG_STAGE_QUOTA] = "quota",
        [TG_STAGE_RESERVE] = "reserve",   [TG_STAGE_RELAY] = "relay",
        [TG_STAGE_SETTLE] = "settle",     [TG_STAGE_RECORD] = "record",
        [TG_STAGE_REMEMBER] = "remember",
    };

    return names[stage];
}

const char *tg_end_reason_name(enum tg_end_reason reason)
{
    static const char *const names[] = {
        [TG_END_NONE] = "none",
        [TG_END_DONE] = "done",
        [TG_END_TIMEOUT] = "timeout",
        [TG_END_CLIENT_GONE] = "client_gone",
        [TG_END_SCANNER_ERROR] = "scanner_error",
        [TG_END_HANDLER_STOP] = "handler_stop",
        [TG_END_EOF] = "eof",
        [TG_END_INTERNAL] = "internal",
        [TG_END_PING_FAIL] = "ping_fail",
    };

    return names[reason];
}
