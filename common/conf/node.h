/* node - the name of this machine in the books: node.name, else the host name.
 *
 * Workers and daemon of one machine must say the same: a hold names the node that took it, and only
 * that node's daemon ends it. It is one word, since it is a word of the hold's text.
 *
 * Threads  any.  Blocks  no.
 */
#ifndef TOLLGATE_CONF_NODE_H
#define TOLLGATE_CONF_NODE_H

#include "common/conf/conf.h"

enum { TG_NODE_TEXT = 64 };

void tg_conf_node(const struct tg_conf *conf, char ret[TG_NODE_TEXT]) non_null(1);

#endif
