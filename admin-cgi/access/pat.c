#include "admin-cgi/access/pat.h"

#include <string.h>

static const char prefix[] = "tgp_";

enum { PREFIX_LEN = sizeof prefix - 1 };

void access_pat_new(char text[ACCESS_PAT_TEXT], char fingerprint[TG_HMAC_HEX])
{
    char token[TG_TOKEN_TEXT]; /* "sk-tg" and as many random characters as are wanted here */

    tg_token_new(token);
    memcpy(text, prefix, PREFIX_LEN);
    memcpy(text + PREFIX_LEN, token + TG_TOKEN_TEXT - (ACCESS_PAT_TEXT - PREFIX_LEN),
           ACCESS_PAT_TEXT - PREFIX_LEN);
    tg_wipe(token, sizeof token);
    tg_sha256_hex(text, ACCESS_PAT_TEXT - 1, fingerprint);
}

bool access_pat_read(const char *text, char fingerprint[TG_HMAC_HEX])
{
    static const char base62[] =
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

    if (strlen(text) != ACCESS_PAT_TEXT - 1 || memcmp(text, prefix, PREFIX_LEN) != 0 ||
        text[PREFIX_LEN + strspn(text + PREFIX_LEN, base62)] != '\0')
        return false;
    tg_sha256_hex(text, ACCESS_PAT_TEXT - 1, fingerprint);
    return true;
}
