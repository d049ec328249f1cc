#include <stdio.h>

#include "cmd/kubenexus/commands.h"
#include "core/config/known.h"

static void help(void)
{
    puts("Usage: kubenexus plugins [-o markdown]\n\n"
         "Prints the plugins that a configuration may name, at which points each takes part, and "
         "what it does.\n"
         "The numbers are what its score weighs: in the built-in profile default-scheduler, in the "
         "built-in\n"
         "profile kubenexus-scheduler, and where a file enables it and gives no weight. -: it is "
         "not in that\n"
         "profile, or does not score.\n\n"
         "Options:\n"
         "  -o, --output FORMAT  table (default) or markdown, which has the arguments as well\n\n"
         "Example:\n"
         "  kubenexus plugins");
}

/* "PreFilter, Filter": in kube-scheduler's words. */
static void print_points(const struct known_plugin *p)
{
    const char *between = "";
    for (enum point point = 0; point < N_POINTS; point++) {
        if (!(p->points >> point & 1))
            continue;
        size_t length = strlen(point_type(point)) - strlen("Plugin");
        printf("%s%.*s", between, (int)length, point_type(point));
        between = ", ";
    }
}

static void print_weights(const struct known_plugin *p, const char *before)
{
    const int32_t weights[] = {p->kube.weight, p->kubenexus.weight, p->weight};
    for (size_t i = 0; i < LEN(weights); i++)
        if (weights[i])
            printf("%s%2d", before, (int)weights[i]);
        else
            printf("%s -", before);
}

static void print_table(void)
{
    for (uint32_t i = 0; i < n_known_plugins; i++) {
        const struct known_plugin *p = &known_plugins[i];
        printf("%-32s", p->name.p);
        print_weights(p, " ");
        printf("  %s\n%43s(", p->summary, "");
        print_points(p);
        puts(")");
    }
}

/* As docs/reference/config.md has it. */
static void print_markdown(void)
{
    puts("| plugin | default-scheduler | kubenexus-scheduler | by a file | points | what it does "
         "|\n|---|--:|--:|--:|---|---|");
    for (uint32_t i = 0; i < n_known_plugins; i++) {
        const struct known_plugin *p = &known_plugins[i];
        printf("| %s", p->name.p);
        print_weights(p, " | ");
        fputs(" | ", stdout);
        print_points(p);
        printf(" | %s |\n", p->summary);
    }
    puts("\n| plugin | arguments (default) |\n|---|---|");
    for (uint32_t i = 0; i < n_known_plugins; i++)
        if (known_plugins[i].args[0])
            printf("| %s | %s |\n", known_plugins[i].name.p, known_plugins[i].args);
}

int cmd_plugins(int argc, char **argv)
{
    bool is_markdown;
    int code = read_table_options(argc, argv, help, &is_markdown);
    if (code >= 0)
        return code;
    if (is_markdown)
        print_markdown();
    else
        print_table();
    return 0;
}
