#include "common/conf/node.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

void tg_conf_node(const struct tg_conf *conf, char ret[TG_NODE_TEXT])
{
    char host[256];
    const char *name = tg_conf_text(conf, TG_OPTION_NODE_NAME);

    if (name[0] == '\0') {
        if (gethostname(host, sizeof host) != 0 || host[0] == '\0')
            snprintf(host, sizeof host, "node");
        host[sizeof host - 1] = '\0';
        name = host;
    }
    snprintf(ret, TG_NODE_TEXT, "%.*s", TG_NODE_TEXT - 1, name);
    for (char *at = ret; *at != '\0'; at++)
        if (*at <= ' ' || *at == 0x7f)
            *at = '_';
}
