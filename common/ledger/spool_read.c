#include "common/ledger/spool_line.h"

#include "common/base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char SUFFIX[] = ".spool";

static const uint64_t PRIME = UINT64_C(1099511628211);
static const char digits_of[16] = "0123456789abcdef"; /* no text: it has no end */
enum { SUM_AT = 9, NUMBER_AT = 26 }; /* in the head */

/* Every step can be undone, so no change of one word leaves the sum as it was. */
static uint64_t sum_of(const char *bytes, size_t len)
{
    uint64_t sum = UINT64_C(14695981039346656037), word;

    for (; len >= sizeof word; bytes += sizeof word, len -= sizeof word) {
        memcpy(&word, bytes, sizeof word);
        sum = (sum ^ word) * PRIME;
        sum ^= sum >> 32;
    }
    for (; len > 0; bytes++, len--)
        sum = (sum ^ (unsigned char)*bytes) * PRIME;
    return sum;
}

static void put_hex(char *to, int digits, uint64_t value)
{
    for (; digits > 0; value >>= 4)
        to[--digits] = digits_of[value & 15];
}

static uint64_t get_hex(const char *from, int digits)
{
    uint64_t value = 0;

    for (int i = 0; i < digits; i++) {
        const char *digit = memchr(digits_of, from[i], sizeof digits_of);

        value = value << 4 | (digit != NULL ? (uint64_t)(digit - digits_of) : 0);
    }
    return value;
}

static void format_head(char head[TG_SPOOL_HEAD], const char *text, size_t len, int64_t number)
{
    memset(head, ' ', TG_SPOOL_HEAD);
    put_hex(head, 8, len);
    put_hex(head + SUM_AT, 16, sum_of(text, len) ^ ((uint64_t)number * PRIME));
    put_hex(head + NUMBER_AT, 8, (uint64_t)number);
}

/* The head in front of what was added from <start> on. */
static bool finish_line(struct tg_buf *out, size_t start)
{
    char head[TG_SPOOL_HEAD];
    size_t len = out->len - start - 1 - TG_SPOOL_HEAD;

    if (out->failed || len > TG_SPOOL_LINE_MOST)
        return false;
    format_head(head, out->data + out->len - len, len, 0);
    memcpy(out->data + start + 1, head, TG_SPOOL_HEAD);
    return true;
}

bool tg_spool_line_format(const struct tg_entry *entry, struct tg_buf *out)
{
    size_t start = out->len;

    tg_buf_printf(out, "\n%*s", TG_SPOOL_HEAD, "");
    tg_entry_encode(entry, out);
    return finish_line(out, start);
}

void tg_spool_line_mark(const char *word, struct tg_buf *out)
{
    size_t start = out->len;

    tg_buf_printf(out, "\n%*s%s", TG_SPOOL_HEAD, "", word);
    tg_assert(finish_line(out, start));
}

void tg_spool_line_set_number(char *line, int64_t number)
{
    uint64_t sum = get_hex(line + SUM_AT, 16) ^ (get_hex(line + NUMBER_AT, 8) * PRIME);

    put_hex(line + SUM_AT, 16, sum ^ ((uint64_t)number * PRIME));
    put_hex(line + NUMBER_AT, 8, (uint64_t)number);
}

int64_t tg_spool_line_number(const char *line)
{
    return (int64_t)get_hex(line + NUMBER_AT, 8);
}

bool tg_spool_line_is_whole(const char *line, size_t len)
{
    char head[TG_SPOOL_HEAD];

    if (len <= TG_SPOOL_HEAD)
        return false;
    format_head(head, line + TG_SPOOL_HEAD, len - TG_SPOOL_HEAD, tg_spool_line_number(line));
    return memcmp(head, line, TG_SPOOL_HEAD) == 0;
}

/* ---- reading a file */

static enum tg_class read_rest(const char *path, int64_t offset, struct tg_buf *out)
{
    char piece[65536];
    ssize_t got;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return TG_CLASS_NOT_FOUND;
    while ((got = pread(fd, piece, sizeof piece, offset + (int64_t)out->len)) > 0)
        tg_buf_add(out, piece, (size_t)got);
    close(fd);
    return got < 0 || out->failed ? TG_CLASS_INTERNAL : TG_OK;
}

struct scan {
    struct tg_arena *arena;
    tg_spool_visit_fn *visit;
    void *context;
    int64_t *offset; /* in the file, of what is done with */
    struct tg_spool_seen *seen;
};

static bool says(const char *text, size_t len, const char *word)
{
    return len == strlen(word) && memcmp(text, word, len) == 0;
}

static bool read_mark(struct tg_spool_seen *seen, const char *line, size_t len)
{
    bool last = says(line + TG_SPOOL_HEAD, len - TG_SPOOL_HEAD, "last");

    if (!last && !says(line + TG_SPOOL_HEAD, len - TG_SPOOL_HEAD, "next"))
        return false;
    seen->marked = true;
    seen->in_order = last;
    seen->lines = tg_spool_line_number(line);
    return true;
}

/* One line; false when the visitor wants to stop before it. */
static bool read_line(struct scan *scan, const char *line, size_t len)
{
    struct tg_entry entry;

    if (len == 0)
        return true;
    tg_arena_reset(scan->arena);
    if (tg_spool_line_is_whole(line, len) && read_mark(scan->seen, line, len))
        return true;
    if (!tg_spool_line_is_whole(line, len) ||
        tg_entry_decode(line + TG_SPOOL_HEAD, len - TG_SPOOL_HEAD, scan->arena, &entry, NULL) !=
            TG_OK) {
        scan->seen->torn++;
        return true;
    }
    entry.spool_line = tg_spool_line_number(line);
    return scan->visit(scan->context, &entry);
}

