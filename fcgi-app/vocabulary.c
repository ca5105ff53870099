#include "fcgi-app/vocabulary.h"

#include "common/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_ROOM = 4096 };

struct tg_vocabularies {
    struct tg_span files[2];
    struct tg_encoders encoders;
};

static const char *const names[] = {"cl100k_base.ranks", "o200k_base.ranks"};

static enum tg_class fail(struct tg_error *err, const char *path)
{
    return tg_fail(err, TG_CLASS_CONFIG, "vocabulary_missing",
                   "%s: %s (TOLLGATE_DATADIR names the folder of the installed data)", path,
                   strerror(errno));
}

static enum tg_class map_file(const char *name, struct tg_span *ret, struct tg_error *err)
{
    const char *folder = getenv("TOLLGATE_DATADIR");
    char path[PATH_ROOM];
    struct stat status;
    void *bytes = MAP_FAILED;
    int file;

    snprintf(path, sizeof path, "%s/fcgi-app/count/%s",
             folder != NULL && *folder != '\0' ? folder : TG_PKGDATADIR, name);
    file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return fail(err, path);
    if (fstat(file, &status) == 0 && status.st_size > 0)
        bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (bytes == MAP_FAILED)
        return fail(err, path);
    *ret = (struct tg_span){bytes, (size_t)status.st_size};
    return TG_OK;
}

enum tg_class tg_vocabularies_open(struct tg_vocabularies **ret, struct tg_error *err)
{
    struct tg_vocabularies *all = tg_calloc(1, sizeof *all);
    enum tg_class class = TG_OK;

    for (size_t i = 0; i < TG_COUNT_OF(names) && class == TG_OK; i++)
        class = map_file(names[i], &all->files[i], err);
    if (class == TG_OK)
        class = tg_bpe_new(TG_SPLIT_CL100K, all->files[0], &all->encoders.cl100k, err);
    if (class == TG_OK)
        class = tg_bpe_new(TG_SPLIT_O200K, all->files[1], &all->encoders.o200k, err);
    if (class == TG_OK)
        *ret = all;
    else
        tg_vocabularies_close(all);
    return class;
}

void tg_vocabularies_close(struct tg_vocabularies *vocabularies)
{
    if (vocabularies == NULL)
        return;
    tg_bpe_free(vocabularies->encoders.cl100k);
    tg_bpe_free(vocabularies->encoders.o200k);
    for (size_t i = 0; i < TG_COUNT_OF(names); i++)
        if (vocabularies->files[i].ptr != NULL)
            munmap((void *)(uintptr_t)vocabularies->files[i].ptr, vocabularies->files[i].len);
    free(vocabularies);
}

const struct tg_encoders *tg_vocabularies_encoders(const struct tg_vocabularies *vocabularies)
{
    return &vocabularies->encoders;
}
