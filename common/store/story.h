/* story - what became of a request and why, in sentences for people. Pure.
 *
 * Made of the document of tg_view_request, so that it says no more than the record holds: keys by
 * their last four characters, nothing of anybody's words.
 *
 * Threads  any.
 */
#ifndef TOLLGATE_STORE_STORY_H
#define TOLLGATE_STORE_STORY_H

#include "common/json/json.h"
#include "common/json/writer.h"

/* Writes an array of sentences. */
void tg_story_write(const struct tg_json *request, struct tg_json_writer *out) non_null(1, 2);

#endif
