#include "tests/bench/select_world.h"

#include "fcgi-app/route/snapshot_build.h"

enum { EACH = 10, CHANNELS = 200, ABILITIES = WORLD_GROUPS * WORLD_MODELS * EACH };

static struct tg_secrets secrets;

static void add_channel(struct tg_arena *arena, struct tg_routing_rows *rows, int64_t id)
{
    struct tg_channel_key_row *key = &rows->keys[rows->key_count++];
    char aad[TG_KEY_AAD_TEXT];
    struct tg_buf sealed;

    rows->channels[rows->channel_count++] =
        (struct tg_channel_row){.id = id,
                                .name = tg_arena_printf(arena, "channel-%d", (int)id),
                                .provider = id % 4 == 0 ? "anthropic" : "openai",
                                .base_url = "https://api.example.com/v1",
                                .organisation = "",
                                .loss_policy = "",
                                .proxy = "",
                                .model_mapping = "",
                                .timeouts = "",
                                .key_mode = "",
                                .test_model = "",
                                .balance_from = ""};
    tg_channel_key_aad(id, aad);
    tg_buf_init(&sealed, 0);
    tg_seal(secrets.seal_public, aad, "sk-upstream-key-of-a-usual-length-0123456789", &sealed);
    *key = (struct tg_channel_key_row){.id = id,
                                       .channel_id = id,
                                       .hint = "6789",
                                       .key_version = 1,
                                       .state = "active",
                                       .cap_unit = "",
                                       .reset_zone = "UTC"};
    key->sealed.ptr = tg_arena_strndup(arena, sealed.data, sealed.len);
    key->sealed.len = sealed.len;
    tg_buf_done(&sealed);
}

struct tg_snapshot *select_world_new(void)
{
    struct tg_arena *arena = tg_arena_new();
    struct tg_routing_rows rows = {
        .channels = tg_arena_calloc(arena, CHANNELS, sizeof *rows.channels),
        .keys = tg_arena_calloc(arena, CHANNELS, sizeof *rows.keys),
        .abilities = tg_arena_calloc(arena, ABILITIES, sizeof *rows.abilities)};

    tg_seal_keypair(secrets.seal_public, secrets.seal_private);
    secrets.private_version = 1;
    for (int64_t id = 1; id <= CHANNELS; id++)
        add_channel(arena, &rows, id);
    for (int at = 0; at < ABILITIES; at++)
        rows.abilities[rows.ability_count++] = (struct tg_ability_row){
            .group_name = tg_arena_printf(arena, "group-%d", at / EACH / WORLD_MODELS),
            .model = tg_arena_printf(arena, "model-%d", at / EACH % WORLD_MODELS),
            .channel_id = 1 + at * 7 % CHANNELS,
            .priority = at % EACH < EACH / 2 ? 5 : 1,
            .weight = 1 + at % 3};
    return tg_snapshot_build(&rows, arena, &secrets);
}

void select_world_free(struct tg_snapshot *snapshot)
{
    tg_snapshot_free(snapshot);
}
