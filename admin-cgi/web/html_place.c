#include "admin-cgi/web/html_place.h"

#include <ctype.h>
#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool add_char(char *word, size_t room, char c)
{
    size_t len = strlen(word);

    if (len + 1 >= room)
        return false;
    word[len] = (char)tolower((unsigned char)c);
    word[len + 1] = '\0';
    return true;
}

static bool is_word_char(char c)
{
    return isalnum((unsigned char)c) || c == '-' || c == '_' || c == ':';
}

static bool end_tag(struct web_html_place *place)
{
    place->state = WEB_HTML_TEXT;
    place->raw = !place->closing && (strcmp(place->element, "script") == 0 ||
                                     strcmp(place->element, "style") == 0);
    return true;
}

static enum web_html_state value_state(const char *attribute)
{
    static const char *const urls[] = {"href", "src", "action", "formaction"};

    for (size_t i = 0; i < TG_COUNT_OF(urls); i++)
        if (strcmp(attribute, urls[i]) == 0)
            return WEB_HTML_URL_START;
    if (strncmp(attribute, "on", 2) == 0 || strcmp(attribute, "style") == 0 ||
        strcmp(attribute, "srcdoc") == 0 || strcmp(attribute, "srcset") == 0 ||
        strcmp(attribute, "http-equiv") == 0 || strcmp(attribute, "content") == 0)
        return WEB_HTML_FORBIDDEN;
    return WEB_HTML_VALUE;
}

static bool step_text(struct web_html_place *place, char c)
{
    if (c == '<') {
        place->state = WEB_HTML_TAG_NAME;
        place->closing = false;
        place->element[0] = '\0';
        return true;
    }
    return !place->raw || is_blank(c);
}

static bool step_tag_name(struct web_html_place *place, char c)
{
    if (place->element[0] == '\0' && !place->closing) {
        if (c == '!') {
            place->state = WEB_HTML_DECLARATION;
            return !place->raw;
        }
        if (c == '/') {
            place->closing = true;
            return true;
        }
    }
    if (is_word_char(c))
        return (!place->raw || place->closing) &&
               add_char(place->element, sizeof place->element, c);
    if (place->element[0] == '\0')
        return false; /* "< " is no tag: write &lt; */
    if (c == '>')
        return end_tag(place);
    place->state = WEB_HTML_TAG;
    return is_blank(c) || c == '/';
}

static bool step_tag(struct web_html_place *place, char c)
{
    if (is_blank(c) || c == '/')
        return true;
    if (c == '>')
        return end_tag(place);
    if (!is_word_char(c))
        return false;
    place->state = WEB_HTML_ATTRIBUTE;
    place->attribute[0] = '\0';
    return add_char(place->attribute, sizeof place->attribute, c);
}

static bool step_attribute(struct web_html_place *place, char c)
{
    if (is_word_char(c))
        return add_char(place->attribute, sizeof place->attribute, c);
    if (c == '=') {
        place->state = WEB_HTML_EQUALS;
        return true;
    }
    if (c == '>')
        return end_tag(place);
    place->state = WEB_HTML_TAG;
    return is_blank(c);
}

static bool step_value(struct web_html_place *place, char c)
{
    if (c == '"')
        place->state = WEB_HTML_TAG;
    else if (place->state == WEB_HTML_URL_START)
        place->state = WEB_HTML_URL;
    return true;
}

bool web_html_step(struct web_html_place *place, char c)
{
    switch (place->state) {
    case WEB_HTML_TEXT:
        return step_text(place, c);
    case WEB_HTML_TAG_NAME:
        return step_tag_name(place, c);
    case WEB_HTML_TAG:
        return step_tag(place, c);
    case WEB_HTML_ATTRIBUTE:
        return step_attribute(place, c);
    case WEB_HTML_EQUALS:
        place->state = value_state(place->attribute);
        return c == '"';
    case WEB_HTML_VALUE:
    case WEB_HTML_URL_START:
    case WEB_HTML_URL:
    case WEB_HTML_FORBIDDEN:
        return step_value(place, c);
    case WEB_HTML_DECLARATION:
        if (c == '>')
            place->state = WEB_HTML_TEXT;
        return c != '-' && c != '<'; /* no comments */
    }
    return false;
}

bool web_html_may_vary(const struct web_html_place *place)
{
    return (place->state == WEB_HTML_TEXT && !place->raw) || place->state == WEB_HTML_VALUE ||
           place->state == WEB_HTML_URL_START || place->state == WEB_HTML_URL;
}

void web_html_varied(struct web_html_place *place)
{
    if (place->state == WEB_HTML_URL_START)
        place->state = WEB_HTML_URL;
}

static bool is_url(enum web_html_state state)
{
    return state == WEB_HTML_URL_START || state == WEB_HTML_URL;
}

static bool in_tag(enum web_html_state state)
{
    return state != WEB_HTML_TEXT && state != WEB_HTML_DECLARATION;
}

/* Inside a URL everything is percent-encoded, which is right for its beginning too. An attribute
 * without a value that ends a section ends where the tag goes on. */
bool web_html_join(struct web_html_place *place, const struct web_html_place *other)
{
    if (is_url(place->state) && is_url(other->state) && place->state != other->state) {
        place->state = WEB_HTML_URL;
        return true;
    }
    if (place->state == WEB_HTML_ATTRIBUTE && other->state == WEB_HTML_TAG) {
        place->state = WEB_HTML_TAG;
        return strcmp(place->element, other->element) == 0;
    }
    return place->state == other->state && place->raw == other->raw &&
           (!in_tag(place->state) || (strcmp(place->element, other->element) == 0 &&
                                      place->closing == other->closing));
}
