#include "admin-cgi/ctl/args.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Where the usage speaks of the option; NULL when it does not. */
static const char *find_in_usage(const char *usage, const char *name, size_t len)
{
    const char *at = usage;

    while ((at = strstr(at, "--")) != NULL) {
        size_t found = strcspn(at, " ]|");

        if (found == len && memcmp(at, name, len) == 0)
            return at + len;
        at += found;
    }
    return NULL;
}

static bool takes_value(const char *behind)
{
    return behind[0] == ' ' && behind[1] != '|' && behind[1] != '[' && behind[1] != '-' &&
           behind[1] != '\0';
}

static bool is_given(const struct ctl_args *args, const char *name, size_t len)
{
    for (int i = 0; i < args->option_count; i++)
        if (args->name_lens[i] == len && memcmp(args->names[i], name, len) == 0)
            return true;
    return false;
}

/* *at is the index of the option; moved on when its value is the next word. */
static enum tg_class take_option(struct ctl_args *args, char *const argv[], int *at,
                                 struct tg_error *err)
{
    const char *word = argv[*at], *equals = strchr(word, '='), *value = "";
    size_t len = equals != NULL ? (size_t)(equals - word) : strlen(word);
    const char *behind = find_in_usage(args->usage, word, len);

    if (behind == NULL)
        return tg_fail(err, TG_CLASS_INVALID, "usage", "there is no option %.*s here", (int)len,
                       word);
    if (is_given(args, word, len) || args->option_count == CTL_OPTIONS_MOST)
        return tg_fail(err, TG_CLASS_INVALID, "usage", "%.*s is given twice", (int)len, word);
    if (!takes_value(behind) && equals != NULL)
        return tg_fail(err, TG_CLASS_INVALID, "usage", "%.*s takes no value", (int)len, word);
    if (takes_value(behind)) {
        value = equals != NULL ? equals + 1 : argv[*at + 1];
        if (value == NULL)
            return tg_fail(err, TG_CLASS_INVALID, "usage", "%.*s needs a value", (int)len, word);
        *at += equals == NULL;
    }
    args->names[args->option_count] = word;
    args->name_lens[args->option_count] = len;
    args->values[args->option_count++] = value;
    return TG_OK;
}

enum tg_class ctl_args_parse(const char *usage, char *const argv[], struct ctl_args *ret,
                             struct tg_error *err)
{
    bool only_words = false;

    *ret = (struct ctl_args){.usage = usage};
    for (int i = 0; argv[i] != NULL; i++) {
        enum tg_class class = TG_OK;

        if (!only_words && strcmp(argv[i], "--") == 0)
            only_words = true;
        else if (!only_words && strncmp(argv[i], "--", 2) == 0)
            class = take_option(ret, argv, &i, err);
        else if (ret->positional_count < CTL_POSITIONALS_MOST)
            ret->positionals[ret->positional_count++] = argv[i];
        else
            class = tg_fail(err, TG_CLASS_INVALID, "usage", "too many words");
        if (class != TG_OK)
            return class;
    }
    return TG_OK;
}

const char *ctl_option(const struct ctl_args *args, const char *name)
{
    size_t len = strlen(name);

    tg_assert(find_in_usage(args->usage, name, len) != NULL);
    for (int i = 0; i < args->option_count; i++)
        if (args->name_lens[i] == len && memcmp(args->names[i], name, len) == 0)
            return args->values[i];
    return NULL;
}

const char *ctl_option_or(const struct ctl_args *args, const char *name, const char *fallback)
{
    const char *value = ctl_option(args, name);

    return value != NULL ? value : fallback;
}

enum tg_class ctl_option_int(const struct ctl_args *args, const char *name, int64_t *ret,
                             struct tg_error *err)
{
    const char *text = ctl_option(args, name);
    char *end;
    long long number;

    if (text == NULL)
        return TG_OK;
    errno = 0;
    number = strtoll(text, &end, 10);
    if (*text == '\0' || *text == ' ' || *end != '\0' || errno != 0)
        return tg_fail(err, TG_CLASS_INVALID, "usage", "%s takes a whole number", name);
    *ret = number;
    return TG_OK;
}

enum tg_class ctl_id(const char *text, int64_t *ret, struct tg_error *err)
{
    size_t len = strspn(text, "0123456789");

    if (len == 0 || len > 18 || text[len] != '\0' || *text == '0')
        return tg_fail(err, TG_CLASS_INVALID, "usage", "an id is a positive number");
    *ret = strtoll(text, NULL, 10);
    return TG_OK;
}

void ctl_list(struct tg_arena *arena, const char *text, const char *const **ret,
              size_t *ret_count)
{
    const char **list = tg_arena_calloc(arena, strlen(text) / 2 + 2, sizeof *list);
    size_t count = 0;

    while (*text != '\0') {
        size_t len = strcspn(text, ","), kept;

        while (len > 0 && *text == ' ') {
            text++;
            len--;
        }
        kept = len;
        while (kept > 0 && text[kept - 1] == ' ')
            kept--;
        if (kept > 0)
            list[count++] = tg_arena_strndup(arena, text, kept);
        text += len + (text[len] == ',');
    }
    *ret = list;
    *ret_count = count;
}
