#include "fcgi-app/count/encoders.h"

#include <string.h>
#include <strings.h>

/* First match wins; a name that ends in '|' is the whole name, or goes on with '-' or '@'. */
static const struct {
    const char *begin;
    enum tg_encoding encoding;
} models[] = {
    {"gpt-4o", TG_ENCODING_O200K},
    {"gpt-4.", TG_ENCODING_O200K}, /* 4.1, 4.5 */
    {"gpt-4", TG_ENCODING_CL100K},
    {"gpt-3", TG_ENCODING_CL100K}, /* also gpt-35-turbo, as Azure calls it */
    {"gpt-", TG_ENCODING_O200K},   /* 5 and later, gpt-oss, gpt-audio, gpt-image */
    {"chatgpt-", TG_ENCODING_O200K},
    {"o1|", TG_ENCODING_O200K},
    {"o3|", TG_ENCODING_O200K},
    {"o4|", TG_ENCODING_O200K},
    {"codex-", TG_ENCODING_O200K},
    {"computer-use-preview", TG_ENCODING_O200K},
    {"text-embedding-3", TG_ENCODING_CL100K},
    {"text-embedding-ada-002", TG_ENCODING_CL100K},
    {"davinci-002", TG_ENCODING_CL100K},
    {"babbage-002", TG_ENCODING_CL100K},
};

static bool begins(const char *name, const char *begin)
{
    const size_t len = strcspn(begin, "|");

    if (strncasecmp(name, begin, len) != 0)
        return false;
    return begin[len] == '\0' || name[len] == '\0' || strchr("-@:", name[len]) != NULL;
}

/* "openrouter/openai/gpt-4o", "ft:gpt-4o:acme", "openai.gpt-5" are known by what follows. */
static const char *own_name(const char *model)
{
    const char *slash = strrchr(model, '/');

    if (slash != NULL)
        model = slash + 1;
    if (strncasecmp(model, "ft:", 3) == 0)
        model += 3;
    if (strncasecmp(model, "openai.", 7) == 0)
        model += 7;
    return model;
}

enum tg_encoding tg_encoding_of(const char *model)
{
    const char *name = own_name(model);

    for (size_t i = 0; i < TG_COUNT_OF(models); i++)
        if (begins(name, models[i].begin))
            return models[i].encoding;
    return TG_ENCODING_NONE;
}

const struct tg_bpe *tg_encoders_for(const struct tg_encoders *encoders, const char *model)
{
    if (encoders == NULL)
        return NULL;
    switch (tg_encoding_of(model)) {
    case TG_ENCODING_CL100K:
        return encoders->cl100k;
    case TG_ENCODING_O200K:
        return encoders->o200k;
    default:
        return NULL;
    }
}
