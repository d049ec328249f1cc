/* Binds pods to nodes that somebody else chose, as a scheduler would: the same requests, as many of
 * them on their way, and, where asked for, the same events trailing behind. What a scheduler adds
 * to this is watching and deciding.
 *
 * A line of the input is NAMESPACE NAME UID VERSION NODE. */

#include <stdio.h>

#include "client.h"
#include "core/base/buf.h"
#include "core/base/vec.h"
#include "core/model/binding.h"
#include "kube/events.h"

enum { IN_FLIGHT = 512 }; /* the transport sends 100 of them at a time */

#define FIRST_EVENT ((request_id)1 << 32)

struct pair_line {
    struct str namespace, name, uid, node;
    int64_t version;
};

struct binder {
    struct desk desk;
    struct events events;
    bool has_events;
    VEC(struct pair_line) lines;
    uint32_t next, under_way, refused;
    struct buf text;
    double first_s, last_s, last_event_s;
};

static void read_lines(struct binder *b, struct str text)
{
    while (text.n) {
        struct str line = str_take(&text, '\n');
        struct pair_line l = {.namespace = str_take(&line, ' ')};
        l.name = str_take(&line, ' ');
        l.uid = str_take(&line, ' ');
        struct str version = str_take(&line, ' ');
        if (!str_int(version, &l.version))
            give_up("not a version", version);
        l.node = line;
        vec_push(&b->lines, l);
    }
}

static void add_event(struct binder *b, const struct pair_line *l)
{
    buf_clear(&b->text);
    buf_printf(&b->text, "Successfully assigned " STR_FMT "/" STR_FMT " to " STR_FMT,
               STR_ARG(l->namespace), STR_ARG(l->name), STR_ARG(l->node));
    events_add(&b->events, loop_now_ms(b->desk.loop),
               &(struct event_about){.kind = EVENT_SCHEDULED,
                                     .namespace = l->namespace,
                                     .name = l->name,
                                     .uid = l->uid,
                                     .version = (uint64_t)l->version,
                                     .scheduler = STR("default-scheduler"),
                                     .note = buf_str(&b->text)});
}

static void hear(void *ctx, const struct reply *reply)
{
    struct binder *b = ctx;
    if (reply->id >= FIRST_EVENT) {
        events_hear(&b->events, loop_now_ms(b->desk.loop), reply);
        b->last_event_s = now_s();
        return;
    }
    if (reply->kind == REPLY_HEAD)
        b->refused += reply->status >= 300;
    if (reply->kind != REPLY_END)
        return;
    b->under_way--;
    b->last_s = now_s();
    if (b->first_s == 0)
        b->first_s = b->last_s;
    if (b->has_events)
        add_event(b, &b->lines.at[reply->id - 1]);
}

static void put(struct binder *b, uint32_t i)
{
    const struct pair_line *l = &b->lines.at[i];
    struct arena *mem = &b->desk.out.mem;
    struct binding binding = {
        .name = l->name, .namespace = l->namespace, .uid = l->uid, .node = l->node};
    buf_clear(&b->text);
    binding_write(&binding, ENCODING_PROTO, &b->text);
    vec_push(
        &b->desk.out.list,
        (struct request){
            .id = i + 1,
            .lane = LANE_WRITE,
            .verb = VERB_POST,
            .path = arena_printf(mem, "/api/v1/namespaces/" STR_FMT "/pods/" STR_FMT "/binding",
                                 STR_ARG(l->namespace), STR_ARG(l->name)),
            .accept = STR(ENCODING_PROTO_TYPE ", " ENCODING_JSON_TYPE),
            .content_type = STR(ENCODING_PROTO_TYPE),
            .body = arena_str(mem, buf_str(&b->text)),
        });
}

static void run(struct binder *b)
{
    do {
        for (; b->next < b->lines.n && b->under_way < IN_FLIGHT; b->under_way++)
            put(b, b->next++);
        int64_t now_ms = loop_now_ms(b->desk.loop);
        events_tick(&b->events, now_ms, b->under_way > 0, &b->desk.out);
        if (b->under_way || events_waiting(&b->events))
            desk_turn(&b->desk, -1);
    } while (b->under_way || b->next < b->lines.n || events_waiting(&b->events));
}

int cmd_bind(int argc, char **argv)
{
    AUTO(buf) input = {0};
    struct binder b = {.desk = {.hear = hear, .breath_ms = 5}, .has_events = argc > 1};
    struct listener listener = {.ctx = &b};
    b.desk.ctx = &b;
    read_input(&input);
    read_lines(&b, buf_str(&input));
    desk_open(&b.desk, argv[0]);
    events_init(&b.events, STR("bench"), FIRST_EVENT, 0, &listener);
    run(&b);
    printf("{\"pods\": %u, \"refused\": %llu, \"first\": %.6f, \"last\": %.6f, "
           "\"last_event\": %.6f, \"cpu\": %.6f}\n",
           b.lines.n, b.refused + (unsigned long long)b.events.stats.failed, b.first_s, b.last_s,
           b.last_event_s, cpu_s());
    desk_done(&b.desk);
    events_done(&b.events);
    vec_done(&b.lines);
    buf_done(&b.text);
    return 0;
}
