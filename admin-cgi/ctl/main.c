/* tollgatectl - the command line of an installation. */
#include "admin-cgi/ctl/ctl.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "common/base/log.h"

static void print_usage(FILE *file, const struct ctl_command *command)
{
    fprintf(file, "%s%s%s\n", command->name, command->usage[0] != '\0' ? " " : "", command->usage);
}

static void print_help(void)
{
    printf("usage: tollgatectl [--conf FILE] [--json] COMMAND\n\n");
    for (size_t i = 0; i < ctl_command_count; i++) {
        printf("  ");
        print_usage(stdout, &ctl_commands[i]);
        printf("      %s\n", ctl_commands[i].summary);
    }
    printf("\nExit status: 0 done, 1 failed, 2 wrong usage or value, 3 a store is away.\n");
}

static int help_for(const struct ctl_command *command)
{
    printf("usage: tollgatectl ");
    print_usage(stdout, command);
    printf("  %s\n", command->summary);
    return CTL_OK;
}

/* How many words of <argv> name the command; 0 when they do not. */
static int matches(const struct ctl_command *command, char *const argv[])
{
    const char *name = command->name;
    int words = 0;

    for (;; words++) {
        size_t len = strcspn(name, " ");

        if (argv[words] == NULL || strlen(argv[words]) != len ||
            memcmp(argv[words], name, len) != 0)
            return 0;
        if (name[len] == '\0')
            return words + 1;
        name += len + 1;
    }
}

static const struct ctl_command *find_command(char *const argv[], int *ret_words)
{
    for (size_t i = 0; i < ctl_command_count; i++) {
        *ret_words = matches(&ctl_commands[i], argv);
        if (*ret_words != 0)
            return &ctl_commands[i];
    }
    return NULL;
}

static enum tg_class check_words(const struct ctl_command *command, const struct ctl_args *args,
                                 struct tg_error *err)
{
    bool optional = command->positionals == CTL_ONE_AT_MOST;
    int least = optional ? 0 : command->positionals, most = optional ? 1 : least;

    if (args->positional_count < least)
        return tg_fail(err, TG_CLASS_INVALID, "usage", "a word is missing");
    if (args->positional_count > most)
        return tg_fail(err, TG_CLASS_INVALID, "usage", "too many words");
    return TG_OK;
}

static enum tg_class run_command(struct ctl *ctl, const struct ctl_command *command,
                                 char *const argv[])
{
    struct ctl_args args;
    enum tg_class class = ctl_args_parse(command->usage, argv, &args, &ctl->err);

    if (class == TG_OK)
        class = check_words(command, &args, &ctl->err);
    if (class == TG_OK)
        class = tg_crypto_init(&ctl->err);
    if (class == TG_OK && !command->without_conf)
        class = tg_conf_load(ctl->conf_path, NULL, 0, &ctl->conf, &ctl->err);
    return class == TG_OK ? command->run(ctl, &args) : class;
}

static int exit_code(enum tg_class class)
{
    switch (class) {
    case TG_OK:
        return CTL_OK;
    case TG_CLASS_INVALID:
        return CTL_USAGE;
    case TG_CLASS_DOWN:
        return CTL_AWAY;
    default:
        return CTL_FAILED;
    }
}

/* Also as a document, so that a program that asked for JSON gets JSON. */
static void print_error(struct ctl *ctl)
{
    ctl_remark("%s", ctl->err.message);
    if (!ctl->json)
        return;
    tg_buf_reset(&ctl->buf);
    tg_json_writer_init(&ctl->out, &ctl->buf);
    tg_json_begin_object(&ctl->out);
    tg_json_key(&ctl->out, "error");
    tg_json_begin_object(&ctl->out);
    tg_json_put_str(&ctl->out, "class", tg_class_name(ctl->err.class));
    tg_json_put_str(&ctl->out, "code", ctl->err.code);
    tg_json_put_str(&ctl->out, "message", ctl->err.message);
    tg_json_end_object(&ctl->out);
    tg_json_end_object(&ctl->out);
}

static int run(struct ctl *ctl, char *const argv[])
{
    int words = 0;
    const struct ctl_command *command = argv[0] == NULL ? NULL : find_command(argv, &words);
    enum tg_class class;

    if (command == NULL) {
        ctl_remark("%s; see tollgatectl --help",
                   argv[0] == NULL ? "a command is missing" : "there is no such command");
        return CTL_USAGE;
    }
    for (int i = words; argv[i] != NULL; i++)
        if (strcmp(argv[i], "--help") == 0)
            return help_for(command);
    class = run_command(ctl, command, argv + words);
    if (class != TG_OK)
        print_error(ctl);
    if (class == TG_CLASS_INVALID && strcmp(ctl->err.code, "usage") == 0) {
        fprintf(stderr, "usage: tollgatectl ");
        print_usage(stderr, command);
    }
    if (ctl->buf.len > 0 && ctl->json)
        printf("%s\n", ctl->buf.data);
    else if (ctl->buf.len > 0 && class == TG_OK)
        ctl_print_text(ctl);
    return class == TG_OK && ctl->failed ? CTL_FAILED : exit_code(class);
}

/* Global options stand in front of the command. Returns how many words they are, -1 after --help
 * and --version, -2 for a wrong one. */
static int read_globals(struct ctl *ctl, char *const argv[])
{
    int at = 1;

    for (; argv[at] != NULL && strncmp(argv[at], "--", 2) == 0; at++) {
        if (strcmp(argv[at], "--json") == 0) {
            ctl->json = true;
        } else if (strcmp(argv[at], "--conf") == 0 && argv[at + 1] != NULL) {
            ctl->conf_path = argv[++at];
        } else if (strcmp(argv[at], "--help") == 0) {
            print_help();
            return -1;
        } else if (strcmp(argv[at], "--version") == 0) {
            printf("tollgatectl %s\n", PACKAGE_VERSION);
            return -1;
        } else {
            return -2;
        }
    }
    return at;
}

int main(int argc, char *argv[])
{
    struct ctl ctl;
    int at, code;

    (void)argc;
    signal(SIGPIPE, SIG_IGN); /* a server that goes away is an error value */
    ctl_init(&ctl);
    if (tg_log_open("tollgatectl", NULL, TG_LOG_WARNING, &ctl.err) != TG_OK) {
        ctl_remark("%s", ctl.err.message);
        return CTL_FAILED;
    }
    ctl.conf_path = tg_conf_default_path();
    at = read_globals(&ctl, argv);
    if (at == -2)
        ctl_remark("unknown option; see tollgatectl --help");
    code = at == -1 ? CTL_OK : at == -2 ? CTL_USAGE : run(&ctl, argv + at);
    ctl_done(&ctl);
    if (fflush(stdout) != 0) {
        ctl_remark("the output could not be written");
        return CTL_FAILED;
    }
    return code;
}
