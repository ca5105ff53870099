/* audit. */
#include "admin-cgi/ctl/commands.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/clock.h"
#include "common/conf/node.h"
#include "common/ledger/audit.h"
#include "common/ledger/spool.h"
#include "common/store/change.h"

static const int64_t redis_wait_us = 2000000;

static void put_difference(struct ctl *ctl, const struct tg_audit_difference *difference)
{
    tg_json_begin_object(&ctl->out);
    tg_json_put_str(&ctl->out, "account", difference->account);
    tg_json_put_int(&ctl->out, "id", difference->id);
    tg_json_put_str(&ctl->out, "sum", difference->sum);
    tg_json_put_int(&ctl->out, "books_quota", difference->books_quota);
    tg_json_put_int(&ctl->out, "other_quota", difference->other_quota);
    tg_json_end_object(&ctl->out);
}

static void put_hold(struct ctl *ctl, const struct tg_hold *hold)
{
    char id[TG_ID_TEXT];

    tg_id_format(&hold->request_id, id);
    tg_json_begin_object(&ctl->out);
    tg_json_put_str(&ctl->out, "request_id", id);
    tg_json_put_int(&ctl->out, "user_id", hold->user_id);
    tg_json_put_int(&ctl->out, "token_id", hold->token_id);
    tg_json_put_int(&ctl->out, "amount_quota", hold->amount_quota);
    tg_json_put_int(&ctl->out, "earned_quota", hold->earned_quota);
    tg_json_put_bool(&ctl->out, "lapsed", hold->lapsed);
    tg_json_put_str(&ctl->out, "node", hold->node);
    tg_json_put_int(&ctl->out, "worker", hold->worker);
    tg_json_end_object(&ctl->out);
}

static void put_doubt(struct ctl *ctl, const struct tg_doubt *doubt)
{
    static const struct tg_id none;
    char id[TG_ID_TEXT];

    tg_id_format(&doubt->request_id, id);
    tg_json_begin_object(&ctl->out);
    tg_json_put_int(&ctl->out, "id", doubt->id);
    tg_json_put_str(&ctl->out, "kind", doubt->kind);
    tg_json_put_str(&ctl->out, "detail", doubt->detail);
    if (memcmp(doubt->request_id.bytes, none.bytes, TG_ID_BYTES) != 0)
        tg_json_put_str(&ctl->out, "request_id", id);
    tg_json_put_str(&ctl->out, "node", doubt->node);
    tg_json_put_int(&ctl->out, "worker", doubt->worker);
    tg_json_put_str(&ctl->out, "at", doubt->at);
    tg_json_end_object(&ctl->out);
}

static void put_sums(struct ctl *ctl, const struct tg_audit_report *report)
{
    const struct {
        const char *name;
        int64_t value;
    } numbers[] = {
        {"difference_count", (int64_t)report->difference_count},
        {"redis_quota", report->redis_quota},
        {"users_quota", report->users_quota},
        {"ledger_quota", report->ledger_quota},
        {"charged_quota", report->charged_quota},
        {"logged_quota", report->logged_quota},
        {"users", report->users},
        {"loaded_users", report->loaded_users},
        {"open_holds", (int64_t)report->open_holds},
        {"held_quota", report->held_quota},
        {"journal_waiting", report->journal_waiting},
        {"credits_waiting", report->counts.credits_waiting},
        {"adjustments_waiting", report->counts.adjustments_waiting},
        {"resets_waiting", report->counts.resets_waiting},
        {"offline_entries", report->counts.offline_entries},
        {"log_batches", report->counts.log_batches},
        {"log_lag_s", report->counts.log_lag_s},
        {"rebuilds", report->counts.rebuilds},
        {"rejects", report->counts.rejects},
        {"orphans", report->counts.orphans},
        {"expired_empty", report->counts.expired_empty},
    };

    tg_json_put_bool(&ctl->out, "clean", report->clean);
    for (size_t i = 0; i < TG_COUNT_OF(numbers); i++)
        tg_json_put_int(&ctl->out, numbers[i].name, numbers[i].value);
}

/* This node's own lag: what its workers wrote down and the daemon has not dealt with. */
static void put_spool(struct ctl *ctl)
{
    const char *folder = tg_conf_text(ctl->conf, TG_OPTION_LEDGER_SPOOL_DIR);
    char node[TG_NODE_TEXT];
    struct tg_spool_file *files;
    size_t count = 0;
    int64_t bytes = 0;
    struct stat info;

    tg_conf_node(ctl->conf, node);
    if (tg_spool_list(folder, node, ctl->arena, &files, &count) != TG_OK)
        return;
    for (size_t i = 0; i < count; i++)
        bytes += stat(files[i].path, &info) == 0 ? info.st_size : 0;
    tg_json_put_int(&ctl->out, "spool_files", (int64_t)count);
    tg_json_put_int(&ctl->out, "spool_bytes", bytes);
}

