#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmd/kubenexus/commands.h"
#include "cmd/kubenexus/config_find.h"
#include "cmd/kubenexus/config_read.h"
#include "core/config/abilities.h"
#include "core/wire/json_write.h"

static void help(void)
{
    puts(
        "Usage: kubenexus check CONFIG [-o json]\n\n"
        "Reads a KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1, YAML or JSON; - is "
        "stdin),\n"
        "also in a ConfigMap or among other manifests, and prints what would run: profiles, what "
        "each\n"
        "can do and which plugin brings it, plugins at each point with their weights, and notes on "
        "what\n"
        "has no effect. Every error is one line that names the file, the line and the field. Of\n"
        "several configurations in a file JSON has an object each.\n\n"
        "Options:\n"
        "  -o, --output FORMAT  table (default) or json\n\n"
        "Examples:\n"
        "  kubenexus check scheduler.yaml\n"
        "  kubenexus check deploy/config.yaml\n"
        "  kubectl -n kube-system get configmap kubenexus-config -o yaml | kubenexus check -\n"
        "  kubenexus check scheduler.yaml -o json\n\n"
        "Exit codes: 0 valid, 2 not (or bad usage).");
}

/* --- for people --- */

/* The points that only prepare for another say nothing new. */
static bool is_preparing(enum point point)
{
    return point == POINT_PRE_FILTER || point == POINT_PRE_SCORE;
}

static void table_point(const struct profile_listing *l, enum point point, struct buf *out)
{
    const char *between = "";
    list_each(&l->points[point], p) {
        if (!p->runs)
            continue;
        if (!*between)
            buf_printf(out, "  %-11s ", point_name(point).p);
        buf_printf(out, "%s" STR_FMT, between, STR_ARG(p->name));
        if (p->weight)
            buf_printf(out, " %lld", (long long)p->weight);
        between = ", ";
    }
    if (*between)
        buf_add_char(out, '\n');
}

static void table_abilities(const struct profile *p, struct buf *out)
{
    for (uint32_t i = 0; i < n_abilities; i++) {
        const struct ability *a = &abilities[i];
        buf_printf(out, "  %-11s %-3s (" STR_FMT ")\n", a->name.p, profile_can(p, a) ? "yes" : "no",
                   STR_ARG(a->plugin));
    }
}

static void table_profile(const struct scheduler_config *c, uint32_t i, struct buf *out)
{
    const struct profile_listing *l = &c->listings[i];
    buf_printf(out, "profile " STR_FMT "\n", STR_ARG(c->profiles[i].name));
    table_abilities(&c->profiles[i], out);
    for (uint32_t point = 0; point < N_POINTS; point++)
        if (!is_preparing(point))
            table_point(l, point, out);
    if (!l->missing.n)
        return;
    buf_add(out, STR("  not there yet (pods that need one of them are refused): "));
    for (uint32_t k = 0; k < l->missing.n; k++)
        buf_printf(out, "%s" STR_FMT, k ? ", " : "", STR_ARG(l->missing.at[k]));
    buf_add_char(out, '\n');
}

/* "extender http://a: filter, prioritize 2, bind; of pods with e.com/gpu; may fail" */
static void table_extender(const struct extender *x, struct buf *out)
{
    static const char *const verbs[] = {"filter", "prioritize", "preempt", "bind"};
    const char *between = ": ";
    buf_printf(out, "extender " STR_FMT, STR_ARG(x->url));
    for (uint32_t v = 0; v < EXTENDER_VERBS; v++) {
        if (!x->verbs[v].n)
            continue;
        buf_printf(out, "%s%s", between, verbs[v]);
        if (v == EXTENDER_PRIORITIZE)
            buf_printf(out, " %lld", (long long)x->weight);
        between = ", ";
    }
    for (uint32_t i = 0; i < x->resources.n; i++)
        buf_printf(out, "%s" STR_FMT, i ? ", " : "; of pods with ", STR_ARG(x->resources.at[i]));
    buf_add(out, x->is_ignorable ? STR("; may fail\n") : STR("\n"));
}

static void print_table(const struct scheduler_config *c, const char *file, struct buf *out)
{
    buf_printf(out, "%s: valid\n", file);
    for (uint32_t i = 0; i < c->n_profiles; i++)
        table_profile(c, i, out);
    for (uint32_t i = 0; i < c->n_extenders; i++)
        table_extender(&c->extenders[i], out);
    for (uint32_t i = 0; i < c->notes.n; i++) {
        buf_add(out, STR("note: "));
        config_message_add(&c->notes.at[i], out);
        buf_add_char(out, '\n');
    }
}

/* --- for programs --- */

static void json_messages(struct json_writer *w, const struct config_message *at, uint32_t n)
{
    json_put_open(w, '[');
    for (uint32_t i = 0; i < n; i++) {
        json_put_open(w, '{');
        json_put_key(w, STR("line"));
        json_put_int(w, at[i].line);
        json_put_key(w, STR("path"));
        json_put_str(w, at[i].path);
        json_put_key(w, STR("text"));
        json_put_str(w, at[i].text);
        json_put_close(w, '}');
    }
    json_put_close(w, ']');
}

