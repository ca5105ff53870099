#include "fcgi-app/convert/gemini_model.h"

#include <ctype.h>
#include <string.h>

static int generation_of(const char *version)
{
    int whole = 0, tenth = 0;

    if (!isdigit((unsigned char)*version))
        return strncmp(version, "exp", 3) == 0 ? TG_GEMINI_2_0 : TG_GEMINI_2_5;
    for (; isdigit((unsigned char)*version) && whole < 100; version++)
        whole = 10 * whole + (*version - '0');
    if (version[0] == '.' && isdigit((unsigned char)version[1]))
        tenth = version[1] - '0';
    return 10 * whole + tenth;
}

struct tg_gemini_model tg_gemini_model_of(const char *name)
{
    const char *at = strstr(name, "gemini-");
    struct tg_gemini_model made = {.generation = TG_GEMINI_2_0};

    if (at == NULL)
        return made;
    made.generation = generation_of(at + 7);
    made.pro = strstr(at, "flash") == NULL;
    made.budget_max = made.pro ? 32768 : 24576;
    return made;
}