static void put_lists(struct ctl *ctl, const struct tg_audit_report *report)
{
    char id[TG_ID_TEXT];

    tg_json_key(&ctl->out, "differences");
    tg_json_begin_array(&ctl->out);
    for (size_t i = 0; i < report->listed_count; i++)
        put_difference(ctl, &report->differences[i]);
    tg_json_end_array(&ctl->out);
    tg_json_key(&ctl->out, "doubts");
    tg_json_begin_array(&ctl->out);
    for (size_t i = 0; i < report->counts.doubt_count; i++)
        put_doubt(ctl, &report->counts.doubts[i]);
    tg_json_end_array(&ctl->out);
    tg_json_key(&ctl->out, "unread_shards");
    tg_json_begin_array(&ctl->out);
    for (size_t i = 0; i < report->unread_count; i++)
        tg_json_write_int(&ctl->out, report->unread_shards[i]);
    tg_json_end_array(&ctl->out);
    tg_json_key(&ctl->out, "holds");
    tg_json_begin_array(&ctl->out);
    for (size_t i = 0; i < report->hold_count; i++)
        put_hold(ctl, &report->holds[i]);
    tg_json_end_array(&ctl->out);
    tg_json_key(&ctl->out, "expired");
    tg_json_begin_array(&ctl->out);
    for (size_t i = 0; i < report->counts.expired_count; i++) {
        tg_id_format(&report->counts.expired[i], id);
        tg_json_write_str(&ctl->out, id);
    }
    tg_json_end_array(&ctl->out);
}

static void put_report(struct ctl *ctl, const struct tg_audit_report *report, int64_t broken_id)
{
    tg_json_begin_object(&ctl->out);
    put_sums(ctl, report);
    put_spool(ctl);
    put_lists(ctl, report);
    tg_json_put_int(&ctl->out, "changes_broken_at", broken_id);
    tg_json_end_object(&ctl->out);
}

static enum tg_class run_once(struct ctl *ctl, const struct tg_audit *audit)
{
    struct tg_audit_report *report = tg_arena_calloc(ctl->arena, 1, sizeof *report);
    struct tg_arena *arena = tg_arena_new(); /* of one run: --watch has many */
    int64_t broken_id = 0;
    enum tg_class class = tg_audit_run(audit, arena, report, &ctl->err);

    if (class == TG_OK)
        class = tg_change_chain_check(ctl->main_db, &broken_id, &ctl->err);
    if (class == TG_OK) {
        report->clean = report->clean && broken_id == 0;
        ctl->failed = !report->clean;
        put_report(ctl, report, broken_id);
    }
    tg_arena_free(arena);
    return class;
}

/* A line for each run, and an end at the first that is not clean. */
static void print_run(struct ctl *ctl)
{
    char at[TG_TIME_TEXT];

    tg_time_format(tg_unix_us(), at);
    if (ctl->json)
        printf("%s\n", tg_buf_text(&ctl->buf));
    else
        printf("%s %s\n", at, ctl->failed ? "NOT clean" : "clean");
    fflush(stdout);
    tg_buf_reset(&ctl->buf);
    tg_json_writer_init(&ctl->out, &ctl->buf);
}

static enum tg_class run_all(struct ctl *ctl, const struct ctl_args *args,
                             const struct tg_audit *audit)
{
    int64_t seconds = 0, times = INT64_MAX;
    enum tg_class class = ctl_option_int(args, "--watch", &seconds, &ctl->err);

    if (class == TG_OK)
        class = ctl_option_int(args, "--times", &times, &ctl->err);
    if (class == TG_OK && (seconds < 0 || seconds > 86400 || times < 1))
        class = tg_fail(&ctl->err, TG_CLASS_INVALID, "usage", "--watch is 1 to 86400");
    if (class == TG_OK)
        class = run_once(ctl, audit);
    for (int64_t i = 1; class == TG_OK && seconds > 0 && !ctl->failed && i < times; i++) {
        print_run(ctl);
        tg_clock_sleep_us(seconds * 1000000);
        class = run_once(ctl, audit);
    }
    return class;
}

enum tg_class ctl_cmd_audit(struct ctl *ctl, const struct ctl_args *args)
{
    bool single = strcmp(tg_conf_text(ctl->conf, TG_OPTION_REDIS_ADDRESS), TG_KV_NONE) == 0;
    struct tg_audit audit = {.journal_keep_us =
                                 tg_conf_int(ctl->conf, TG_OPTION_LEDGER_JOURNAL_KEEP)};
    enum tg_class class = ctl_open_main(ctl);

    if (class == TG_OK)
        class = ctl_open_log(ctl);
    if (class == TG_OK && !single)
        class = ctl_open_redis(ctl);
    if (class == TG_OK && !single)
        class = tg_kv_acquire(ctl->kv, tg_now_us() + redis_wait_us, &audit.kv, &ctl->err);
    audit.main_db = ctl->main_db;
    audit.log_db = ctl->log_db;
    if (class == TG_OK)
        class = run_all(ctl, args, &audit);
    tg_kv_release(audit.kv);
    return class;
}