static void json_point(struct json_writer *w, const struct profile_listing *l, enum point point)
{
    json_put_key(w, point_name(point));
    json_put_open(w, '[');
    list_each(&l->points[point], p) {
        json_put_open(w, '{');
        json_put_key(w, STR("name"));
        json_put_str(w, p->name);
        json_put_key(w, STR("runs"));
        json_put_bool(w, p->runs);
        if (p->weight) {
            json_put_key(w, STR("weight"));
            json_put_int(w, p->weight);
        }
        json_put_close(w, '}');
    }
    json_put_close(w, ']');
}

static void json_profile(struct json_writer *w, const struct scheduler_config *c, uint32_t i)
{
    const struct profile_listing *l = &c->listings[i];
    json_put_open(w, '{');
    json_put_key(w, STR("schedulerName"));
    json_put_str(w, c->profiles[i].name);
    json_put_key(w, STR("plugins"));
    json_put_open(w, '{');
    for (uint32_t point = 0; point < N_POINTS; point++)
        if (l->points[point].n)
            json_point(w, l, point);
    json_put_close(w, '}');
    json_put_key(w, STR("missing"));
    json_put_open(w, '[');
    list_each(&l->missing, name)
        json_put_str(w, *name);
    json_put_close(w, ']');
    json_put_key(w, STR("can"));
    json_put_open(w, '{');
    for (uint32_t k = 0; k < n_abilities; k++) {
        json_put_key(w, abilities[k].name);
        json_put_bool(w, profile_can(&c->profiles[i], &abilities[k]));
    }
    json_put_close(w, '}');
    json_put_close(w, '}');
}

static void print_json(const struct scheduler_config *c, struct buf *out)
{
    struct json_writer w = {.out = out, .is_pretty = true};
    uint32_t profiles = c->errors.n ? 0 : c->n_profiles;
    json_put_open(&w, '{');
    json_put_key(&w, STR("valid"));
    json_put_bool(&w, c->errors.n == 0);
    json_put_key(&w, STR("errors"));
    json_messages(&w, c->errors.at, c->errors.n);
    json_put_key(&w, STR("notes"));
    json_messages(&w, c->notes.at, c->notes.n);
    json_put_key(&w, STR("profiles"));
    json_put_open(&w, '[');
    for (uint32_t i = 0; i < profiles; i++)
        json_profile(&w, c, i);
    json_put_close(&w, ']');
    json_put_close(&w, '}');
    buf_add_char(out, '\n');
}

/* Lines as they are in the file. */
static void move_lines(struct scheduler_config *c, uint32_t by)
{
    vec_each(&c->errors, m)
        m->line += m->line ? by : 0;
    vec_each(&c->notes, m)
        m->line += m->line ? by : 0;
}

static bool check_text(const char *file, const struct config_text *t, bool is_json, struct buf *out)
{
    AUTO(scheduler_config) c = {0};
    AUTO(buf) name = {0};
    buf_printf(&name, "%s%s" STR_FMT, file, t->where.n ? ": " : "", STR_ARG(t->where));
    bool is_valid = config_read_text(&c, t->text);
    move_lines(&c, t->line_above);
    if (is_json)
        print_json(&c, out);
    else if (is_valid)
        print_table(&c, name.p, out);
    else
        config_print_errors(&c, name.p, stderr);
    return is_valid;
}

static int check(const char *file, bool is_json)
{
    AUTO(buf) bytes = {0}, out = {0};
    struct arena mem = {0};
    struct config_texts texts = {0};
    if (!config_read_bytes(file, &bytes))
        return complain_text("%s: %s", file, strerror(errno));
    config_find(buf_str(&bytes), &mem, &texts);
    bool are_valid = true;
    vec_each(&texts, text)
        are_valid &= check_text(file, text, is_json, &out);
    if (out.n)
        fwrite(out.p, 1, out.n, stdout);
    vec_done(&texts);
    arena_done(&mem);
    return are_valid ? 0 : 2;
}

int cmd_check(int argc, char **argv)
{
    const char *file = NULL, *value;
    bool is_json = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            help();
            return 0;
        }
        if (option_value(argc, argv, &i, "--output", "-o", &value)) {
            if (!value || (strcmp(value, "json") != 0 && strcmp(value, "table") != 0))
                return complain_text("check: --output: \"%s\" is neither table nor json",
                                     value ? value : "");
            is_json = strcmp(value, "json") == 0;
        } else if ((argv[i][0] == '-' && argv[i][1]) || file) {
            return complain_text("check: unknown argument \"%s\" (--help says more)", argv[i]);
        } else {
            file = argv[i];
        }
    }
    return file ? check(file, is_json) : complain_text("check: which file? (--help says more)");
}
