#include "admin-cgi/web/gate.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

bool web_gate_is_fastcgi(void)
{
    int listens = 0;
    socklen_t len = sizeof listens;

    return getsockopt(STDIN_FILENO, SOL_SOCKET, SO_ACCEPTCONN, &listens, &len) == 0 &&
           listens != 0;
}

const char *web_gate_param(const struct web_gate *gate, const char *name)
{
    return gate->fcgi != NULL ? tg_fcgi_param(gate->fcgi, name) : getenv(name);
}

const char *web_gate_header(const struct web_gate *gate, const char *name)
{
    char variable[64] = "HTTP_";
    size_t len = strlen(variable);

    for (; *name != '\0' && len < sizeof variable - 1; name++)
        variable[len++] = *name == '-' ? '_' : (char)toupper((unsigned char)*name);
    variable[len] = '\0';
    return web_gate_param(gate, variable);
}

enum tg_class web_gate_read(struct web_gate *gate, void *bytes, size_t room, size_t *ret_len,
                            struct tg_error *err)
{
    ssize_t got;

    if (gate->fcgi != NULL)
        return tg_fcgi_read(gate->fcgi, bytes, room, ret_len, err);
    do
        got = read(STDIN_FILENO, bytes, room);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return tg_fail(err, TG_CLASS_GONE, "client_gone", "the request's body cannot be read");
    *ret_len = (size_t)got;
    return TG_OK;
}

void web_gate_write(struct web_gate *gate, const void *bytes, size_t len)
{
    const char *at = bytes;

    if (gate->fcgi != NULL) {
        (void)tg_fcgi_write(gate->fcgi, bytes, len);
        return;
    }
    while (len > 0 && !gate->failed) {
        ssize_t put = write(STDOUT_FILENO, at, len);

        if (put < 0 && errno == EINTR)
            continue;
        gate->failed = put < 0;
        if (put > 0) {
            at += put;
            len -= (size_t)put;
        }
    }
}
