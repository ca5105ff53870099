/* Text to tree: one pass, recursive descent, every failure with its column. */
#include "common/price/expression_tree.h"

#include "common/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Nested deeper than anybody writes; a number has the digits that rational.h reads. */
enum { DEPTH_MOST = 40, DIGITS_MOST = 30, WORD_MOST = 32 };

const char *const tg_expression_names[TG_NAME__COUNT] = {
    [TG_NAME_P] = "p",      [TG_NAME_C] = "c",       [TG_NAME_LEN] = "len",
    [TG_NAME_CR] = "cr",    [TG_NAME_CW5] = "cw5",   [TG_NAME_CW1H] = "cw1h",
    [TG_NAME_IMG] = "img",  [TG_NAME_AI] = "ai",     [TG_NAME_AO] = "ao",
    [TG_NAME_R] = "r",
};

struct parser {
    const char *text, *at;
    struct tg_expression *made;
    char *free_text; /* room for the next text of a node */
    int depth;
    bool failed;
    struct tg_error *err;
};

/* A node, and whether it is a number; -1 after a failure. */
struct term {
    int node;
    bool truth;
};

static const struct term nothing = {-1, false};

static int column_of(const struct parser *parser, const char *at)
{
    return (int)(at - parser->text) + 1;
}

/* The first failure is kept. */
static struct term fail(struct parser *parser, const char *at, const char *problem)
{
    if (!parser->failed)
        tg_fail(parser->err, TG_CLASS_INVALID, "expression_invalid", "column %d: %s",
                column_of(parser, at), problem);
    parser->failed = true;
    return nothing;
}

/* Behind what is only space. */
static const char *next(struct parser *parser)
{
    return parser->at += strspn(parser->at, " \t\r\n");
}

/* Takes <token> when it comes next. */
static bool take(struct parser *parser, const char *token)
{
    size_t len = strlen(token);

    if (parser->failed || strncmp(next(parser), token, len) != 0)
        return false;
    parser->at += len;
    return true;
}

static bool expect(struct parser *parser, const char *token, const char *problem)
{
    if (take(parser, token))
        return true;
    fail(parser, parser->at, problem);
    return false;
}

static struct term add_node(struct parser *parser, const struct tg_node *node)
{
    struct tg_expression *made = parser->made;

    if (parser->failed)
        return nothing;
    if (made->count == TG_NODES_MOST)
        return fail(parser, parser->at, "the expression is too long");
    made->nodes[made->count] = *node;
    return (struct term){made->count++, node->op >= TG_OP_LESS};
}

static bool want(struct parser *parser, struct term term, bool truth, const char *at)
{
    if (parser->failed)
        return false;
    if (term.truth == truth)
        return true;
    fail(parser, at, truth ? "a comparison is wanted here" : "a number is wanted here");
    return false;
}

static struct term join(struct parser *parser, enum tg_op op, const char *at, struct term a,
                        struct term b)
{
    return add_node(parser, &(struct tg_node){.op = op,
                                              .column = column_of(parser, at),
                                              .a = (short)a.node,
                                              .b = (short)b.node});
}

/* Copies a piece of the text for a node. */
static const char *keep(struct parser *parser, const char *from, size_t len)
{
    char *kept = parser->free_text;

    memcpy(kept, from, len);
    kept[len] = '\0';
    parser->free_text += len + 1;
    return kept;
}

static struct term parse_choice(struct parser *parser);

static struct term parse_number(struct parser *parser)
{
    const char *at = next(parser);
    struct term made = parse_choice(parser);

    return want(parser, made, false, at) ? made : nothing;
}

/* --- words --------------------------------------------------------------------------------- */

static struct term number(struct parser *parser)
{
    const char *from = parser->at;
    size_t whole = strspn(from, "0123456789"), len = whole;

    if (from[whole] == '.') {
        size_t places = strspn(from + whole + 1, "0123456789");

        if (places == 0)
            return fail(parser, from + whole, "digits are missing behind the point");
        len += 1 + places;
    }
    if (len > DIGITS_MOST)
        return fail(parser, from, "the number is too long");
    if (strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_.", from[len]) != NULL &&
        from[len] != '\0')
        return fail(parser, from + len, "a number is digits with at most one point");
    parser->at += len;
    return add_node(parser, &(struct tg_node){.op = TG_OP_NUMBER,
                                              .column = column_of(parser, from),
                                              .text = keep(parser, from, len)});
}

