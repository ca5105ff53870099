/* rotate-master-key: another key pair for what is sealed, while requests run.
 *
 * Each step leaves files and database in a state that the next call goes on from:
 *  1. the new key stands beside the old one in tollgate.secrets; the database knows its public half
 *  2. every node's gateway can open both
 *  3. console.secrets seals with the new one; the database refuses older ones from then on
 *  4. every row is sealed anew, in batches
 *  5. the old key leaves tollgate.secrets
 */
#include "admin-cgi/ctl/commands.h"

#include <string.h>
#include <time.h>

#include "common/base/clock.h"
#include "common/base/stop.h"
#include "common/conf/node.h"
#include "common/store/master_key.h"

enum { WAIT_S = 90, WAIT_MOST_S = 86400, POLL_NS = 200000000 };

struct rotation {
    struct ctl *ctl;
    struct tg_master_key_state state;
    struct tg_reseal rows;
    int64_t wait_us;
    bool continued;
};

static const char *console_path(const struct ctl *ctl)
{
    return tg_conf_text(ctl->conf, TG_OPTION_SECRETS_CONSOLE_FILE);
}

static const char *private_path(const struct ctl *ctl)
{
    return tg_conf_text(ctl->conf, TG_OPTION_SECRETS_FILE);
}

static enum tg_class read_secrets(struct ctl *ctl)
{
    ctl->has_secrets = false;
    tg_secrets_done(&ctl->secrets);
    enum tg_class class =
        tg_secrets_read(console_path(ctl), private_path(ctl), &ctl->secrets, &ctl->err);

    ctl->has_secrets = class == TG_OK;
    return class;
}

static enum tg_class lock(struct ctl *ctl)
{
    bool got = false;
    enum tg_class class = tg_master_key_lock(ctl->main_db, &got, &ctl->err);

    if (class != TG_OK || got)
        return class;
    return tg_fail(&ctl->err, TG_CLASS_CONFLICT, "rotation_runs",
                   "the master key is being changed by another tollgatectl");
}

/* Are the files of this node those that the change, or the last one, was made with? */
static enum tg_class check_files(struct rotation *rotation)
{
    struct ctl *ctl = rotation->ctl;
    uint8_t newest[TG_KEY_BYTES];

    if (ctl->secrets.key_version < rotation->state.version)
        return tg_fail(&ctl->err, TG_CLASS_CONFLICT, "secrets_old",
                       "the secret files of this node are older than the master key in force: "
                       "copy both from the node where it was changed");
    tg_seal_public_of(tg_secrets_private(&ctl->secrets, tg_secrets_newest(&ctl->secrets)),
                      newest);
    if (rotation->state.begun && memcmp(newest, rotation->state.next_public, TG_KEY_BYTES) != 0)
        return tg_fail(&ctl->err, TG_CLASS_CONFLICT, "rotation_elsewhere",
                       "the master key is being changed with the files of another node: go on "
                       "there, or copy its tollgate.secrets here");
    return TG_OK;
}

/* --- steps --------------------------------------------------------------------------------- */

static enum tg_class add_key(struct rotation *rotation)
{
    struct ctl *ctl = rotation->ctl;
    uint8_t newest[TG_KEY_BYTES];
    enum tg_class class = TG_OK;

    rotation->continued = ctl->secrets.other_version != 0 || rotation->state.begun;
    if (!rotation->continued) {
        class = tg_secrets_key_add(private_path(ctl), &ctl->secrets, &ctl->err);
        TG_STOP("rotate.added");
        if (class == TG_OK)
            class = read_secrets(ctl);
    }
    if (class != TG_OK || ctl->secrets.key_version == tg_secrets_newest(&ctl->secrets))
        return class;
    tg_seal_public_of(tg_secrets_private(&ctl->secrets, tg_secrets_newest(&ctl->secrets)),
                      newest);
    class = tg_master_key_begin(ctl->main_db, &ctl->actor, newest, &ctl->err);
    if (class == TG_OK)
        class = tg_master_key_read(ctl->main_db, &rotation->state, &ctl->err);
    TG_STOP("rotate.begun");
    return class == TG_OK ? check_files(rotation) : class;
}

static enum tg_class wait_for_nodes(struct rotation *rotation)
{
    static const struct timespec pause = {.tv_nsec = POLL_NS};
    const int64_t until_us = tg_now_us() + rotation->wait_us;
    struct ctl *ctl = rotation->ctl;
    char name[TG_NODE_TEXT];
    const struct tg_master_key_node own = {name, tg_secrets_newest(&ctl->secrets)};
    const char *names = "";
    enum tg_class class;

