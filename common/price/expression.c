/* The tree to a value: exact, and only the branches that are taken. */
#include "common/price/expression_tree.h"

#include <stdio.h>

struct evaluation {
    const struct tg_expression *expression;
    const struct tg_expression_input *input;
    char *tier;
    struct tg_error *err;
};

static bool is_used(const struct tg_expression *expression, enum tg_expression_name name)
{
    return (expression->used & 1u << name) != 0;
}

/* Kinds of input that p holds unless the formula names them. */
static const struct {
    enum tg_expression_name name;
    enum tg_rate rate;
} kinds[] = {
    {TG_NAME_CR, TG_RATE_CACHE_READ},        {TG_NAME_CW5, TG_RATE_CACHE_WRITE_5M},
    {TG_NAME_CW1H, TG_RATE_CACHE_WRITE_1H},  {TG_NAME_IMG, TG_RATE_IMAGE},
    {TG_NAME_AI, TG_RATE_AUDIO_IN},
};

static int64_t plain_input(const struct tg_expression *expression, const struct tg_usage *usage)
{
    int64_t tokens = tg_usage_base_tokens(usage);

    for (size_t i = 0; i < TG_COUNT_OF(kinds); i++)
        if (!is_used(expression, kinds[i].name))
            tokens += tg_rate_tokens(usage, kinds[i].rate);
    return tokens;
}

static int64_t usage_of(const struct tg_expression *expression, const struct tg_usage *usage,
                        enum tg_expression_name name)
{
    switch (name) {
    case TG_NAME_P:
        return plain_input(expression, usage);
    case TG_NAME_C:
        return usage->output - (is_used(expression, TG_NAME_AO) ? usage->audio_out : 0);
    case TG_NAME_LEN:
        return tg_usage_input_total(usage);
    case TG_NAME_AO:
        return usage->audio_out;
    case TG_NAME_R:
        return usage->reasoning;
    default:
        break;
    }
    for (size_t i = 0; i < TG_COUNT_OF(kinds); i++)
        if (kinds[i].name == name)
            return tg_rate_tokens(usage, kinds[i].rate);
    return 0;
}

static bool compute(const struct evaluation *run, int at, struct tg_rational *ret);

static bool leaf(const struct evaluation *run, const struct tg_node *node, struct tg_rational *ret)
{
    switch (node->op) {
    case TG_OP_USAGE:
        tg_rational_set_int(ret, usage_of(run->expression, run->input->usage,
                                          (enum tg_expression_name)node->which));
        return true;
    case TG_OP_PRICE:
        return tg_rate_value(run->input->rates, (enum tg_rate)node->which, ret);
    default:
        return tg_rational_set_decimal(ret, node->text);
    }
}

static bool one(const struct evaluation *run, const struct tg_node *node, struct tg_rational *ret)
{
    if (!compute(run, node->a, ret))
        return false;
    switch (node->op) {
    case TG_OP_NEG:
        tg_rational_mul_int(ret, -1);
        break;
    case TG_OP_CEIL:
        tg_rational_ceil(ret);
        break;
    case TG_OP_FLOOR:
        tg_rational_floor(ret);
        break;
    case TG_OP_FIXED:
        tg_rational_mul_int(ret, 1000000);
        break;
    default: /* TG_OP_TIER; of nested ones the outer name stays */
        snprintf(run->tier, TG_EXPRESSION_TIER_TEXT, "%s", node->text);
        break;
    }
    return true;
}

static bool combine(const struct evaluation *run, const struct tg_node *node,
                    struct tg_rational *left, const struct tg_rational *right)
{
    switch (node->op) {
    case TG_OP_ADD:
        tg_rational_add(left, right);
        return true;
    case TG_OP_SUB:
        tg_rational_sub(left, right);
        return true;
    case TG_OP_MUL:
        tg_rational_mul(left, right);
        return true;
    case TG_OP_MIN:
    case TG_OP_MAX:
        if ((tg_rational_cmp(right, left) < 0) == (node->op == TG_OP_MIN))
            tg_rational_set(left, right);
        return true;
    default:
        break;
    }
    if (tg_rational_is_zero(right)) {
        tg_fail(run->err, TG_CLASS_INVALID, "expression_invalid", "column %d: a division by zero",
                node->column);
        return false;
    }
    tg_rational_div(left, right);
    return true;
}

static bool two(const struct evaluation *run, const struct tg_node *node, struct tg_rational *ret)
{
    struct tg_rational *right = tg_rational_new();
    bool ok = compute(run, node->a, ret) && compute(run, node->b, right) &&
              combine(run, node, ret, right);

    tg_rational_free(right);
    return ok;
}