/* min and max take any number of values: a chain of pairs. */
static struct term extreme(struct parser *parser, enum tg_op op, const char *word)
{
    struct term sum = parse_number(parser);

    while (!parser->failed && take(parser, ",")) {
        struct term more = parse_number(parser);

        sum = join(parser, op, word, sum, more);
    }
    return sum;
}

static struct term tier(struct parser *parser, const char *word)
{
    const char *from, *end;
    struct term value;
    const char *name;

    if (!expect(parser, "\"", "a name in quotation marks is wanted here"))
        return nothing;
    from = parser->at;
    end = from + strcspn(from, "\"");
    if (*end == '\0' || end == from || end - from >= TG_EXPRESSION_TIER_TEXT)
        return fail(parser, from, "a tier's name has 1 to 64 characters and ends with \"");
    name = keep(parser, from, (size_t)(end - from));
    parser->at = end + 1;
    if (!expect(parser, ",", "a comma is wanted here"))
        return nothing;
    value = parse_number(parser);
    return add_node(parser, &(struct tg_node){.op = TG_OP_TIER,
                                              .column = column_of(parser, word),
                                              .a = (short)value.node,
                                              .text = name});
}

static struct term call(struct parser *parser, const char *word, size_t len)
{
    static const struct {
        const char *name;
        enum tg_op op;
    } functions[] = {{"min", TG_OP_MIN},     {"max", TG_OP_MAX},     {"ceil", TG_OP_CEIL},
                     {"floor", TG_OP_FLOOR}, {"fixed", TG_OP_FIXED}, {"tier", TG_OP_TIER}};
    struct term made;
    size_t i = 0;

    while (i < TG_COUNT_OF(functions) && (strlen(functions[i].name) != len ||
                                          memcmp(functions[i].name, word, len) != 0))
        i++;
    if (i == TG_COUNT_OF(functions))
        return fail(parser, word, "there is no such function");
    if (functions[i].op == TG_OP_TIER)
        made = tier(parser, word);
    else if (functions[i].op == TG_OP_MIN || functions[i].op == TG_OP_MAX)
        made = extreme(parser, functions[i].op, word);
    else
        made = join(parser, functions[i].op, word, parse_number(parser), nothing);
    return expect(parser, ")", "a closing parenthesis is wanted here") ? made : nothing;
}

static struct term name(struct parser *parser, const char *word, size_t len)
{
    static const char prefix[] = "price.";
    struct tg_node node = {.op = TG_OP_USAGE, .column = column_of(parser, word)};

    for (; node.which < TG_NAME__COUNT; node.which++)
        if (strlen(tg_expression_names[node.which]) == len &&
            memcmp(tg_expression_names[node.which], word, len) == 0) {
            parser->made->used |= 1u << node.which;
            return add_node(parser, &node);
        }
    node.op = TG_OP_PRICE;
    if (len > sizeof prefix && memcmp(word, prefix, sizeof prefix - 1) == 0)
        for (node.which = 0; node.which < TG_RATE__COUNT; node.which++) {
            const char *rate = tg_rate_name((enum tg_rate)node.which);

            if (strlen(rate) == len - (sizeof prefix - 1) &&
                memcmp(rate, word + sizeof prefix - 1, strlen(rate)) == 0)
                return add_node(parser, &node);
        }
    return fail(parser, word, "there is no such name");
}

static struct term primary(struct parser *parser)
{
    const char *word;
    struct term made;
    size_t len;

    if (take(parser, "(")) {
        made = parse_choice(parser);
        return expect(parser, ")", "a closing parenthesis is wanted here") ? made : nothing;
    }
    word = parser->at;
    if (*word >= '0' && *word <= '9')
        return number(parser);
    len = strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789_.");
    if (len == 0)
        return fail(parser, word, *word == '\0' ? "the expression ends too early"
                                                : "a number, a name or ( is wanted here");
    parser->at += len;
    return take(parser, "(") ? call(parser, word, len) : name(parser, word, len);
}

/* --- operators, the tightest first ---------------------------------------------------------- */

static struct term unary(struct parser *parser)
{
    const char *at;
    struct term made;
    bool negative;

