/* Sends the requests of a file as fast as the server answers, or so many a second, and says how
 * long it took. A line is VERB, PATH, CONTENT-TYPE and BODY, with tabs between. */

#include <stdio.h>
#include <stdlib.h>

#include "client.h"
#include "core/base/vec.h"

enum { IN_FLIGHT = 100 };

struct sender {
    struct desk desk;
    VEC(struct request) lines;
    uint32_t next, under_way, refused;
    double per_s, begun_s;
};

static enum verb verb_of(struct str name)
{
    static const char *const names[] = {
        [VERB_GET] = "GET",     [VERB_POST] = "POST",     [VERB_PUT] = "PUT",
        [VERB_PATCH] = "PATCH", [VERB_DELETE] = "DELETE",
    };
    for (size_t i = 0; i < LEN(names); i++)
        if (str_equal(str_of(names[i]), name))
            return (enum verb)i;
    give_up("not a verb", name);
}

static void read_lines(struct sender *s, struct str text)
{
    while (text.n) {
        struct str line = str_take(&text, '\n');
        struct request r = {.id = s->lines.n + 1, .lane = LANE_WRITE};
        r.verb = verb_of(str_take(&line, '\t'));
        r.path = str_take(&line, '\t');
        r.content_type = str_take(&line, '\t');
        r.body = line;
        vec_push(&s->lines, r);
    }
}

static void hear(void *ctx, const struct reply *reply)
{
    struct sender *s = ctx;
    if (reply->kind == REPLY_HEAD)
        s->refused += reply->status >= 300;
    else if (reply->kind == REPLY_DATA && reply->status >= 300 && s->refused == 1)
        fprintf(stderr, "bench-client: " STR_FMT "\n", STR_ARG(reply->data));
    else if (reply->kind == REPLY_END)
        s->under_way--;
}

static bool may_send(const struct sender *s)
{
    bool is_due = s->per_s == 0 || s->next < (now_s() - s->begun_s) * s->per_s;
    return s->next < s->lines.n && s->under_way < IN_FLIGHT && is_due;
}

int cmd_send(int argc, char **argv)
{
    AUTO(buf) input = {0};
    struct sender s = {.desk = {.hear = hear, .breath_ms = 5},
                       .per_s = argc > 1 ? strtod(argv[1], NULL) : 0};
    s.desk.ctx = &s;
    read_input(&input);
    read_lines(&s, buf_str(&input));
    desk_open(&s.desk, argv[0]);
    s.begun_s = now_s();
    while (s.next < s.lines.n || s.under_way) {
        for (; may_send(&s); s.under_way++)
            vec_push(&s.desk.out.list, s.lines.at[s.next++]);
        desk_turn(&s.desk, s.per_s > 0 && s.next < s.lines.n ? 1 : -1);
    }
    printf("{\"requests\": %u, \"refused\": %u, \"seconds\": %.6f}\n", s.lines.n, s.refused,
           now_s() - s.begun_s);
    desk_done(&s.desk);
    vec_done(&s.lines);
    return 0;
}