static bool compare(enum tg_op op, int order)
{
    switch (op) {
    case TG_OP_LESS:
        return order < 0;
    case TG_OP_LESS_EQUAL:
        return order <= 0;
    case TG_OP_GREATER:
        return order > 0;
    case TG_OP_GREATER_EQUAL:
        return order >= 0;
    case TG_OP_EQUAL:
        return order == 0;
    default:
        return order != 0;
    }
}

static bool test(const struct evaluation *run, int at, bool *ret)
{
    const struct tg_node *node = &run->expression->nodes[at];
    struct tg_rational *left, *right;
    bool ok;

    if (node->op == TG_OP_NOT || node->op == TG_OP_AND || node->op == TG_OP_OR) {
        if (!test(run, node->a, ret))
            return false;
        if (node->op == TG_OP_NOT) {
            *ret = !*ret;
            return true;
        }
        return *ret == (node->op == TG_OP_OR) || test(run, node->b, ret);
    }
    left = tg_rational_new();
    right = tg_rational_new();
    ok = compute(run, node->a, left) && compute(run, node->b, right);
    if (ok)
        *ret = compare(node->op, tg_rational_cmp(left, right));
    tg_rational_free(left);
    tg_rational_free(right);
    return ok;
}

static bool compute(const struct evaluation *run, int at, struct tg_rational *ret)
{
    const struct tg_node *node = &run->expression->nodes[at];
    bool yes;

    switch (node->op) {
    case TG_OP_NUMBER:
    case TG_OP_USAGE:
    case TG_OP_PRICE:
        return leaf(run, node, ret);
    case TG_OP_NEG:
    case TG_OP_CEIL:
    case TG_OP_FLOOR:
    case TG_OP_FIXED:
    case TG_OP_TIER:
        return one(run, node, ret);
    case TG_OP_CHOOSE:
        return test(run, node->a, &yes) && compute(run, yes ? node->b : node->c, ret);
    default:
        return two(run, node, ret);
    }
}

enum tg_class tg_expression_value(const struct tg_expression *expression,
                                  const struct tg_expression_input *input,
                                  struct tg_rational *ret, char tier[TG_EXPRESSION_TIER_TEXT],
                                  struct tg_error *err)
{
    const struct evaluation run = {expression, input, tier, err};

    tier[0] = '\0';
    return compute(&run, expression->root, ret) ? TG_OK : TG_CLASS_INVALID;
}

void tg_expression_each(const struct tg_expression *expression,
                        const struct tg_expression_input *input, tg_expression_visit_fn *visit,
                        void *context)
{
    for (int i = 0; i < TG_NAME__COUNT; i++)
        if (is_used(expression, (enum tg_expression_name)i))
            visit(context, tg_expression_names[i],
                  usage_of(expression, input->usage, (enum tg_expression_name)i));
}

/* --- the dry run --------------------------------------------------------------------------- */

static enum tg_class try_one(const struct tg_expression *expression, const struct tg_rates *rates,
                             const struct tg_usage *usage, struct tg_error *err)
{
    const struct tg_expression_input input = {usage, rates};
    struct tg_rational *value = tg_rational_new();
    char tier[TG_EXPRESSION_TIER_TEXT];
    enum tg_class class = tg_expression_value(expression, &input, value, tier, err);

    if (class == TG_OK && tg_rational_is_negative(value))
        class = tg_fail(err, TG_CLASS_INVALID, "expression_negative",
                        "the price is negative for %lld input and %lld output tokens",
                        (long long)tg_usage_input_total(usage), (long long)usage->output);
    tg_rational_free(value);
    return class;
}

enum tg_class tg_expression_try(const struct tg_expression *expression,
                                const struct tg_rates *rates, struct tg_error *err)
{
    static const int64_t sizes[] = {0, 1, 100, 1000, 32001, 128001, 200001, 1000001,
                                    TG_USAGE_TOKENS_MAX / 8};
    enum tg_class class = TG_OK;

    /* bits: output too, caches, media */
    for (size_t i = 0; i < TG_COUNT_OF(sizes) * 8 && class == TG_OK; i++) {
        int64_t size = sizes[i / 8], out = (i & 1) != 0 ? size : 0;
        int64_t cached = (i & 2) != 0 ? size : 0, media = (i & 4) != 0 ? size : 0;
        const struct tg_usage usage = {.semantics = TG_USAGE_INPUT_EXCLUDES_CACHE,
                                       .source = TG_USAGE_UPSTREAM,
                                       .input = size + 2 * media,
                                       .cache_read = cached,
                                       .cache_write_5m = cached,
                                       .cache_write_1h = cached,
                                       .image_in = media,
                                       .audio_in = media,
                                       .output = 2 * out,
                                       .reasoning = out,
                                       .audio_out = media != 0 ? out : 0};

        class = try_one(expression, rates, &usage, err);
    }
    return class;
}
