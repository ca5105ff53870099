/* protocol - the four dialects that clients and channels speak.
 *
 * Threads  any.
 */
#ifndef TOLLGATE_CONVERT_PROTOCOL_H
#define TOLLGATE_CONVERT_PROTOCOL_H

enum tg_protocol {
    TG_PROTOCOL_CHAT,
    TG_PROTOCOL_RESPONSES,
    TG_PROTOCOL_MESSAGES,
    TG_PROTOCOL_GEMINI
};
enum { TG_PROTOCOL__COUNT = TG_PROTOCOL_GEMINI + 1 };

const char *tg_protocol_name(enum tg_protocol protocol); /* "chat" */

#endif
