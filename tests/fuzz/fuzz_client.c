/* Any answers of an API server: what they say is passed on or left out, and nobody falls over.
 *
 * The input is lines. The first character says what happens to the oldest request that waits for an
 * answer (n: to the one after it): h its head, with status and content type; d a line of its body;
 * e its end; l it is lost; L it is lost and may have arrived; t a second passes; T an hour does. */

#include "kube/client.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

struct stage {
    struct client client;
    struct engine *engine;
    struct effects effects;
    struct requests out;
    VEC(request_id) open;
    uint32_t at;
    int64_t now_ms;
};

static void hear_change(void *ctx, int64_t now_ms, const struct change *change)
{
    struct stage *s = ctx;
    engine_apply(s->engine, now_ms, change);
}

static void hear_settle(void *ctx, int64_t now_ms, effect_id effect, const struct error *why)
{
    struct stage *s = ctx;
    engine_settle(s->engine, now_ms, effect, why);
}

static void hear_notice(void *ctx, int64_t now_ms, const struct notice *notice)
{
    (void)ctx, (void)now_ms;
    assert(notice->verb && notice->what.n);
}

static void forget(struct stage *s, request_id id)
{
    for (uint32_t i = s->open.n; i-- > 0;)
        if (s->open.at[i] == id)
            vec_remove(&s->open, i);
}

/* The daemon's turn, without sockets. */
static void turn(struct stage *s)
{
    while (client_is_synced(&s->client) && engine_step(s->engine, s->now_ms, &s->effects)) {
        client_take(&s->client, s->now_ms, &s->effects, &s->out);
        effects_clear(&s->effects);
    }
    client_tick(&s->client, s->now_ms, &s->out);
    vec_each(&s->out.cancelled, id)
        forget(s, *id);
    vec_each(&s->out.list, r) {
        assert(r->id && r->path.n && r->path.p[0] == '/');
        vec_push(&s->open, r->id);
    }
    requests_clear(&s->out);
}

static void answer(struct stage *s, char what, struct str text)
{
    struct reply reply = {.id = s->open.at[s->at % s->open.n], .retry_after_ms = -1, .data = text};
    int64_t status;
    switch (what) {
    case 'h':
        reply.kind = REPLY_HEAD;
        reply.status = str_int(str_part(text, 0, 3), &status) ? (int)status : 200;
        reply.content_type = str_part(text, 4, text.n - 1);
        break;
    case 'd':
        reply.kind = REPLY_DATA;
        break;
    case 'e':
        reply.kind = REPLY_END;
        break;
    default:
        reply.kind = REPLY_LOST;
        reply.may_have_arrived = what == 'L';
        reply.error = text;
    }
    if (what == 'e' || what == 'l' || what == 'L')
        forget(s, reply.id);
    client_hear(&s->client, s->now_ms, &reply, &s->out);
}

static void happen(struct stage *s, char what, struct str text)
{
    if (what == 't')
        s->now_ms += 1000;
    else if (what == 'T')
        s->now_ms += 3600000;
    else if (what == 'n')
        s->at++;
    else if (s->open.n)
        answer(s, what, text);
    turn(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct stage s = {.now_ms = 1700000000000};
    struct listener listener = {
        .ctx = &s, .change = hear_change, .settle = hear_settle, .notice = hear_notice};
    struct client_config config = {
        .host = STR("host"),
        .has_lease = true,
        .lease = {.namespace = STR("ns"), .name = STR("lease"), .identity = STR("me")}};
    s.engine = engine_new(&(struct engine_config){.seed = 1, .checks_views = true});
    client_init(&s.client, &config, s.now_ms, &listener);
    turn(&s);
    for (struct str rest = {(const char *)bytes, n}; rest.n;) {
        size_t end =
            MIN(str_find(rest, '\n') + 1, rest.n); /* the end of the line is a part of it */
        happen(&s, rest.p[0], str_part(rest, 1, end));
        rest = str_part(rest, end, rest.n);
    }
    client_done(&s.client);
    engine_free(s.engine);
    effects_done(&s.effects);
    requests_done(&s.out);
    vec_done(&s.open);
    return 0;
}
