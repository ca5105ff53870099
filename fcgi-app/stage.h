/* stage - the words of a request's course: its stages, a stage's verdict, a stream's end.
 *
 * Threads  any.
 */
#ifndef TOLLGATE_STAGE_H
#define TOLLGATE_STAGE_H

/* Stages in the order of a request; the same order is used by the stage table, the sources in
 * local.mk and the timers in the record. */
enum tg_stage {
    TG_STAGE_ACCEPT,
    TG_STAGE_ENDPOINT,
    TG_STAGE_ACCESS,
    TG_STAGE_RATE,
    TG_STAGE_BODY,
    TG_STAGE_SESSION,
    TG_STAGE_SCREEN,
    TG_STAGE_RULES,
    TG_STAGE_ESTIMATE,
    TG_STAGE_QUOTA,
    TG_STAGE_RESERVE,
    TG_STAGE_RELAY, /* the attempt loop: select, convert, provider, transfer, stream engine */
    TG_STAGE_SETTLE,
    TG_STAGE_RECORD,
    TG_STAGE_REMEMBER,
    TG_STAGE__COUNT
};

enum tg_verdict {
    TG_NEXT,   /* go on with the next stage */
    TG_ANSWER, /* the answer is known: req->error is set, or req->tail holds it */
    TG_AGAIN,  /* the credential is to be read again first */
    TG_GONE    /* the client has left */
};

/* Why a stream ended; the first reason set wins. */
enum tg_end_reason {
    TG_END_NONE,
    TG_END_DONE,
    TG_END_TIMEOUT,
    TG_END_CLIENT_GONE,
    TG_END_SCANNER_ERROR,
    TG_END_HANDLER_STOP,
    TG_END_EOF,
    TG_END_INTERNAL,
    TG_END_PING_FAIL,
    TG_END__COUNT
};

const char *tg_stage_name(enum tg_stage stage);
const char *tg_end_reason_name(enum tg_end_reason reason);

#endif
