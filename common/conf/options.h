/* options - the table of every setting: name, type with unit, default, bounds, meaning.
 *
 * The rows live in options.def; `tollgatectl config show`, the manual page and the sample conf
 * are made from this table or checked against it.
 */
#ifndef TOLLGATE_CONF_OPTIONS_H
#define TOLLGATE_CONF_OPTIONS_H

#include "common/base/base.h"

enum tg_option_id {
#define OPTION(id, name, type, fallback, least, most, flags, meaning) TG_OPTION_##id,
#include "common/conf/options.def"
#undef OPTION
    TG_OPTION__COUNT
};

enum tg_option_type {
    TG_OPTION_TEXT_TYPE,
    TG_OPTION_PATH_TYPE,
    TG_OPTION_INT_TYPE,
    TG_OPTION_BOOL_TYPE,
    TG_OPTION_DURATION_TYPE, /* inner unit: us */
    TG_OPTION_SIZE_TYPE,     /* bytes */
    TG_OPTION_USD_TYPE,      /* quota */
    TG_OPTION_DECIMAL_TYPE,  /* text, checked to be a decimal */
    TG_OPTION_CIDRS_TYPE,    /* text, checked to be a list of CIDR ranges */
    TG_OPTION_RANGES_TYPE    /* text, checked to be a list of numbers and ranges */
};

enum tg_option_flag {
    TG_OPTION_START = 1u << 0,
    TG_OPTION_RELOAD = 1u << 1,
    TG_OPTION_DATABASE = 1u << 2
};

struct tg_option {
    const char *name; /* "section.key" */
    enum tg_option_type type;
    const char *fallback;
    int64_t least, most; /* inner unit; both 0: unbounded */
    unsigned flags;
    const char *meaning;
};

extern const struct tg_option tg_options[TG_OPTION__COUNT];

#endif
