#include "common/base/pattern.h"

#include <string.h>

bool tg_pattern_matches(const char *pattern, const char *name)
{
    const char *star = NULL, *resume = NULL;

    while (*name != '\0') {
        if (*pattern == '*') {
            star = ++pattern;
            resume = name;
        } else if (*pattern == *name) {
            pattern++;
            name++;
        } else if (star != NULL) {
            pattern = star; /* the last star takes one character more */
            name = ++resume;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}

static size_t fixed(const char *pattern)
{
    size_t count = 0;

    for (; *pattern != '\0'; pattern++)
        count += *pattern != '*';
    return count;
}

static int compare_sizes(size_t a, size_t b)
{
    return (a > b) - (a < b);
}

int tg_pattern_compare(const char *a, const char *b)
{
    int begin = compare_sizes(strcspn(a, "*"), strcspn(b, "*"));

    return begin != 0 ? begin : compare_sizes(fixed(a), fixed(b));
}
