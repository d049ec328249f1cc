#include "core/base/error.h"

#include <stdarg.h>
#include <stdio.h>

#define ELLIPSIS "…"

/* Marks a text of `wanted` bytes that did not fit, cutting before a whole UTF-8 character. */
static void mark_cut(char *text, size_t room, int wanted)
{
    if (wanted < 0 || (size_t)wanted < room)
        return;
    size_t end = room - sizeof(ELLIPSIS);
    while (end > 0 && ((unsigned char)text[end] & 0xc0) == 0x80)
        end--;
    memcpy(text + end, ELLIPSIS, sizeof(ELLIPSIS));
}

bool error_set(struct error *e, enum error_kind kind, const char *fmt, ...)
{
    assert(kind != ERROR_NONE);
    e->kind = kind;
    va_list args;
    va_start(args, fmt);
    int wanted = vsnprintf(e->text, sizeof(e->text), fmt, args);
    va_end(args);
    mark_cut(e->text, sizeof(e->text), wanted);
    return false;
}

bool error_wrap(struct error *e, const char *fmt, ...)
{
    assert(e->kind != ERROR_NONE);
    struct error inner = *e;
    va_list args;
    va_start(args, fmt);
    int head = vsnprintf(e->text, sizeof(e->text), fmt, args);
    va_end(args);
    if (head < 0 || (size_t)head >= sizeof(e->text)) {
        mark_cut(e->text, sizeof(e->text), head);
        return false;
    }
    size_t room = sizeof(e->text) - (size_t)head;
    int wanted = snprintf(e->text + head, room, ": %s", inner.text);
    mark_cut(e->text, sizeof(e->text), head + wanted);
    return false;
}
