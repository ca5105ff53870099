/* folder - a private folder of a test, with files that it writes.
 *
 * Owns     the folder; test_folder_done removes it with what is in it (no sub-folders).
 * Threads  one owner.  Blocks  on the file system.
 */
#ifndef TOLLGATE_TESTS_FOLDER_H
#define TOLLGATE_TESTS_FOLDER_H

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct test_folder {
    char path[64];
    char last[160]; /* what test_folder_path gave last */
};

static inline void test_folder_init(struct test_folder *folder)
{
    snprintf(folder->path, sizeof folder->path, "/tmp/tollgate-unit-XXXXXX");
    assert_non_null(mkdtemp(folder->path));
}

/* Valid until the next call. */
static inline const char *test_folder_path(struct test_folder *folder, const char *name)
{
    snprintf(folder->last, sizeof folder->last, "%s/%s", folder->path, name);
    return folder->last;
}

/* Writes a file anew with exactly that mode. */
static inline const char *test_folder_write(struct test_folder *folder, const char *name,
                                            const char *text, mode_t mode)
{
    const char *path = test_folder_path(folder, name);
    FILE *file;

    unlink(path);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fchmod(fileno(file), mode), 0);
    assert_int_equal(fclose(file), 0);
    return path;
}

static inline void test_folder_done(struct test_folder *folder)
{
    DIR *dir = opendir(folder->path);
    struct dirent *entry;

    assert_non_null(dir);
    while ((entry = readdir(dir)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            assert_int_equal(unlinkat(dirfd(dir), entry->d_name, 0), 0);
    closedir(dir);
    assert_int_equal(rmdir(folder->path), 0);
}

#endif
