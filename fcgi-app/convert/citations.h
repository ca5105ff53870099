/* citations - sources of a text: web_search_result_location of Messages, url_citation of Chat.
 *
 * Only whole answers carry them across; the events of a stream are noted as lost, and so is what a
 * client sends back.
 *
 * Pure.  Threads  as convert.h.  Source  PROTOCOLS B1, C1, D1.
 */
#ifndef TOLLGATE_CONVERT_CITATIONS_H
#define TOLLGATE_CONVERT_CITATIONS_H

#include "fcgi-app/convert/convert.h"

/* Which characters of the whole text are spoken of. */
struct tg_citations_range {
    int64_t from, to;
};

/* Of a text block of Messages, as annotations of Chat. */
void tg_citations_to_chat(const struct tg_convert *context, const struct tg_json *block,
                          struct tg_citations_range range, struct tg_json *annotations)
    non_null(1, 2, 4);
/* Of a message of Chat, set in a text block of Messages. */
void tg_citations_to_messages(const struct tg_convert *context, const struct tg_json *message,
                              struct tg_json *block) non_null(1, 2, 3);
/* What stands in <owner>'s list <key> (nothing, when there is none) gets lost. */
void tg_citations_dropped(const struct tg_convert *context, const struct tg_json *owner,
                          const char *key, const char *path) non_null(1, 2, 3, 4);

#endif