/* The last line has no newline behind it: when it is not whole its writer may be in the middle of
 * it, so the place stays in front. */
static void read_lines(struct scan *scan, const char *text, size_t len)
{
    const int64_t from = *scan->offset;
    size_t at = 0;

    while (at < len) {
        const char *line = text[at] == '\n' ? text + at + 1 : text + at;
        size_t left = len - (size_t)(line - text);
        const char *end = memchr(line, '\n', left);
        size_t line_len = end != NULL ? (size_t)(end - line) : left;

        if (end == NULL && line_len > 0 && !tg_spool_line_is_whole(line, line_len)) {
            scan->seen->torn++;
            break;
        }
        if (!read_line(scan, line, line_len))
            break;
        at = (size_t)(line - text) + line_len;
        *scan->offset = from + (int64_t)at;
    }
}

/* The offset is written while lines are read. NOLINTNEXTLINE(readability-non-const-parameter) */
enum tg_class tg_spool_read(const char *path, int64_t *offset, tg_spool_visit_fn *visit,
                            void *context, struct tg_spool_seen *ret_seen)
{
    struct tg_buf text;
    struct scan scan = {
        .visit = visit, .context = context, .offset = offset, .seen = ret_seen};
    enum tg_class class;

    *ret_seen = (struct tg_spool_seen){0};
    tg_buf_init(&text, 64 << 20);
    class = read_rest(path, *offset, &text);
    if (class == TG_OK) {
        scan.arena = tg_arena_new();
        read_lines(&scan, tg_buf_text(&text), text.len);
        tg_arena_free(scan.arena);
    }
    tg_buf_done(&text);
    return class;
}

/* ---- listing files */

struct name {
    int64_t worker, sequence;
};

/* Reads digits up to <end>. */
static bool read_number(const char **text, char end, int64_t *ret)
{
    char *behind;
    long long value;

    if (**text < '0' || **text > '9')
        return false;
    errno = 0;
    value = strtoll(*text, &behind, 10);
    if (errno != 0 || *behind != end)
        return false;
    *text = behind + 1;
    *ret = value;
    return true;
}

/* NODE.WORKER.SEQUENCE.spool of this very node (whose name may hold dots). */
static bool parse_name(const char *text, const char *node, struct name *ret)
{
    size_t node_len = strlen(node);

    if (strncmp(text, node, node_len) != 0 || text[node_len] != '.')
        return false;
    text += node_len + 1;
    return read_number(&text, '.', &ret->worker) && read_number(&text, '.', &ret->sequence) &&
           strcmp(text, SUFFIX + 1) == 0;
}

/* A shared lock is refused only while the writer holds its own; it is given up at once. */
static bool is_held(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool held;

    if (fd < 0)
        return false;
    held = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    close(fd);
    return held;
}

struct found {
    struct name name;
    char path[sizeof((struct tg_spool_file *)0)->path];
};

static int by_age(const void *left, const void *right)
{
    const struct name *a = &((const struct found *)left)->name;
    const struct name *b = &((const struct found *)right)->name;

    if (a->worker != b->worker)
        return a->worker < b->worker ? -1 : 1;
    return (a->sequence > b->sequence) - (a->sequence < b->sequence);
}

static enum tg_class find_files(const char *folder, const char *node, struct tg_buf *out,
                                struct tg_error *err)
{
    DIR *dir = opendir(folder);
    struct dirent *item;
    struct found found;

    if (dir == NULL && errno == ENOENT)
        return TG_OK;
    if (dir == NULL)
        return tg_fail(err, TG_CLASS_INTERNAL, "spool", "cannot read %s: %s", folder,
                       strerror(errno));
    while ((item = readdir(dir)) != NULL) {
        if (!parse_name(item->d_name, node, &found.name))
            continue;
        if ((size_t)snprintf(found.path, sizeof found.path, "%s/%s", folder, item->d_name) <
            sizeof found.path)
            tg_buf_add(out, &found, sizeof found);
    }
    closedir(dir);
    if (out->len > 0)
        qsort(out->data, out->len / sizeof found, sizeof found, by_age);
    return TG_OK;
}

enum tg_class tg_spool_list(const char *folder, const char *node, struct tg_arena *arena,
                            struct tg_spool_file **ret, size_t *ret_count)
{
    struct tg_buf found;
    struct tg_spool_file *files;
    enum tg_class class;

    tg_buf_init(&found, 0);
    class = find_files(folder, node, &found, NULL);
    if (class == TG_OK) {
        *ret_count = found.len / sizeof(struct found);
        *ret = files = tg_arena_calloc(arena, *ret_count + 1, sizeof *files);
        for (size_t i = 0; i < *ret_count; i++) {
            const struct found *one = (const struct found *)found.data + i;

            memcpy(files[i].path, one->path, sizeof files[i].path);
            files[i].worker = one->name.worker;
            files[i].writer_alive = is_held(one->path);
        }
    }
    tg_buf_done(&found);
    return class;
}

static bool holds_any(const char *folder, const char *node, int64_t worker)
{
    struct tg_arena *arena = tg_arena_new();
    struct tg_spool_file *files;
    size_t count;
    bool alive = false;

    if (tg_spool_list(folder, node, arena, &files, &count) != TG_OK)
        alive = true; /* not known: nothing is ended on a guess */
    else
        for (size_t i = 0; i < count; i++)
            alive |= files[i].worker == worker && files[i].writer_alive;
    tg_arena_free(arena);
    return alive;
}

/* Asked twice: the first list may have been read just before the worker moved on to a new file. */
bool tg_spool_worker_is_alive(const char *folder, const char *node, int64_t worker)
{
    bool alive = holds_any(folder, node, worker);

    return alive || holds_any(folder, node, worker);
}
