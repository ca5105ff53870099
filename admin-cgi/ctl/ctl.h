/* ctl - what the commands of tollgatectl share: settings, stores, output.
 *
 * A command writes one JSON document into ctl->out; main prints it, as it is (--json) or rendered
 * for people. A failure is an error value; its class decides the exit code:
 * 2 for TG_CLASS_INVALID (usage, bad values), 3 for TG_CLASS_DOWN, 1 for all others.
 *
 * Owns     everything that was opened here is closed by ctl_done.
 * Threads  one.  Blocks  as its stores do.
 */
#ifndef TOLLGATE_CTL_H
#define TOLLGATE_CTL_H

#include "admin-cgi/ctl/args.h"
#include "common/base/arena.h"
#include "common/conf/conf.h"
#include "common/crypto/secrets.h"
#include "common/json/writer.h"
#include "common/ledger/ledger.h"
#include "common/store/channel_change.h"

enum { CTL_ONE_AT_MOST = -1 };
enum { CTL_OK = 0, CTL_FAILED = 1, CTL_USAGE = 2, CTL_AWAY = 3 };

struct ctl {
    const char *conf_path;
    bool json;
    struct tg_arena *arena;
    struct tg_conf *conf; /* NULL for commands that need none */
    struct tg_db_pool *main_pool, *log_pool;
    struct tg_db *main_db, *log_db;
    struct tg_kv_pool *kv;
    struct tg_ledger *ledger;
    struct tg_secrets secrets;
    bool has_secrets;
    struct tg_actor actor;
    struct tg_buf buf;         /* the document */
    struct tg_json_writer out; /* writes into buf */
    const char *columns;       /* for a list of objects (the document, or its "rows"): the columns
                                  that people see, "id name …" */
    bool failed;               /* exit 1 although there is a document and no error */
    struct tg_error err;
};

typedef enum tg_class ctl_run_fn(struct ctl *ctl, const struct ctl_args *args);

/* One row per command: the table is all that main knows of them. */
struct ctl_command {
    const char *name;    /* "user add" */
    const char *usage;   /* "NAME [--group G]": options and whether they take a value */
    const char *summary; /* for --help and the manual page */
    int positionals;     /* how many; CTL_ONE_AT_MOST: none or one */
    bool without_conf;
    ctl_run_fn *run;
};
extern const struct ctl_command ctl_commands[];
extern const size_t ctl_command_count;

void ctl_init(struct ctl *ctl);
void ctl_done(struct ctl *ctl);

/* Each opens once; the result stays open. */
enum tg_class ctl_open_main(struct ctl *ctl);
enum tg_class ctl_open_log(struct ctl *ctl);
enum tg_class ctl_open_redis(struct ctl *ctl);
enum tg_class ctl_open_ledger(struct ctl *ctl);  /* main and Redis too */
enum tg_class ctl_open_secrets(struct ctl *ctl); /* the console's file only */
struct tg_key_seal ctl_seal(const struct ctl *ctl);
/* True: <class> says that the master key was changed since; the file has been read again. */
bool ctl_other_secrets(struct ctl *ctl, enum tg_class class) must_check;

/* Tells the workers what was changed ("channels", "prices", …). When Redis is away they find out
 * by themselves, later; a remark says so. */
void ctl_tell_workers(struct ctl *ctl, const char *what);
/* Tells Redis an entry that is a row already. True when it is known there now; otherwise the
 * daemon goes on trying. */
bool ctl_push(struct ctl *ctl, const struct tg_entry *entry);
/* A remark for people, on standard error. */
void ctl_remark(const char *format, ...) printf_like(1, 2);
/* DATADIR/<name>: TOLLGATE_DATADIR or the installed place. */
const char *ctl_data_path(struct ctl *ctl, const char *name);

/* A secret: --<what>-stdin, --<what>-file, the environment, or a prompt without echo. */
enum tg_class ctl_secret(struct ctl *ctl, const struct ctl_args *args, const char *what,
                         struct tg_buf *ret);

/* Several: --<what>-stdin gives one a line, to the end; otherwise one as above. Owns:
 * ctl_secret_list_done, which wipes. */
struct ctl_secret_list {
    struct tg_buf text; /* each ends with a NUL */
    const char **items; /* in ctl->arena */
    size_t count;
};
enum tg_class ctl_secret_lines(struct ctl *ctl, const struct ctl_args *args, const char *what,
                               struct ctl_secret_list *ret);
void ctl_secret_list_done(struct ctl_secret_list *list);

/* The document in ctl->buf for people. */
void ctl_print_line(struct tg_span line); /* control characters made visible */
void ctl_print_text(struct ctl *ctl);

#endif