    tg_conf_node(ctl->conf, name);
    ctl_tell_workers(ctl, "secrets");
    for (;;) {
        class = tg_master_key_behind(ctl->main_db, ctl->arena, &own, &names, &ctl->err);
        if (class != TG_OK || *names == '\0')
            return class;
        if (tg_now_us() >= until_us)
            break;
        nanosleep(&pause, NULL);
    }
    return tg_fail(&ctl->err, TG_CLASS_CONFLICT, "nodes_behind",
                   "these nodes have not read the new key: %s. Copy tollgate.secrets there and "
                   "call this again; `tollgatectl node forget` names one that is gone. Nothing "
                   "is sealed with it yet",
                   names);
}

static enum tg_class switch_key(struct rotation *rotation)
{
    struct ctl *ctl = rotation->ctl;
    enum tg_class class = TG_OK;

    if (ctl->secrets.key_version < tg_secrets_newest(&ctl->secrets)) {
        class = wait_for_nodes(rotation);
        if (class == TG_OK)
            class = tg_secrets_key_switch(console_path(ctl), &ctl->secrets, &ctl->err);
        TG_STOP("rotate.switched");
        if (class == TG_OK)
            class = read_secrets(ctl);
    }
    if (class == TG_OK && rotation->state.version < ctl->secrets.key_version)
        class = tg_master_key_raise(ctl->main_db, &ctl->actor, ctl->secrets.key_version,
                                    &ctl->err);
    TG_STOP("rotate.raised");
    return class;
}

static enum tg_class seal_rows(struct rotation *rotation)
{
    struct ctl *ctl = rotation->ctl;
    struct tg_reseal *rows = &rotation->rows;
    int64_t left = 0;
    enum tg_class class;

    do {
        class = tg_master_key_reseal(ctl->main_db, &ctl->secrets, rows, &ctl->err);
        if (class == TG_OK && rows->seen > 0)
            ctl_remark("%lld keys are sealed with the new master key", (long long)rows->done);
        TG_STOP("rotate.batch");
    } while (class == TG_OK && rows->seen > 0);
    if (class == TG_OK)
        class = tg_master_key_older(ctl->main_db, ctl->secrets.key_version, &left, &ctl->err);
    if (class != TG_OK || left == 0)
        return class;
    return tg_fail(&ctl->err, TG_CLASS_CONFLICT, "keys_left",
                   "%lld channel keys are still sealed with an older master key, the first that "
                   "does not open is %lld: it is kept. Remove those keys, or call this again",
                   (long long)left, (long long)rows->first_unopened);
}

static enum tg_class retire(struct rotation *rotation)
{
    struct ctl *ctl = rotation->ctl;
    enum tg_class class = TG_OK;

    TG_STOP("rotate.sealed");
    if (ctl->secrets.other_version != 0)
        class = tg_secrets_key_retire(private_path(ctl), &ctl->secrets, &ctl->err);
    TG_STOP("rotate.retired");
    if (class == TG_OK)
        class = tg_master_key_end(ctl->main_db, &ctl->actor, ctl->secrets.key_version, &ctl->err);
    return class;
}

static void answer(struct rotation *rotation)
{
    struct ctl *ctl = rotation->ctl;

    tg_json_begin_object(&ctl->out);
    tg_json_put_int(&ctl->out, "key_version", ctl->secrets.key_version);
    tg_json_put_int(&ctl->out, "sealed", rotation->rows.done);
    tg_json_put_bool(&ctl->out, "continued", rotation->continued);
    tg_json_put_str(&ctl->out, "fingerprint", ctl->secrets.fingerprint);
    tg_json_end_object(&ctl->out);
    ctl_tell_workers(ctl, "secrets");
}

enum tg_class ctl_cmd_rotate_master_key(struct ctl *ctl, const struct ctl_args *args)
{
    struct rotation rotation = {.ctl = ctl};
    int64_t wait_s = WAIT_S;
    enum tg_class class = ctl_option_int(args, "--wait", &wait_s, &ctl->err);

    if (class == TG_OK && (wait_s < 0 || wait_s > WAIT_MOST_S))
        return tg_fail(&ctl->err, TG_CLASS_INVALID, "usage", "--wait: 0 to %d seconds",
                       WAIT_MOST_S);
    rotation.wait_us = wait_s * 1000000;
    if (class == TG_OK)
        class = read_secrets(ctl);
    if (class == TG_OK)
        class = ctl_open_main(ctl);
    if (class == TG_OK)
        class = lock(ctl);
    if (class == TG_OK) /* another may have been at work until the lock was ours */
        class = read_secrets(ctl);
    if (class == TG_OK)
        class = tg_master_key_read(ctl->main_db, &rotation.state, &ctl->err);
    if (class == TG_OK)
        class = check_files(&rotation);
    if (class == TG_OK)
        class = add_key(&rotation);
    if (class == TG_OK)
        class = switch_key(&rotation);
    if (class == TG_OK)
        class = seal_rows(&rotation);
    if (class == TG_OK)
        class = retire(&rotation);
    if (class == TG_OK)
        answer(&rotation);
    return class;
}
