#include "common/conf/options.h"

#include "common/base/money.h"

/* The words of the FLAGS column. */
#define START TG_OPTION_START
#define RELOAD TG_OPTION_RELOAD
#define DATABASE TG_OPTION_DATABASE

const struct tg_option tg_options[TG_OPTION__COUNT] = {
#define OPTION(id, name, type, fallback, least, most, flags, meaning) \
    [TG_OPTION_##id] = {name, TG_OPTION_##type##_TYPE, fallback, least, most, flags, meaning},
#include "common/conf/options.def"
#undef OPTION
};
