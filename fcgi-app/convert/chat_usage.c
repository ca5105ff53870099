#include "fcgi-app/convert/chat_usage.h"

#include "fcgi-app/convert/usage_figures.h"

bool tg_chat_usage_read(struct tg_span object, struct tg_usage *ret)
{
    struct tg_figures figures;

    tg_figures_init(&figures, TG_FIGURES_CHAT);
    tg_figures_read_chat(&figures, object);
    return tg_figures_usage(&figures, ret);
}
