#include "fcgi-app/provider/provider.h"

#include "common/json/json.h"

#include <string.h>

static const struct tg_provider *const providers[] = {
    &tg_provider_openai, &tg_provider_openai_responses, &tg_provider_anthropic,
    &tg_provider_gemini};

const struct tg_provider *tg_provider_find(const char *name)
{
    for (size_t i = 0; i < TG_COUNT_OF(providers); i++)
        if (strcmp(providers[i]->name, name) == 0)
            return providers[i];
    return NULL;
}

static enum tg_class mapping_invalid(const struct tg_channel *channel, struct tg_error *err)
{
    (void)tg_fail(err, TG_CLASS_CONFIG, "channel_mapping_invalid",
                  "the model mapping of channel %lld is not an object of texts",
                  (long long)channel->id);
    err->flags = TG_ERROR_CHANNEL;
    return err->class;
}

enum tg_class tg_provider_map_model(const struct tg_provider_input *input, const char **ret,
                                    struct tg_error *err)
{
    const char *mapping = input->channel->model_mapping;
    struct tg_json *object = NULL;
    struct tg_span name;
    enum tg_class class = TG_OK;

    *ret = input->model;
    if (mapping[0] == '\0')
        return TG_OK;
    if (tg_json_parse(mapping, strlen(mapping), &object, err) != TG_OK)
        return mapping_invalid(input->channel, err);
    switch (tg_json_get_string(object, input->model, &name)) {
    case TG_JSON_GOT:
        *ret = tg_arena_strndup(input->arena, name.ptr, name.len);
        break;
    case TG_JSON_GOT_ABSENT:
        if (tg_json_type(object) != TG_JSON_OBJECT)
            class = mapping_invalid(input->channel, err);
        break;
    case TG_JSON_GOT_NULL:
    case TG_JSON_GOT_WRONG:
        class = mapping_invalid(input->channel, err);
        break;
    }
    tg_json_free(object);
    return class;
}
