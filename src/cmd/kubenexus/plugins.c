#include <stdio.h>

#include "cmd/kubenexus/commands.h"
#include "core/plugins/plugins.h"

static void help(void)
{
    puts("Usage: kubenexus plugins [-o markdown]\n\n"
         "Prints the table of plugins: name, default weight of its score, what it does at which "
         "point.\n\n"
         "Options:\n"
         "  -o, --output FORMAT  table (default) or markdown\n\n"
         "Example:\n"
         "  kubenexus plugins");
}

/* The points at which a plugin takes part, in kube-scheduler's words. */
static void print_points(const struct plugin *p)
{
    const char *between = "";
    const struct {
        bool has;
        const char *name;
    } points[] = {
        {p->gate != NULL, "PreEnqueue"},
        {p->before != NULL, "QueueSort"},
        {p->row_filter || p->key_filter, "Filter"},
        {p->row_score || p->key_score, "Score"},
    };
    for (size_t i = 0; i < LEN(points); i++)
        if (points[i].has) {
            printf("%s%s", between, points[i].name);
            between = ", ";
        }
    if (!*between)
        fputs("-", stdout);
}

int cmd_plugins(int argc, char **argv)
{
    bool is_markdown;
    int code = read_table_options(argc, argv, help, &is_markdown);
    if (code >= 0)
        return code;
    if (is_markdown)
        puts("| plugin | weight | points | what it does |\n|---|--:|---|---|");
    for (uint32_t i = 0; i < n_plugins; i++) {
        const struct plugin *p = plugins[i];
        if (is_markdown) {
            printf("| %s | %ld | ", p->name, (long)p->weight);
            print_points(p);
            printf(" | %s |\n", p->summary);
        } else {
            printf("%-32s %ld  %s\n%-35s(", p->name, (long)p->weight, p->summary, "");
            print_points(p);
            puts(")");
        }
    }
    return 0;
}
