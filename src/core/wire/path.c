#include "core/wire/path.h"

#include <stdio.h>

bool path_wrap(const struct path_step *path, size_t steps, struct error *e)
{
    char text[160] = "";
    size_t n = 0;
    for (size_t i = 0; i < steps && n < sizeof(text); i++) {
        const struct path_step *s = &path[i];
        bool is_plain = str_find(s->name, '.') == s->name.n && str_find(s->name, '/') == s->name.n;
        const char *dot = i ? "." : "";
        int more = s->is_index ? snprintf(text + n, sizeof(text) - n, "[%u]", s->index)
                   : is_plain
                       ? snprintf(text + n, sizeof(text) - n, "%s" STR_FMT, dot, STR_ARG(s->name))
                       : snprintf(text + n, sizeof(text) - n, "[" STR_FMT "]", STR_ARG(s->name));
        n += (size_t)more;
    }
    return n ? error_wrap(e, "%s", text) : false;
}
