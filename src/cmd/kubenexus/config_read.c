#include "cmd/kubenexus/config_read.h"

#include <errno.h>

#include "cmd/kubenexus/log.h"
#include "core/plugins/external.h"
#include "io/files/library.h"

bool config_read_bytes(const char *name, struct buf *out)
{
    bool is_stdin = strcmp(name, "-") == 0;
    FILE *file = is_stdin ? stdin : fopen(name, "rb");
    if (!file)
        return false;
    char chunk[1 << 14];
    size_t got;
    while ((got = fread(chunk, 1, sizeof(chunk), file)) > 0 && out->n <= CONFIG_BYTES_MOST)
        buf_add_bytes(out, chunk, got);
    bool is_fine = !ferror(file);
    int why = errno;
    if (!is_stdin)
        fclose(file);
    errno = why;
    return is_fine;
}

/* The plugin that a library has, or why not, in the words of a configuration's error. */
static void load(struct arena *mem, struct external *external)
{
    const char *why = NULL;
    external->table = library_plugin(external->library, external->name, mem, &why);
    if (external->table)
        why = external_check(external->table, external->name, mem);
    if (why) {
        external->error =
            arena_printf(mem, STR_FMT ": %s", STR_ARG(str_part(external->library, 0, 200)), why).p;
        return;
    }
    struct plugin *plugin = arena_alloc(mem, sizeof(*plugin));
    *plugin = external_plugin(external->table);
    external->plugin = plugin;
}

bool config_read_text(struct scheduler_config *c, struct str text)
{
    struct externals externals = {0};
    scheduler_config_externals(text, &c->mem, &externals);
    vec_each(&externals, external)
        load(&c->mem, external);
    bool is_valid = scheduler_config_read_with(c, text, &externals);
    vec_done(&externals);
    return is_valid;
}

bool config_read_file(struct scheduler_config *c, const char *file)
{
    AUTO(buf) text = {0};
    if (config_read_bytes(file, &text))
        return config_read_text(c, buf_str(&text));
    struct config_message m = {.text = arena_str(&c->mem, str_of(strerror(errno)))};
    vec_push(&c->errors, m);
    return false;
}

void config_message_add(const struct config_message *m, struct buf *out)
{
    if (m->line)
        buf_printf(out, "line %u: ", m->line);
    if (m->path.n)
        buf_printf(out, STR_FMT ": ", STR_ARG(m->path));
    buf_add(out, m->text);
}

void config_print_errors(const struct scheduler_config *c, const char *file, FILE *to)
{
    AUTO(buf) text = {0};
    vec_each(&c->errors, m) {
        buf_printf(&text, "kubenexus: %s: ", file);
        config_message_add(m, &text);
        buf_add_char(&text, '\n');
    }
    fwrite(text.p, 1, text.n, to);
}

void config_log_notes(const struct scheduler_config *c, const char *file)
{
    vec_each(&c->notes, note)
        log_record(LOG_INFO, "configuration", log_text("file", file), log_int("line", note->line),
                   log_str("field", note->path), log_str("note", note->text));
}
