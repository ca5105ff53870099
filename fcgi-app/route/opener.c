#include "fcgi-app/route/opener.h"

#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/store/master_key.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FILES = 2 };

struct tg_opener {
    struct tg_secrets secrets;
    char *paths[FILES], *node; /* NULL: none */
    struct stat seen[FILES];
    int told; /* the version that the database has from us */
};

struct tg_opener *tg_opener_new(const struct tg_secrets *secrets, const char *console_file,
                                const char *private_file, const char *node)
{
    struct tg_opener *opener = tg_calloc(1, sizeof *opener);

    opener->secrets = *secrets;
    if (console_file != NULL && private_file != NULL) {
        opener->paths[0] = tg_strdup(console_file);
        opener->paths[1] = tg_strdup(private_file);
    }
    opener->node = node != NULL ? tg_strdup(node) : NULL;
    return opener;
}

void tg_opener_free(struct tg_opener *opener)
{
    if (opener == NULL)
        return;
    tg_secrets_done(&opener->secrets);
    for (size_t i = 0; i < FILES; i++)
        free(opener->paths[i]);
    free(opener->node);
    free(opener);
}

const struct tg_secrets *tg_opener_secrets(const struct tg_opener *opener)
{
    return &opener->secrets;
}

/* Is another file in the place of one? At first each is. */
static bool files_changed(struct tg_opener *opener)
{
    bool changed = false;

    for (size_t i = 0; i < FILES; i++) {
        struct stat now;

        if (stat(opener->paths[i], &now) != 0)
            continue;
        changed |= now.st_ino != opener->seen[i].st_ino || now.st_dev != opener->seen[i].st_dev ||
                   now.st_size != opener->seen[i].st_size ||
                   now.st_mtim.tv_sec != opener->seen[i].st_mtim.tv_sec ||
                   now.st_mtim.tv_nsec != opener->seen[i].st_mtim.tv_nsec;
        opener->seen[i] = now;
    }
    return changed;
}

/* Files that do not fit together (one of them is still to be copied) leave the keys as they are. */
static bool read_files(struct tg_opener *opener)
{
    struct tg_secrets fresh;
    struct tg_error err;
    bool other;

    if (tg_secrets_read(opener->paths[0], opener->paths[1], &fresh, &err) != TG_OK) {
        tg_log_error(TG_LOG_WARNING, "secrets", &err);
        return false;
    }
    other = fresh.private_version != opener->secrets.private_version ||
            fresh.other_version != opener->secrets.other_version;
    tg_secrets_done(&opener->secrets);
    opener->secrets = fresh;
    tg_secrets_done(&fresh);
    if (other)
        tg_log(TG_LOG_INFO, "secrets", "master keys read again, the newest is version %d",
               tg_secrets_newest(&opener->secrets));
    return other;
}

static void tell(struct tg_opener *opener, struct tg_db *db)
{
    const struct tg_master_key_node node = {opener->node, tg_secrets_newest(&opener->secrets)};
    struct tg_error err;

    if (opener->node == NULL || opener->told == node.newest)
        return;
    if (tg_master_key_tell(db, &node, &err) == TG_OK)
        opener->told = (int)node.newest;
    else
        tg_log_error(TG_LOG_WARNING, "secrets", &err);
}

bool tg_opener_look(struct tg_opener *opener, struct tg_db *db)
{
    bool other = opener->paths[0] != NULL && files_changed(opener) && read_files(opener);

    tell(opener, db);
    return other;
}
