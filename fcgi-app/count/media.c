#include "fcgi-app/count/media.h"

#include <string.h>
#include <strings.h>

enum {
    ELSEWHERE = 520, /* a picture for a model that is not OpenAI's */
    UNSEEN_TIMES = 3,
    TILES_MOST = 64, /* of a picture of absurd proportions */
    PATCH = 32,
    PATCHES_MOST = 1536
};

/* Models that count patches know no cheap detail. First match wins. */
static const struct {
    const char *begin;       /* of the name, "*word" anywhere in it */
    int base;                /* of any picture */
    int tile;                /* per tile; 0: a flat figure, or patches */
    int patch_hundredths;    /* per patch; 0: tiles */
} images[] = {
    {"glm-4", 1047, 0, 0},
    {"*gpt-4.1-mini", 85, 0, 162},
    {"*gpt-4.1-nano", 85, 0, 246},
    {"*o4-mini", 85, 0, 172},
    {"*gpt-5-mini", 85, 0, 162},
    {"*gpt-5-nano", 85, 0, 246},
    {"*gpt-4o-mini", 2833, 5667, 0},
    {"*gpt-5", 70, 140, 0},
    {"*computer-use-preview", 65, 129, 0},
    {"*gpt-", 85, 170, 0},
    {"*o1", 75, 150, 0},
    {"*o3", 75, 150, 0},
    {"*o4", 85, 170, 0},
};

static bool matches(const char *model, const char *pattern)
{
    if (*pattern == '*')
        return strcasestr(model, pattern + 1) != NULL;
    return strncasecmp(model, pattern, strlen(pattern)) == 0;
}

static int64_t divide_up(int64_t number, int64_t by)
{
    return (number + by - 1) / by;
}

/* Fitted into a square of 2048, then its shorter side made 768: what counts is the proportion. */
static int64_t tiles(const struct tg_image_size *size)
{
    int64_t shorter = TG_MIN(size->width, size->height);
    int64_t longer = TG_MAX(size->width, size->height);

    return TG_MIN(2 * divide_up(longer * 768, shorter * 512), (int64_t)TILES_MOST);
}

static int64_t square_root(int64_t number)
{
    int64_t root = 0;

    while ((root + 1) * (root + 1) <= number)
        root++;
    return root;
}

/* Too many patches: the picture shrinks until PATCHES_MOST would do, then until one of its sides
 * is a whole number of them. */
static int64_t patches(const struct tg_image_size *size)
{
    int64_t width = size->width, height = size->height, across, down;

    across = divide_up(width, PATCH);
    down = divide_up(height, PATCH);
    if (across * down <= PATCHES_MOST)
        return across * down;
    across = TG_MAX(square_root(PATCHES_MOST * width / height), (int64_t)1);
    down = TG_MAX(square_root(PATCHES_MOST * height / width), (int64_t)1);
    if (across * height < down * width)
        down = divide_up(across * height, width);
    else
        across = divide_up(down * width, height);
    return TG_MIN(across * down, (int64_t)PATCHES_MOST);
}

int64_t tg_media_image(const char *model, bool low, const struct tg_image_size *size)
{
    for (size_t i = 0; i < TG_COUNT_OF(images); i++) {
        if (!matches(model, images[i].begin))
            continue;
        if (images[i].tile == 0 && images[i].patch_hundredths == 0)
            return images[i].base;
        if (low && images[i].tile != 0)
            return images[i].base;
        if (size == NULL)
            return (int64_t)images[i].base * UNSEEN_TIMES;
        if (images[i].tile != 0)
            return images[i].base + images[i].tile * tiles(size);
        return (patches(size) * images[i].patch_hundredths + 50) / 100;
    }
    return ELSEWHERE;
}
