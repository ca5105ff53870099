#include "fcgi-app/convert/effort.h"

#include <string.h>

const char *tg_effort_of_budget(int64_t budget)
{
    static const struct {
        int64_t from;
        const char *effort;
    } ladder[] = {{32768, "xhigh"}, {16384, "high"}, {4096, "medium"}, {1024, "low"},
                  {1, "minimal"}};

    for (size_t i = 0; i < TG_COUNT_OF(ladder); i++)
        if (budget >= ladder[i].from)
            return ladder[i].effort;
    return "none";
}

int64_t tg_effort_budget(struct tg_span effort)
{
    static const struct {
        const char *effort;
        int64_t budget;
    } ladder[] = {{"none", 0},      {"minimal", 1024}, {"low", 1024},  {"medium", 8192},
                  {"high", 24576}, {"xhigh", 32768},  {"max", 32768}};

    for (size_t i = 0; i < TG_COUNT_OF(ladder); i++)
        if (strlen(ladder[i].effort) == effort.len &&
            memcmp(ladder[i].effort, effort.ptr, effort.len) == 0)
            return ladder[i].budget;
    return -1;
}
