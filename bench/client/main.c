#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "client.h"
#include "core/wire/encoding.h"
#include "kube/kinds.h"

static double read_s(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

double now_s(void)
{
    return read_s(CLOCK_MONOTONIC);
}

double day_s(void)
{
    return read_s(CLOCK_REALTIME);
}

double cpu_s(void)
{
    return read_s(CLOCK_PROCESS_CPUTIME_ID);
}

void give_up(const char *what, struct str why)
{
    fprintf(stderr, "bench-client: %s: " STR_FMT "\n", what, STR_ARG(why));
    exit(1);
}

void read_input(struct buf *text)
{
    char room[1 << 16];
    size_t n;
    while ((n = fread(room, 1, sizeof(room), stdin)) > 0)
        buf_add_bytes(text, room, n);
}

static void deliver(void *ctx, const struct reply *reply)
{
    struct desk *d = ctx;
    if (reply->kind == REPLY_LOST)
        give_up("lost a request", reply->error);
    d->hear(d->ctx, reply);
}

static void complain(void *ctx, const char *text)
{
    (void)ctx;
    give_up("credentials", str_of(text));
}

void desk_open(struct desk *d, const char *kubeconfig)
{
    struct error e;
    struct transport_config config = {
        .kubeconfig = kubeconfig, .user_agent = STR("bench-client"), .law = http2_usual_law};
    d->loop = loop_new();
    loop_breathe(d->loop, d->breath_ms);
    d->transport =
        transport_new(d->loop, &config, (struct transport_owner){deliver, complain, d}, &e);
    if (!d->transport)
        give_up(kubeconfig, str_of(e.text));
}

void desk_turn(struct desk *d, int64_t wait_ms)
{
    transport_send(d->transport, &d->out);
    requests_clear(&d->out);
    loop_wait(d->loop, wait_ms < 0 ? INT64_MAX : loop_now_ms(d->loop) + wait_ms);
}

void desk_done(struct desk *d)
{
    transport_free(d->transport);
    requests_done(&d->out);
    loop_free(d->loop);
}

struct request watch_of(struct desk *d, request_id id, uint32_t kind)
{
    const struct watched *w = &watched_kinds[kind];
    AUTO(buf) path = {0};
    path_add_group(&path, kind_info_get(w->kind)->api_version);
    buf_printf(&path, "/%s", w->resource);
    if (*w->selector)
        path_add_query(&path, "fieldSelector", str_of(w->selector));
    path_add_query(&path, "watch", STR("true"));
    path_add_query(&path, "allowWatchBookmarks", STR("true"));
    path_add_query(&path, "sendInitialEvents", STR("true"));
    path_add_query(&path, "resourceVersionMatch", STR("NotOlderThan"));
    return (struct request){
        .id = id,
        .lane = LANE_READ,
        .path = arena_str(&d->out.mem, buf_str(&path)),
        .accept = STR(ENCODING_PROTO_TYPE ", " ENCODING_JSON_TYPE),
        .is_stream = true,
    };
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name, *usage;
        int (*run)(int argc, char **argv);
    } programs[] = {
        {"bind", "KUBECONFIG [events] <PODS", cmd_bind},
        {"send", "KUBECONFIG [REQUESTS/S] <REQUESTS", cmd_send},
        {"watch", "KUBECONFIG PODS", cmd_watch},
        {"drain", "KUBECONFIG", cmd_drain},
    };
    for (size_t i = 0; i < LEN(programs) && argc > 2; i++)
        if (strcmp(argv[1], programs[i].name) == 0)
            return programs[i].run(argc - 2, argv + 2);
    for (size_t i = 0; i < LEN(programs); i++)
        fprintf(stderr, "%s bench-client %s %s\n", i ? "      " : "usage:", programs[i].name,
                programs[i].usage);
    return 2;
}
