#include "fcgi-app/convert/protocol.h"

const char *tg_protocol_name(enum tg_protocol protocol)
{
    static const char *const names[] = {
        [TG_PROTOCOL_CHAT] = "chat",
        [TG_PROTOCOL_RESPONSES] = "responses",
        [TG_PROTOCOL_MESSAGES] = "messages",
        [TG_PROTOCOL_GEMINI] = "gemini",
    };

    return names[protocol];
}
