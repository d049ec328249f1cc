#include "core/framework/why.h"

#include <stdlib.h>

void why_clear(struct why *w)
{
    vec_clear(&w->lines);
    w->nodes = 0;
}

void why_done(struct why *w)
{
    vec_done(&w->lines);
}

void why_copy(struct why *to, const struct why *from)
{
    why_clear(to);
    to->nodes = from->nodes;
    vec_each(&from->lines, line)
        vec_push(&to->lines, *line);
}

void why_add(struct why *w, reason_id reason, uint32_t nodes)
{
    if (nodes == 0)
        return;
    vec_each(&w->lines, line)
        if (line->reason == reason) {
            line->nodes += nodes;
            return;
        }
    vec_push(&w->lines, (struct why_line){reason, nodes});
}

static struct str first_text(const struct reasons *reasons, reason_id id)
{
    const struct reason *reason = reasons_at(reasons, id);
    return reason->n_texts ? reason->texts[0] : STR("");
}

bool why_is_weightier(const struct why_line *line, const struct why_line *other,
                      const struct reasons *reasons)
{
    if (!other || line->nodes != other->nodes)
        return !other || line->nodes > other->nodes;
    return str_compare(first_text(reasons, line->reason), first_text(reasons, other->reason)) < 0;
}

reason_id why_weightiest(const struct why *w, const struct reasons *reasons)
{
    const struct why_line *best = NULL;
    vec_each(&w->lines, line)
        best = why_is_weightier(line, best, reasons) ? line : best;
    return best ? best->reason : 0;
}

uint64_t why_plugins(const struct why *w, const struct reasons *reasons, const struct class *class)
{
    if (class->refusal)
        return class->refused_by;
    uint64_t plugins = class->restricted_by;
    vec_each(&w->lines, line)
        plugins |= reasons_plugin(reasons, line->reason);
    return plugins;
}

/* --- text --- */

struct text_count {
    struct str text;
    uint32_t nodes;
};

static int by_text(const void *a, const void *b)
{
    return str_compare(*(const struct str *)a, *(const struct str *)b);
}

/* Nodes per text: different reasons may share some of their texts. */
static uint32_t count_texts(const struct why *w, const struct reasons *reasons,
                            struct text_count *out)
{
    uint32_t n = 0;
    vec_each(&w->lines, line) {
        const struct reason *reason = reasons_at(reasons, line->reason);
        for (uint32_t t = 0; t < reason->n_texts; t++) {
            uint32_t i = 0;
            while (i < n && !str_equal(out[i].text, reason->texts[t]))
                i++;
            if (i == n)
                out[n++] = (struct text_count){reason->texts[t], 0};
            out[i].nodes += line->nodes;
        }
    }
    return n;
}

/* "<count> <reason>" */
static struct str line_of(struct arena *mem, struct text_count count)
{
    char number[16], *at = number + sizeof(number);
    *--at = ' ';
    for (uint32_t left = count.nodes; at == number + sizeof(number) - 1 || left; left /= 10)
        *--at = (char)('0' + left % 10);
    size_t n = (size_t)(number + sizeof(number) - at);
    char *text = arena_alloc(mem, n + count.text.n);
    memcpy(text, at, n);
    memcpy(text + n, count.text.p, count.text.n);
    return (struct str){text, n + count.text.n};
}

/* "<count> <reason>", sorted as whole strings, as upstream does: "10 …" stands before "2 …". */
static void add_histogram(const struct why *w, const struct reasons *reasons, struct buf *out)
{
    uint32_t most = 0;
    vec_each(&w->lines, line)
        most += reasons_at(reasons, line->reason)->n_texts;
    if (most == 0)
        return;
    struct arena mem = {0};
    struct text_count *counts = arena_array(&mem, struct text_count, most);
    uint32_t n = count_texts(w, reasons, counts);
    struct str *lines = arena_array(&mem, struct str, n);
    for (uint32_t i = 0; i < n; i++)
        lines[i] = line_of(&mem, counts[i]);
    qsort(lines, n, sizeof(*lines), by_text);
    for (uint32_t i = 0; i < n; i++) {
        buf_add(out, i ? STR(", ") : STR(" "));
        buf_add(out, lines[i]);
    }
    buf_add_char(out, '.');
    arena_done(&mem);
}

static void add_total(const struct why *w, struct buf *out)
{
    buf_add(out, STR("0/"));
    buf_add_number(out, w->nodes, 10);
    buf_add(out, STR(" nodes are available:"));
}

void why_histogram(const struct why *w, const struct reasons *reasons, struct buf *out)
{
    add_total(w, out);
    add_histogram(w, reasons, out);
}

bool why_errors(const struct why *w, const struct reasons *reasons, struct buf *out)
{
    uint32_t n = 0, at = 0;
    vec_each(&w->lines, line)
        n += reasons_at(reasons, line->reason)->code == CODE_ERROR;
    vec_each(&w->lines, line) {
        const struct reason *reason = reasons_at(reasons, line->reason);
        if (reason->code != CODE_ERROR)
            continue;
        buf_printf(out, "%s" STR_FMT, at++ ? ", " : n > 1 ? "[" : "", STR_ARG(reason->texts[0]));
    }
    if (n > 1)
        buf_add_char(out, ']');
    return n > 0;
}

void why_text(const struct why *w, const struct reasons *reasons, const struct class *class,
              struct buf *out)
{
    if (w->nodes == 0) {
        buf_add(out, STR("no nodes available to schedule pods"));
        return;
    }
    if (!class->refusal) {
        why_histogram(w, reasons, out);
        return;
    }
    add_total(w, out);
    const struct reason *reason = reasons_at(reasons, class->refusal);
    bool is_own = class->refusal_text.n > 0;
    const struct str *texts = is_own ? &class->refusal_text : reason->texts;
    for (uint32_t i = 0; i < (is_own ? 1 : reason->n_texts); i++)
        buf_printf(out, "%s" STR_FMT, i ? ", " : " ", STR_ARG(texts[i]));
    buf_add_char(out, '.');
}
