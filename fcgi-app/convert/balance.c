#include "fcgi-app/convert/balance.h"

static void add_in_string(struct tg_balance *balance, char c)
{
    if (balance->escaped)
        balance->escaped = false;
    else if (c == '\\')
        balance->escaped = true;
    else if (c == '"')
        balance->in_string = false;
}

void tg_balance_add(struct tg_balance *balance, struct tg_span text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];

        if (balance->in_string)
            add_in_string(balance, c);
        else if (c == '"')
            balance->in_string = true;
        else if (c == '{' || c == '[') {
            balance->depth++;
            balance->opened = true;
        } else if (c == '}' || c == ']')
            balance->depth--;
    }
}

bool tg_balance_is_complete(const struct tg_balance *balance)
{
    return balance->opened && balance->depth == 0 && !balance->in_string;
}
