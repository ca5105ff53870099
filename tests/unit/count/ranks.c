#include "tests/unit/count/ranks.h"

#include <stdio.h>
#include <stdlib.h>

enum { FILE_MOST = 2 << 20 };

static char files[2][FILE_MOST];
static struct tg_encoders encoders;

static struct tg_bpe *read_ranks(enum tg_split_rules rules, const char *name)
{
    const char *source = getenv("TOLLGATE_SOURCE");
    struct tg_span file = {files[rules], 0};
    struct tg_bpe *bpe = NULL;
    char path[512];
    FILE *in;

    snprintf(path, sizeof path, "%s/fcgi-app/count/%s", source == NULL ? "." : source, name);
    in = fopen(path, "rb");
    tg_assert(in != NULL);
    file.len = fread(files[rules], 1, FILE_MOST, in);
    fclose(in);
    tg_assert(tg_bpe_new(rules, file, &bpe, NULL) == TG_OK);
    return bpe;
}

const struct tg_encoders *ranks_open(void)
{
    encoders.cl100k = read_ranks(TG_SPLIT_CL100K, "cl100k_base.ranks");
    encoders.o200k = read_ranks(TG_SPLIT_O200K, "o200k_base.ranks");
    return &encoders;
}

void ranks_close(void)
{
    tg_bpe_free(encoders.cl100k);
    tg_bpe_free(encoders.o200k);
}
