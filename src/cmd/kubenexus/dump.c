#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/kubenexus/commands.h"
#include "cmd/kubenexus/dump.h"
#include "io/api/transport.h"
#include "io/loop/loop.h"
#include "kube/collect.h"

struct dumping {
    const char *command; /* that reads */
    struct loop *loop;
    struct transport *transport;
    struct collect collect;
    struct requests requests;
};

static void help(void)
{
    puts("Usage: kubenexus dump [--kubeconfig FILE] [-o FILE]\n\n"
         "Reads a cluster, every kind of object that the scheduler reads, and prints it as one\n"
         "list in JSON: what `kubenexus explain -f` and `kubenexus simulate` take. Writes\n"
         "nothing to the cluster. Kinds that you may not read are left out, said on stderr, and\n"
         "noted in the list, so that explain can say what it lacks. Secrets and ConfigMaps are\n"
         "not read; what pods have in their specs, environment included, is in it.\n\n"
         "Options:\n"
         "      --kubeconfig FILE  whose current context to use (default: $KUBECONFIG, else\n"
         "                         ~/.kube/config, else the service account of the pod)\n"
         "      --master URL       an API server instead of the kubeconfig's\n"
         "  -o, --output FILE      where to (default: stdout)\n\n"
         "Examples:\n"
         "  kubenexus dump | kubenexus explain -f - --gang ml/bert\n"
         "  kubenexus dump -o cluster.json && kubenexus simulate cluster.json\n\n"
         "Exit codes: 0 all was read, 1 something may not be read, 2 bad usage, or nothing\n"
         "could be read.");
}

static void on_reply(void *ctx, const struct reply *reply)
{
    struct dumping *d = ctx;
    collect_hear(&d->collect, loop_now_ms(d->loop), reply);
}

static void on_complaint(void *ctx, const char *text)
{
    const struct dumping *d = ctx;
    fprintf(stderr, "kubenexus: %s: %s\n", d->command, text);
}

static void run(struct dumping *d)
{
    enum { LOOK_MS = 100 };
    collect_init(&d->collect, 0);
    while (!collect_is_over(&d->collect)) {
        requests_clear(&d->requests);
        collect_ask(&d->collect, loop_now_ms(d->loop), &d->requests);
        transport_send(d->transport, &d->requests);
        loop_wait(d->loop, loop_now_ms(d->loop) + LOOK_MS);
    }
}

/* Now, as the API spells times. */
static struct str stamp(char *text, size_t size)
{
    time_t now = time(NULL);
    struct tm tm;
    gmtime_r(&now, &tm);
    return (struct str){text, strftime(text, size, "%Y-%m-%dT%H:%M:%SZ", &tm)};
}

static bool write_out(const char *file, struct str text)
{
    FILE *to = file ? fopen(file, "w") : stdout;
    if (!to)
        return false;
    bool is_whole = fwrite(text.p, 1, text.n, to) == text.n;
    return (file ? fclose(to) : fflush(to)) == 0 && is_whole;
}

/* What is not in it, on stderr; false: all is. */
static bool say_denied(const struct dumping *d)
{
    const struct collect *c = &d->collect;
    AUTO(buf) names = {0};
    for (uint32_t i = 0; i < WATCHED_COUNT; i++)
        if (c->kinds[i].how == COLLECTED_DENIED) {
            buf_add(&names, names.n ? STR(", ") : STR(""));
            watched_add_name(&names, &watched_kinds[i]);
        }
    if (names.n)
        fprintf(stderr, "kubenexus: %s: not allowed to read: %s\n", d->command, names.p);
    return names.n;
}

/* Where kubectl would look; NULL: we run in a pod. */
static const char *usual_kubeconfig(struct buf *path)
{
    const char *named = getenv("KUBECONFIG"), *home = getenv("HOME");
    if (named && *named)
        return named;
    if (home)
        buf_printf(path, "%s/.kube/config", home);
    return path->n && access(path->p, R_OK) == 0 ? path->p : NULL;
}

/* The list, and whether all is in it. */
static bool collect(struct dumping *d, const char *kubeconfig, const char *server, struct buf *out,
                    bool *is_whole, struct error *e)
{
    AUTO(buf) path = {0};
    char at[32];
    struct transport_config config = {
        .kubeconfig = kubeconfig ? kubeconfig : usual_kubeconfig(&path),
        .server = server,
        .user_agent = STR("kubenexus-dump"),
        .law = http2_usual_law,
    };
    d->loop = loop_new();
    d->transport =
        transport_new(d->loop, &config, (struct transport_owner){on_reply, on_complaint, d}, e);
    if (d->transport) {
        run(d);
        if (d->collect.trouble.n)
            error_set(e, ERROR_BUSY, "%s", d->collect.trouble.p);
        else
            collect_write(&d->collect, stamp(at, sizeof(at)), out);
        *is_whole = d->collect.trouble.n || !say_denied(d);
    }
    bool is_read = d->transport && !d->collect.trouble.n;
    transport_free(d->transport);
    requests_done(&d->requests);
    collect_done(&d->collect);
    loop_free(d->loop);
    return is_read;
}

bool dump_cluster(const char *command, const char *kubeconfig, const char *server, struct buf *out,
                  struct error *e)
{
    bool is_whole;
    struct dumping d = {.command = command};
    return collect(&d, kubeconfig, server, out, &is_whole, e);
}

static int dump(const char *kubeconfig, const char *server, const char *file)
{
    AUTO(buf) text = {0};
    bool is_whole = true;
    struct dumping d = {.command = "dump"};
    struct error e = {0};
    if (!collect(&d, kubeconfig, server, &text, &is_whole, &e))
        return complain("dump", &e);
    if (!write_out(file, buf_str(&text)))
        return complain_text("dump: %s: cannot be written", file ? file : "stdout");
    return is_whole ? 0 : 1;
}

int cmd_dump(int argc, char **argv)
{
    const char *kubeconfig = NULL, *server = NULL, *file = NULL;
    for (int i = 1; i < argc; i++) {
        const char *value = NULL, **into = NULL;
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            help();
            return 0;
        }
        if (option_value(argc, argv, &i, "--kubeconfig", NULL, &value))
            into = &kubeconfig;
        else if (option_value(argc, argv, &i, "--master", NULL, &value))
            into = &server;
        else if (option_value(argc, argv, &i, "--output", "-o", &value))
            into = &file;
        if (!into)
            return complain_text("dump: unknown argument \"%s\" (--help says more)", argv[i]);
        if (!value)
            return complain_text("dump: %s needs a value", argv[i]);
        *into = value;
    }
    return dump(kubeconfig, server, file);
}
