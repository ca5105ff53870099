/* expression_tree - the parsed form of expression.h, for the files beside it. */
#ifndef TOLLGATE_PRICE_EXPRESSION_TREE_H
#define TOLLGATE_PRICE_EXPRESSION_TREE_H

#include "common/price/expression.h"

enum tg_op {
    TG_OP_NUMBER,
    TG_OP_USAGE, /* which: enum tg_expression_name */
    TG_OP_PRICE, /* which: enum tg_rate */
    TG_OP_ADD,
    TG_OP_SUB,
    TG_OP_MUL,
    TG_OP_DIV,
    TG_OP_NEG,
    TG_OP_MIN,
    TG_OP_MAX,
    TG_OP_CEIL,
    TG_OP_FLOOR,
    TG_OP_FIXED,
    TG_OP_TIER,
    TG_OP_CHOOSE, /* a ? b : c */
    /* the rest is true or false */
    TG_OP_LESS,
    TG_OP_LESS_EQUAL,
    TG_OP_GREATER,
    TG_OP_GREATER_EQUAL,
    TG_OP_EQUAL,
    TG_OP_NOT_EQUAL,
    TG_OP_AND,
    TG_OP_OR,
    TG_OP_NOT
};

enum tg_expression_name {
    TG_NAME_P,
    TG_NAME_C,
    TG_NAME_LEN,
    TG_NAME_CR,
    TG_NAME_CW5,
    TG_NAME_CW1H,
    TG_NAME_IMG,
    TG_NAME_AI,
    TG_NAME_AO,
    TG_NAME_R,
    TG_NAME__COUNT
};
extern const char *const tg_expression_names[TG_NAME__COUNT];

enum { TG_NODES_MOST = 256 };

struct tg_node {
    enum tg_op op;
    int column; /* of the operator or word, from 1 */
    int which;
    short a, b, c; /* nodes */
    const char *text; /* a number's digits, a tier's name */
};

struct tg_expression {
    struct tg_node nodes[TG_NODES_MOST];
    int count, root;
    unsigned used; /* bit per enum tg_expression_name */
    char *texts;   /* what the nodes' text points into */
};

#endif
