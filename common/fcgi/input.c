#include "common/fcgi/input.h"

#include "common/base/clock.h"
#include "common/base/memory.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { INPUT_BYTES = 8 * 1024 };

void tg_fcgi_input_init(struct tg_fcgi_input *input, int stop_fd)
{
    *input = (struct tg_fcgi_input){.fd = -1, .stop_fd = stop_fd};
    tg_fcgi_records_init(&input->records);
}

void tg_fcgi_input_rest(struct tg_fcgi_input *input)
{
    if (tg_fcgi_input_has(input))
        return;
    free(input->bytes);
    input->bytes = NULL;
    input->at = input->len = 0;
}

void tg_fcgi_input_close(struct tg_fcgi_input *input)
{
    if (input->fd >= 0)
        close(input->fd);
    input->fd = -1;
    input->at = input->len = 0;
    input->broken = false;
    tg_fcgi_input_rest(input);
    tg_fcgi_records_done(&input->records);
    tg_fcgi_records_init(&input->records);
}

bool tg_fcgi_input_has(const struct tg_fcgi_input *input)
{
    return input->at < input->len;
}

/* Waits until there is something to read. */
static enum tg_fcgi_awaited wait_for(const struct tg_fcgi_input *input, int64_t deadline_at_us)
{
    struct pollfd look[2] = {{.fd = input->fd, .events = POLLIN},
                             {.fd = input->stop_fd, .events = POLLIN}};
    int64_t left_us = deadline_at_us - tg_now_us();

    if (left_us <= 0)
        return TG_FCGI_LATE;
    left_us = TG_MIN(left_us, INT64_C(3600000000));
    if (poll(look, 2, (int)((left_us + 999) / 1000)) < 0)
        return errno == EINTR ? TG_FCGI_CAME : TG_FCGI_LOST;
    return look[1].revents != 0 ? TG_FCGI_STOPPED : TG_FCGI_CAME;
}

static enum tg_fcgi_awaited fill(struct tg_fcgi_input *input, int64_t deadline_at_us)
{
    if (input->bytes == NULL)
        input->bytes = tg_malloc(INPUT_BYTES);
    for (;;) {
        ssize_t got = recv(input->fd, input->bytes, INPUT_BYTES, MSG_DONTWAIT);
        enum tg_fcgi_awaited waited;

        if (got > 0) {
            input->at = 0;
            input->len = (size_t)got;
            return TG_FCGI_CAME;
        }
        if (got == 0)
            return TG_FCGI_CLOSED;
        if (errno != EAGAIN && errno != EINTR)
            return TG_FCGI_LOST;
        waited = wait_for(input, deadline_at_us);
        if (waited != TG_FCGI_CAME)
            return waited;
    }
}

/* What is owed is small and rare: a peer that does not take it is no web server. */
void tg_fcgi_input_reply(struct tg_fcgi_input *input)
{
    struct tg_buf *reply = &input->records.reply;

    if (reply->len > 0 &&
        send(input->fd, reply->data, reply->len, MSG_NOSIGNAL | MSG_DONTWAIT) !=
            (ssize_t)reply->len)
        input->broken = true;
    tg_buf_reset(reply);
}

/* The next event of what has been read already. */
static enum tg_fcgi_event next_event(struct tg_fcgi_input *input, struct tg_span *piece)
{
    size_t used;
    enum tg_fcgi_event event = tg_fcgi_records_feed(&input->records, input->bytes + input->at,
                                                    input->len - input->at, &used, piece);

    input->at += used;
    tg_fcgi_input_reply(input);
    if (event == TG_FCGI_REFUSED)
        input->broken = true;
    return event;
}

enum tg_fcgi_awaited tg_fcgi_input_await(struct tg_fcgi_input *input, int64_t deadline_at_us,
                                         enum tg_fcgi_event *ret, struct tg_span *piece)
{
    for (;;) {
        enum tg_fcgi_awaited awaited;

        *ret = tg_fcgi_input_has(input) ? next_event(input, piece) : TG_FCGI_MORE;
        if (input->broken)
            return TG_FCGI_LOST;
        if (*ret != TG_FCGI_MORE)
            return TG_FCGI_CAME;
        awaited = fill(input, deadline_at_us);
        if (awaited != TG_FCGI_CAME)
            return awaited;
    }
}