    at = next(parser);
    negative = *at == '-';
    if (!negative && !(at[0] == '!' && at[1] != '='))
        return primary(parser);
    if (++parser->depth > DEPTH_MOST)
        return fail(parser, at, "the expression is nested too deeply");
    parser->at++;
    made = unary(parser);
    parser->depth--;
    if (!want(parser, made, !negative, at))
        return nothing;
    return join(parser, negative ? TG_OP_NEG : TG_OP_NOT, at, made, nothing);
}

struct operator_row {
    const char *token;
    enum tg_op op;
};

/* One level of precedence: which operators, over what, and whether they take truths. */
struct level {
    struct operator_row operators[6];
    bool truths, once;
};

enum { LEVELS = 5 };
static const struct level levels[LEVELS] = {
    {{{"||", TG_OP_OR}}, true, false},
    {{{"&&", TG_OP_AND}}, true, false},
    {{{"<=", TG_OP_LESS_EQUAL},
      {">=", TG_OP_GREATER_EQUAL},
      {"==", TG_OP_EQUAL},
      {"!=", TG_OP_NOT_EQUAL},
      {"<", TG_OP_LESS},
      {">", TG_OP_GREATER}},
     false,
     true},
    {{{"+", TG_OP_ADD}, {"-", TG_OP_SUB}}, false, false},
    {{{"*", TG_OP_MUL}, {"/", TG_OP_DIV}}, false, false},
};

static const struct operator_row *take_operator(struct parser *parser, const struct level *level)
{
    for (size_t i = 0; i < TG_COUNT_OF(level->operators); i++)
        if (level->operators[i].token != NULL && take(parser, level->operators[i].token))
            return &level->operators[i];
    return NULL;
}

static struct term parse_level(struct parser *parser, int at_level)
{
    const struct level *level = &levels[at_level];
    const struct operator_row *found;
    const char *from;
    struct term made;

    if (at_level == LEVELS)
        return unary(parser);
    from = next(parser);
    made = parse_level(parser, at_level + 1);
    while (!parser->failed && (found = take_operator(parser, level)) != NULL) {
        const char *at = parser->at - strlen(found->token);
        struct term right;

        if (!want(parser, made, level->truths, from))
            return nothing;
        from = next(parser);
        right = parse_level(parser, at_level + 1);
        if (!want(parser, right, level->truths, from))
            return nothing;
        made = join(parser, found->op, at, made, right);
        if (level->once)
            break;
    }
    return made;
}

static struct term parse_choice(struct parser *parser)
{
    const char *at = next(parser);
    struct term made, yes, no;

    if (++parser->depth > DEPTH_MOST)
        return fail(parser, at, "the expression is nested too deeply");
    made = parse_level(parser, 0);
    if (take(parser, "?")) {
        if (!want(parser, made, true, at))
            return nothing;
        yes = parse_number(parser);
        if (!expect(parser, ":", "the : of a choice is wanted here"))
            return nothing;
        no = parse_number(parser);
        made = add_node(parser, &(struct tg_node){.op = TG_OP_CHOOSE,
                                                  .column = column_of(parser, at),
                                                  .a = (short)made.node,
                                                  .b = (short)yes.node,
                                                  .c = (short)no.node});
    }
    parser->depth--;
    return made;
}

/* --- the whole ----------------------------------------------------------------------------- */

static void parse(struct parser *parser)
{
    struct term root = parse_number(parser);

    if (!parser->failed && *next(parser) != '\0')
        fail(parser, parser->at, "an operator is wanted here");
    parser->made->root = root.node;
}

enum tg_class tg_expression_parse(const char *text, struct tg_expression **ret,
                                  struct tg_error *err)
{
    size_t len = strnlen(text, TG_EXPRESSION_TEXT + 1);
    struct parser parser = {.text = text, .at = text, .err = err};

    if (len > TG_EXPRESSION_TEXT)
        return tg_fail(err, TG_CLASS_INVALID, "expression_invalid",
                       "column %d: the expression is too long", TG_EXPRESSION_TEXT + 1);
    parser.made = tg_calloc(1, sizeof *parser.made);
    /* pieces of the text, each with its end: never more than twice the text */
    parser.made->texts = parser.free_text = tg_malloc(2 * len + 1);
    parse(&parser);
    if (parser.failed) {
        tg_expression_free(parser.made);
        return TG_CLASS_INVALID;
    }
    *ret = parser.made;
    return TG_OK;
}

void tg_expression_free(struct tg_expression *expression)
{
    if (expression == NULL)
        return;
    free(expression->texts);
    free(expression);
}
