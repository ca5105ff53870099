/* Pictures by model and size, and the sizes inside data URLs. */
#include "tests/unit/unit.h"

#include "fcgi-app/count/media.h"

static void unseen_images_count_by_model(void **state)
{
    static const struct {
        const char *model;
        int64_t high, low;
    } models[] = {
        {"claude-sonnet-4-5", 520, 520}, {"gemini-2.5-pro", 520, 520},
        {"gpt-4o", 255, 85},             {"gpt-4.1", 255, 85},
        {"gpt-4o-mini", 8499, 2833},     {"gpt-5", 210, 70},
        {"gpt-5-chat-latest", 210, 70},  {"gpt-5-mini", 255, 255},
        {"gpt-4.1-nano", 255, 255},      {"o1", 225, 75},
        {"o3-pro", 225, 75},             {"o4-mini", 255, 255},
        {"computer-use-preview", 195, 65}, {"chatgpt-4o-latest", 255, 85},
        {"glm-4v", 1047, 1047},          {"azure/gpt-4o", 255, 85},
        {"qwen-vl", 520, 520},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(models); i++) {
        assert_int_equal(tg_media_image(models[i].model, false, NULL), models[i].high);
        assert_int_equal(tg_media_image(models[i].model, true, NULL), models[i].low);
    }
}

static void seen_images_count_by_size(void **state)
{
    static const struct {
        const char *model;
        bool low;
        struct tg_image_size size;
        int64_t tokens;
    } images[] = {
        /* OpenAI's own examples */
        {"gpt-4o", false, {1024, 1024}, 765},
        {"gpt-4o", false, {2048, 4096}, 1105},
        {"gpt-4o", true, {4096, 8192}, 85},
        {"gpt-4.1-mini", false, {1024, 1024}, 1659},  /* 1024 patches x 1.62 */
        {"gpt-4.1-mini", false, {1800, 2400}, 2352},  /* 33 x 44 = 1452 patches */
        {"gpt-5-nano", true, {32, 32}, 2},            /* no cheap detail */
        {"gpt-5-nano", false, {1, 33}, 5},
        {"gpt-5-mini", false, {100000, 1}, 2488},     /* never above the most */
        {"gpt-4o", false, {1, 1}, 85 + 4 * 170},
        {"gpt-4o", false, {768, 768}, 85 + 4 * 170},
        {"gpt-4o", false, {768, 1024}, 85 + 4 * 170},
        {"gpt-4o", false, {768, 1025}, 85 + 6 * 170},
        {"gpt-4o-mini", false, {512, 512}, 2833 + 4 * 5667},
        {"gpt-5", false, {1024, 1024}, 70 + 4 * 140},
        {"o3", false, {1024, 1024}, 75 + 4 * 150},
        {"gpt-4o", false, {1, 2147483647}, 85 + 64 * 170},
        {"claude-opus-4", false, {1024, 1024}, 520},
    };

    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(images); i++) {
        int64_t got = tg_media_image(images[i].model, images[i].low, &images[i].size);

        if (got != images[i].tokens)
            fail_msg("%s %lldx%lld: %lld", images[i].model, (long long)images[i].size.width,
                     (long long)images[i].size.height, (long long)got);
    }
}

#define URL(type, data) "data:image/" type ";base64," data

static const struct {
    const char *what, *url;
    struct tg_image_size size; /* width 0: unknown */
} urls[] = {
    {"PNG", URL("png", "iVBORw0KGgoAAAANSUhEUgAAASwAAADIAAAAAAAA"), {300, 200}},
    {"GIF", URL("gif", "R0lGODlhLAHIAAAA"), {300, 200}},
    {"WebP, lossy", URL("webp", "UklGRgAAAABXRUJQVlA4IAAAAAAAAACdASosAcgAAAA="), {300, 200}},
    {"WebP, lossless", URL("webp", "UklGRgAAAABXRUJQVlA4TAAAAAAvK8ExAAAA"), {300, 200}},
    {"WebP, extended", URL("webp", "UklGRgAAAABXRUJQVlA4WAAAAAAAAAAAKwEAxwAAAAA="), {300, 200}},
    {"JPEG behind two segments",
     URL("jpeg", "/9j/4AAEAAD/2wADAP//wAAICADIASwDAAAA"), {300, 200}},
    {"the type does not matter", URL("x", "R0lGODlhLAHIAAAA"), {300, 200}},
    {"JPEG without a frame", URL("jpeg", "/9j/4AAEAAA="), {0, 0}},
    {"JPEG with an endless segment", URL("jpeg", "/9j/4AAA"), {0, 0}},
    {"PNG cut off", URL("png", "iVBORw0KGgoAAAANSUhEUgAAASwA"), {0, 0}},
    {"PNG of no width", URL("png", "iVBORw0KGgoAAAANSUhEUgAAAAAAAADIAAAA"), {0, 0}},
    {"PNG of 2^32 - 1", URL("png", "iVBORw0KGgoAAAANSUhEUv////8AAADIAAAA"), {0, 0}},
    {"text", URL("png", "aGVsbG8gd29ybGQsIGhlbGxvIHdvcmxk"), {0, 0}},
    {"nothing", URL("png", ""), {0, 0}},
    {"not base64", "data:image/png,abc", {0, 0}},
    {"an address", "https://example.org/a.png", {0, 0}},
    {"no comma", "data:image/png;base64", {0, 0}},
};

static void sizes_are_read_from_the_first_bytes(void **state)
{
    (void)state;
    for (size_t i = 0; i < TG_COUNT_OF(urls); i++) {
        const struct tg_span url = {urls[i].url, strlen(urls[i].url)};
        struct tg_image_size size = {0, 0};
        bool known = tg_image_size_of_url(url, &size);

        if (known != (urls[i].size.width > 0) || size.width != urls[i].size.width ||
            size.height != urls[i].size.height)
            fail_msg("%s: %lldx%lld", urls[i].what, (long long)size.width, (long long)size.height);
        /* Cut anywhere it is known or not, never read beyond. */
        for (size_t len = 0; len < url.len; len++) {
            char *copy = test_malloc(len + 1);

            memcpy(copy, url.ptr, len);
            (void)!tg_image_size_of_url((struct tg_span){copy, len}, &size);
            test_free(copy);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unseen_images_count_by_model),
        cmocka_unit_test(seen_images_count_by_size),
        cmocka_unit_test(sizes_are_read_from_the_first_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
