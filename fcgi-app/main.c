/* tollgate-fcgi - the gateway: a master and its workers behind a web server. tollgate-fcgi(8) */
#include "common/base/log.h"
#include "common/crypto/secrets.h"
#include "fcgi-app/convert/registry.h"
#include "fcgi-app/process.h"
#include "fcgi-app/vocabulary.h"

#include <getopt.h>
#include <stdio.h>

static const char usage[] =
    "Usage: tollgate-fcgi [--conf FILE] [--check]\n"
    "Relays LLM requests from a web server (FastCGI) to upstream channels and keeps the books.\n"
    "\n"
    "  -c, --conf FILE  settings; default: $TOLLGATE_CONF, else the installed tollgate.conf\n"
    "      --check      read settings and secrets, say whether they are right, and end\n"
    "      --help       this text\n"
    "      --version    the version\n"
    "\n"
    "SIGTERM lets running requests finish and ends; SIGHUP reads the settings again and opens\n"
    "the log file again.\n";

enum { EXIT_FAILED = 1, EXIT_USAGE = 2 };

/* What would keep every worker from starting is found before the first one is forked. */
static enum tg_class check(const struct tg_conf *conf, struct tg_error *err)
{
    const char *problem = tg_routes_problem();
    struct tg_secrets secrets;
    enum tg_class class;

    if (problem != NULL)
        return tg_fail(err, TG_CLASS_INTERNAL, "internal", "the conversion matrix is broken: %s",
                       problem);
    class = tg_crypto_init(err);
    if (class == TG_OK)
        class = tg_secrets_read(tg_conf_text(conf, TG_OPTION_SECRETS_CONSOLE_FILE),
                                tg_conf_text(conf, TG_OPTION_SECRETS_FILE), &secrets, err);
    if (class == TG_OK)
        tg_secrets_done(&secrets);
    return class;
}

/* The master reads them itself. */
static enum tg_class check_vocabularies(struct tg_error *err)
{
    struct tg_vocabularies *vocabularies = NULL;
    enum tg_class class = tg_vocabularies_open(&vocabularies, err);

    tg_vocabularies_close(vocabularies);
    return class;
}

static int run(const char *path, bool only_check)
{
    struct tg_conf *conf = NULL;
    struct tg_error err;

    if (tg_conf_load(path, NULL, 0, &conf, &err) != TG_OK || check(conf, &err) != TG_OK ||
        (only_check ? check_vocabularies(&err) : tg_process_open_log(conf, &err)) != TG_OK) {
        fprintf(stderr, "tollgate-fcgi: %s\n", err.message);
        tg_conf_free(conf);
        return EXIT_FAILED;
    }
    if (!only_check)
        return tg_master_run(path, conf);
    printf("%s is right\n", path);
    tg_conf_free(conf);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"conf", required_argument, NULL, 'c'}, {"check", no_argument, NULL, 'k'},
        {"help", no_argument, NULL, 'h'},       {"version", no_argument, NULL, 'v'},
        {NULL, 0, NULL, 0},
    };
    const char *path = tg_conf_default_path();
    bool only_check = false;
    int option;

    while ((option = getopt_long(argc, argv, "c:h", options, NULL)) != -1) {
        if (option == 'c') {
            path = optarg;
        } else if (option == 'k') {
            only_check = true;
        } else if (option == 'h') {
            fputs(usage, stdout);
            return 0;
        } else if (option == 'v') {
            puts("tollgate-fcgi " PACKAGE_VERSION);
            return 0;
        } else {
            fputs(usage, stderr);
            return EXIT_USAGE;
        }
    }
    if (optind < argc) {
        fprintf(stderr, "tollgate-fcgi: unexpected argument %s\n%s", argv[optind], usage);
        return EXIT_USAGE;
    }
    return run(path, only_check);
}
