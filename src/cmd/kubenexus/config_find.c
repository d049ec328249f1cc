#include "cmd/kubenexus/config_find.h"

#include "core/model/meta.h"
#include "core/model/tables.h"
#include "core/wire/json_read.h"
#include "core/wire/yaml.h"

#define KIND "KubeSchedulerConfiguration"

struct manifest {
    struct str kind;
    struct meta meta;
    pair_list data;
};

static const struct field manifest_fields[] = {
    {FIELD_ENTRIES("data", 0, struct manifest, data, pair_fields)},
    {FIELD(STR, "kind", 0, struct manifest, kind)},
    {FIELD_STRUCT("metadata", 0, struct manifest, meta, meta_fields)},
    FIELD_END,
};

/* --- lines --- */

/* Takes the first line off, without its end. */
static struct str take_line(struct str *text)
{
    size_t n = str_find(*text, '\n');
    struct str line = str_part(*text, 0, n);
    *text = str_part(*text, n + (n < text->n), text->n);
    return line;
}

static struct str trimmed(struct str line)
{
    while (line.n && (line.p[0] == ' ' || line.p[0] == '\t'))
        line = str_part(line, 1, line.n);
    while (line.n && (line.p[line.n - 1] == ' ' || line.p[line.n - 1] == '\r'))
        line.n--;
    return line;
}

/* Do the lines begin as those of `text` do, but for their margin? */
static bool stands_here(struct str lines, struct str text)
{
    for (int i = 0; i < 3 && text.n; i++)
        if (!str_equal(trimmed(take_line(&lines)), trimmed(take_line(&text))))
            return false;
    return true;
}

/* Lines of the file above a text that stands in it line by line; 0 if it does not. */
static uint32_t lines_above(struct str file, struct str text)
{
    for (uint32_t above = 0; file.n; above++) {
        if (stands_here(file, text))
            return above;
        take_line(&file);
    }
    return 0;
}

/* The document that begins on a line of the file, up to the next. */
static struct str document_at(struct str file, uint32_t line)
{
    for (uint32_t i = 1; i < line; i++)
        take_line(&file);
    size_t n = 0;
    for (struct str rest = file; rest.n; n = (size_t)(rest.p - file.p)) {
        if (str_starts(take_line(&rest), STR("---")) && n)
            return str_part(file, 0, n);
    }
    return file;
}

/* --- documents --- */

static bool has_word(struct str text, struct str word)
{
    for (size_t i = 0; i + word.n <= text.n; i++)
        if (str_starts(str_part(text, i, text.n), word))
            return true;
    return false;
}

static void look_in(struct str file, const struct manifest *m, struct arena *mem,
                    struct config_texts *out)
{
    list_each(&m->data, entry) {
        if (!has_word(entry->value, STR(KIND)))
            continue;
        struct config_text found = {
            .text = arena_str(mem, entry->value),
            .where = arena_printf(mem, STR_FMT " of ConfigMap " STR_FMT, STR_ARG(entry->key),
                                  STR_ARG(m->meta.name)),
            .line_above = lines_above(file, entry->value),
        };
        vec_push(out, found);
    }
}

static void look_at(struct str file, const struct yaml_document *d, struct arena *mem,
                    struct config_texts *out)
{
    struct manifest m = {0};
    struct error e = {0};
    size_t where;
    if (!json_read(buf_str(&d->json), manifest_fields, &m, mem, &where, &e))
        return;
    if (str_equal(m.kind, STR("ConfigMap")))
        look_in(file, &m, mem, out);
    else if (str_equal(m.kind, STR(KIND)))
        vec_push(out, (struct config_text){.text = document_at(file, d->line),
                                           .line_above = d->line - 1});
}

void config_find(struct str file, struct arena *mem, struct config_texts *out)
{
    AUTO(yaml_document) document = {0};
    struct error e = {0};
    struct yaml_reader *y = yaml_reader_new(file);
    uint32_t documents = 0;
    for (; yaml_reader_next(y, &document, &e); documents++)
        look_at(file, &document, mem, out);
    yaml_reader_free(y);
    bool is_whole = e.kind || !out->n || (documents == 1 && !out->at[0].where.n);
    if (is_whole) { /* what is wrong with it is said of all of it */
        out->n = 0;
        vec_push(out, (struct config_text){.text = file});
    }
}
