/* price set, group set. */
#include "admin-cgi/ctl/commands.h"

#include <stdio.h>
#include <string.h>

#include "common/store/group.h"
#include "common/store/price.h"

static enum tg_class read_price(struct ctl *ctl, const struct ctl_args *args,
                                struct tg_price *price)
{
    const struct {
        const char *option;
        char *text;
    } parts[] = {
        {"--input", price->rates.input},
        {"--output", price->rates.output},
        {"--cache-read", price->rates.cache_read},
        {"--cache-write-5m", price->rates.cache_write_5m},
        {"--cache-write-1h", price->rates.cache_write_1h},
        {"--image", price->rates.image},
        {"--audio-in", price->rates.audio_in},
        {"--audio-out", price->rates.audio_out},
        {"--call", price->call},
    };

    for (size_t i = 0; i < TG_COUNT_OF(parts); i++) {
        const char *value = ctl_option(args, parts[i].option);

        if (value == NULL)
            continue;
        if (strlen(value) >= TG_DECIMAL_TEXT || *value == '\0')
            return tg_fail(&ctl->err, TG_CLASS_INVALID, "usage",
                           "%s takes a decimal number of USD", parts[i].option);
        snprintf(parts[i].text, TG_DECIMAL_TEXT, "%s", value);
    }
    price->form = price->call[0] != '\0' ? TG_PRICE_CALL : TG_PRICE_TOKEN;
    if (price->form == TG_PRICE_CALL && args->option_count > 1)
        return tg_fail(&ctl->err, TG_CLASS_INVALID, "usage",
                       "a price is per call or per token, not both");
    return tg_price_check(price, &ctl->err);
}

enum tg_class ctl_cmd_price_set(struct ctl *ctl, const struct ctl_args *args)
{
    const char *model = args->positionals[0];
    struct tg_price price = {.form = TG_PRICE_TOKEN};
    enum tg_class class = read_price(ctl, args, &price);

    if (class == TG_OK)
        class = ctl_open_main(ctl);
    if (class != TG_OK)
        return class;
    tg_price_hash(&price);
    class = tg_store_price_set(ctl->main_db, &ctl->actor, model, &price, &ctl->err);
    if (class != TG_OK)
        return class;
    tg_json_begin_object(&ctl->out);
    tg_json_put_str(&ctl->out, "model", model);
    tg_json_put_str(&ctl->out, "hash", price.hash);
    tg_json_end_object(&ctl->out);
    ctl_tell_workers(ctl, "prices");
    return TG_OK;
}

enum tg_class ctl_cmd_group_set(struct ctl *ctl, const struct ctl_args *args)
{
    const char *name = args->positionals[0], *ratio = ctl_option(args, "--ratio");
    enum tg_class class;

    if (ratio == NULL)
        return tg_fail(&ctl->err, TG_CLASS_INVALID, "usage", "--ratio is missing");
    class = ctl_open_main(ctl);
    if (class == TG_OK)
        class = tg_store_group_set(ctl->main_db, &ctl->actor, name, ratio, &ctl->err);
    if (class != TG_OK)
        return class;
    tg_json_begin_object(&ctl->out);
    tg_json_put_str(&ctl->out, "name", name);
    tg_json_put_str(&ctl->out, "ratio", ratio);
    tg_json_end_object(&ctl->out);
    ctl_tell_workers(ctl, "groups");
    return TG_OK;
}
