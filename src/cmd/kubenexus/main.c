#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cmd/kubenexus/commands.h"

static const struct command {
    const char *name;
    const char *summary;
    int (*run)(int argc, char **argv);
} commands[] = {
    {"run", "the scheduler, on an API server", cmd_run},
    {"explain", "does a pod start now, with its gang, and if not: why", cmd_explain},
    {"queues", "how the queues of teams stand: guaranteed, entitled, used, borrowed, lent",
     cmd_queues},
    {"dump", "a cluster as a file that explain and simulate read", cmd_dump},
    {"simulate", "a cluster in virtual time: a scenario, a dump, a trace, or the demo",
     cmd_simulate},
    {"bench", "decisions a second, memory and cost per stage", cmd_bench},
    {"fgd", "a published experiment with GPU policies, repeated", cmd_fgd},
    {"check", "is a configuration file valid, and what would run", cmd_check},
    {"metrics", "the table of metrics", cmd_metrics},
    {"plugins", "the table of plugins", cmd_plugins},
};

void print_version(void)
{
    puts("kubenexus " KUBENEXUS_VERSION);
}

int complain_text(const char *fmt, ...)
{
    va_list args;
    fputs("kubenexus: ", stderr);
    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    va_end(args);
    fputc('\n', stderr);
    return 2;
}

int complain(const char *command, const struct error *e)
{
    return complain_text("%s: %s", command, e->text);
}

bool option_value(int argc, char **argv, int *i, const char *name, const char *brief,
                  const char **value)
{
    const char *arg = argv[*i];
    size_t n = strlen(name);
    if (strncmp(arg, name, n) == 0 && arg[n] == '=') {
        *value = arg + n + 1;
        return true;
    }
    if (strcmp(arg, name) != 0 && !(brief && strcmp(arg, brief) == 0))
        return false;
    *value = *i + 1 < argc ? argv[++*i] : NULL;
    return true;
}

int read_table_options(int argc, char **argv, void (*help)(void), bool *is_markdown)
{
    *is_markdown = false;
    for (int i = 1; i < argc; i++) {
        const char *value;
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            help();
            return 0;
        }
        if (!option_value(argc, argv, &i, "--output", "-o", &value))
            return complain_text("%s: unknown argument \"%s\"", argv[0], argv[i]);
        if (!value || (strcmp(value, "table") != 0 && strcmp(value, "markdown") != 0))
            return complain_text("%s: --output: \"%s\" is neither table nor markdown", argv[0],
                                 value ? value : "");
        *is_markdown = strcmp(value, "markdown") == 0;
    }
    return -1;
}

static void help(FILE *to)
{
    fputs("kubenexus: a Kubernetes scheduler for batch and GPU work\n\n"
          "Usage: kubenexus COMMAND [OPTIONS]\n\nCommands:\n",
          to);
    for (size_t i = 0; i < LEN(commands); i++)
        fprintf(to, "  %-10s %s\n", commands[i].name, commands[i].summary);
    fputs(
        "\nExamples:\n"
        "  kubenexus simulate --report demo.html\n"
        "  kubenexus explain -f cluster.yaml --pod default/web-0\n"
        "  kubenexus dump | kubenexus explain -f - --pod default/web-0\n"
        "\n`kubenexus COMMAND --help` says more. Exit codes: 0 yes, 1 no, 2 bad usage or input.\n",
        to);
}

/* By this name it is what stands in manifests for kube-scheduler: `kubenexus run`. */
static bool is_called_scheduler(const char *path)
{
    const char *slash = strrchr(path, '/');
    return strcmp(slash ? slash + 1 : path, "kubenexus-scheduler") == 0;
}

int main(int argc, char **argv)
{
    if (argc > 0 && is_called_scheduler(argv[0]))
        return cmd_run(argc, argv);
    if (argc < 2) {
        help(stderr);
        return 2;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        help(stdout);
        return 0;
    }
    if (strcmp(argv[1], "--version") == 0) {
        print_version();
        return 0;
    }
    for (size_t i = 0; i < LEN(commands); i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    return complain_text("no command \"%s\" (kubenexus --help lists them)", argv[1]);
}
