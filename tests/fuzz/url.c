/* Base URLs: what is let through has a plain form, and an address that may be reached. */
#include "tests/fuzz/fuzz.h"

#include "common/base/memory.h"
#include "common/http/address.h"
#include "common/http/url.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    char *text = tg_strndup(len > 0 ? (const char *)bytes : "", len);
    struct tg_cidr all[2];
    struct tg_address address;
    bool fine = tg_url_check(text, NULL) == TG_OK;
    bool opened, alone = tg_url_check_reach(text, NULL, 0, NULL) == TG_OK;

    tg_assert(tg_cidr_parse("0.0.0.0/0", &all[0]) && tg_cidr_parse("::/0", &all[1]));
    opened = tg_url_check_reach(text, all, 2, NULL) == TG_OK;
    /* What is public needs no list; no list opens more than the form allows. */
    tg_assert(!alone || opened);
    tg_assert(fine == opened);
    if (fine) {
        const char *host = strstr(text, "://");

        tg_assert(strpbrk(text, "\r\n\t ?#\"") == NULL && host != NULL);
        tg_assert(memchr(host + 3, '@', strcspn(host + 3, "/")) == NULL);
    }
    if (tg_address_parse(text, &address) && tg_address_is_never_reached(&address))
        tg_assert(!tg_address_may_reach(&address, all, 2));
    free(text);
    return 0;
}
