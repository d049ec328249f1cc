#include "cmd/kubenexus/flags.h"

#include <string.h>

#include "core/base/value.h"

#define ONLY_HTTP_1    "HTTP/1.1 is served"
#define ONE_CONNECTION "the API server is asked as for all else"
#define NO_PROXY       "proxies that name users are not known"

const struct flag flag_table[N_FLAGS] = {
#define FLAG(id, name, kind, value, otherwise, group, use, help)                                   \
    {name, VALUE_##kind, value, otherwise, GROUP_##group, USE_##use, help},
#include "cmd/kubenexus/flags.def"
#undef FLAG
};

static const char *const group_names[N_GROUPS] = {
    [GROUP_GENERAL] = "General",
    [GROUP_CONNECTION] = "Connection",
    [GROUP_ELECTION] = "Leader election",
    [GROUP_SERVING] = "Serving",
    [GROUP_ACCESS] = "Who may ask",
    [GROUP_FEATURES] = "Feature gates",
    [GROUP_LOGS] = "Logs",
    [GROUP_METRICS] = "Metrics and profiles",
};

/* --- reading --- */

/* "leader_elect" is leader-elect. */
static bool is_name(struct str said, const char *name)
{
    size_t i = 0;
    while (i < said.n && name[i] && (said.p[i] == '_' ? '-' : said.p[i]) == name[i])
        i++;
    return i == said.n && !name[i];
}

static enum flag_id find(struct str name)
{
    uint32_t i = 0;
    while (i < N_FLAGS && !is_name(name, flag_table[i].name))
        i++;
    return (enum flag_id)i;
}

/* Into the name of the flag and, where they are one argument, its value; .p is NULL: apart. */
static bool split(const char *arg, struct str *name, struct str *value)
{
    struct str all = str_of(arg);
    *value = (struct str){0};
    if (strncmp(arg, "--", 2) != 0) {
        *name = STR("v"); /* the only short one: -v 2, -v=2, -v2 */
        if (all.n > 2)
            *value = str_part(all, arg[2] == '=' ? 3 : 2, all.n);
        return all.n >= 2 && strncmp(arg, "-v", 2) == 0;
    }
    size_t equals = str_find(all, '=');
    *name = str_part(all, 2, equals);
    if (equals < all.n)
        *value = str_part(all, equals + 1, all.n);
    return true;
}

static bool is_bool(const char *text)
{
    bool value;
    return text && value_bool(str_of(text), &value);
}

static bool check(const struct flag *flag, struct str text, struct error *e)
{
    const char *wanted = NULL;
    bool is_true;
    int64_t number;
    double real;
    switch (flag->kind) {
    case VALUE_TEXT:
    case VALUE_LIST:
        break;
    case VALUE_BOOL:
        wanted = value_bool(text, &is_true) ? NULL : "true or false";
        break;
    case VALUE_NUMBER:
        wanted = str_int(text, &number) && number >= 0 ? NULL : "a number from 0";
        break;
    case VALUE_REAL:
        wanted = value_number(text, &real) ? NULL : "a number";
        break;
    case VALUE_SPAN:
        wanted = value_duration(text, &number) && number >= 0 ? NULL : "a duration (15s, 1m30s)";
        break;
    }
    return !wanted || error_set(e, ERROR_INVALID, "--%s: \"" STR_FMT "\" is not %s", flag->name,
                                STR_ARG(str_part(text, 0, 100)), wanted);
}

static void keep(struct flags *f, enum flag_id id, struct str text)
{
    struct str *said = &f->said[id];
    *said = flag_table[id].kind == VALUE_LIST && said->n
                ? arena_printf(&f->mem, STR_FMT "," STR_FMT, STR_ARG(*said), STR_ARG(text))
                : arena_str(&f->mem, text);
}

bool flags_add(struct flags *f, int argc, char **argv, int *i, struct error *e)
{
    const char *arg = argv[*i];
    struct str name, value;
    enum flag_id id = split(arg, &name, &value) ? find(name) : N_FLAGS;
    if (id == N_FLAGS)
        return error_set(e, ERROR_INVALID, "unknown argument \"%.100s\" (--help says more)", arg);
    const struct flag *flag = &flag_table[id];
    if (flag->use == USE_REFUSED)
        return error_set(e, ERROR_INVALID, "--%s: not supported: %s", flag->name, flag->help);
    const char *next = *i + 1 < argc ? argv[*i + 1] : NULL;
    bool is_bare = !value.p && flag->kind == VALUE_BOOL && !is_bool(next);
    if (is_bare)
        value = STR("true");
    else if (!value.p && !next)
        return error_set(e, ERROR_INVALID, "--%s needs a value", flag->name);
    else if (!value.p)
        value = str_of(argv[++*i]);
    if (!check(flag, value, e))
        return false;
    keep(f, id, value);
    return true;
}

void flags_done(struct flags *f)
{
    arena_done(&f->mem);
}

/* --- values: their texts were checked when they were read --- */

struct str flag_text(const struct flags *f, enum flag_id id)
{
    return flag_is_said(f, id) ? f->said[id] : str_of(flag_table[id].otherwise);
}

bool flag_bool(const struct flags *f, enum flag_id id)
{
    bool value = false;
    bool is_fine = value_bool(flag_text(f, id), &value);
    assert(is_fine);
    return value;
}

int64_t flag_number(const struct flags *f, enum flag_id id)
{
    int64_t value = 0;
    bool is_fine = str_int(flag_text(f, id), &value);
    assert(is_fine);
    return value;
}

double flag_real(const struct flags *f, enum flag_id id)
{
    double value = 0;
    bool is_fine = value_number(flag_text(f, id), &value);
    assert(is_fine);
    return value;
}

int64_t flag_span_ms(const struct flags *f, enum flag_id id)
{
    int64_t ns = 0;
    bool is_fine = value_duration(flag_text(f, id), &ns);
    assert(is_fine);
    return ns / 1000000;
}

/* --- printing --- */

enum { HELP_AT = 30, HELP_WIDTH = 100 };

/* Word by word, in the lines' right part, at which the first line stands. */
static void print_wrapped(FILE *to, const char *text)
{
    for (size_t at = HELP_AT, n; *text; text += n) {
        n = strcspn(text, " ");
        if (at > HELP_AT && at + n >= HELP_WIDTH) {
            fprintf(to, "\n%*s", HELP_AT, "");
            at = HELP_AT;
        }
        fprintf(to, "%s%.*s", at > HELP_AT ? " " : "", (int)n, text);
        at += n + 1;
        n += text[n] == ' ';
    }
    fputc('\n', to);
}

static void print_flag(FILE *to, const struct flag *flag)
{
    char left[80], right[400];
    const char *brief = strcmp(flag->name, "v") == 0 ? "-v, " : "", *otherwise = flag->otherwise;
    int n = snprintf(left, sizeof(left), "  %s--%s %s", brief, flag->name, flag->value);
    snprintf(right, sizeof(right), "%s%s%s%s", flag->help, *otherwise ? " (default " : "",
             otherwise, *otherwise ? ")" : "");
    if (n < HELP_AT)
        fprintf(to, "%-*s", HELP_AT, left);
    else
        fprintf(to, "%s\n%*s", left, HELP_AT, "");
    print_wrapped(to, right);
}

static bool group_has(enum flag_group group, enum flag_use use)
{
    for (uint32_t i = 0; i < N_FLAGS; i++)
        if (flag_table[i].group == group && flag_table[i].use == use)
            return true;
    return false;
}

void flags_print_help(FILE *to)
{
    for (uint32_t g = 0; g < N_GROUPS; g++) {
        if (!group_has((enum flag_group)g, USE_ACTS))
            continue;
        fprintf(to, "%s:\n", group_names[g]);
        for (uint32_t i = 0; i < N_FLAGS; i++)
            if (flag_table[i].group == g && flag_table[i].use == USE_ACTS)
                print_flag(to, &flag_table[i]);
        fputc('\n', to);
    }
    fputs("kube-scheduler's other flags are accepted and have no effect, which a line of the log\n"
          "says; `kubenexus run --help=markdown` prints them all.\n",
          to);
}

static void print_row(FILE *to, const struct flag *flag)
{
    static const char *const before[] = {
        [USE_ACTS] = "",
        [USE_IGNORED] = "No effect: ",
        [USE_REFUSED] = "Refused: ",
    };
    const char *quote = *flag->otherwise ? "`" : "";
    fprintf(to, "| `--%s=%s` | %s%s%s | %s%s |\n", flag->name, flag->value, quote, flag->otherwise,
            quote, before[flag->use], flag->help);
}

void flags_print_reference(FILE *to)
{
    for (uint32_t g = 0; g < N_GROUPS; g++) {
        fprintf(to, "\n## %s\n\n| flag | default | |\n|---|---|---|\n", group_names[g]);
        for (uint32_t i = 0; i < N_FLAGS; i++)
            if (flag_table[i].group == g)
                print_row(to, &flag_table[i]);
    }
}
