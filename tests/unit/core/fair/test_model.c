#include "core/base/rng.h"
#include "pool.h"

#include <stdio.h>

/* P5: after any history what is kept up to date equals what is worked out anew. fair_check() does
 * that inside; here, a model of the plainest kind knows what was charged, who waits and who is out. */

enum { QUEUES = 12, UNITS = 24, SPACE = 48, STEPS = 800, HISTORIES = 60 };

struct model_unit {
    bool waits, runs, is_out, is_first;
    uint32_t queue, kind; /* kind: of KINDS */
    int64_t priority, age;
    uint32_t held_at;
    bool kind_is_out; /* of its lane, in this round */
};

static const struct fair_amount kinds[][2] = {
    {{.resource = 0, .amount = 1}, {.resource = 1, .amount = 4}},
    {{.resource = 0, .amount = 3}},
    {{.resource = 1, .amount = 7}},
    {{.resource = 1, .amount = 2}, {.resource = 2, .amount = 5}},
};

struct model {
    struct rng rng;
    struct fair *f;
    uint32_t queues[QUEUES];
    struct model_unit units[SPACE];
    bool kind_is_out[LEN(kinds)];
    int64_t clock;
    uint32_t puts;
};

static struct fair_ask ask_of(uint32_t kind)
{
    return (struct fair_ask){kinds[kind], kinds[kind][1].amount ? 2 : 1};
}

static bool before(const void *ctx, uint32_t a, uint32_t b)
{
    const struct model *m = ctx;
    const struct model_unit *x = &m->units[a], *y = &m->units[b];
    assert(x->waits && y->waits); /* nobody may be compared who has left */
    return x->priority != y->priority ? x->priority > y->priority : x->age < y->age;
}

static uint32_t below(struct model *m, uint32_t n)
{
    return (uint32_t)rng_below(&m->rng, n);
}

static bool once_in(struct model *m, uint32_t n)
{
    return below(m, n) == 0;
}

/* --- the tree --- */

static void some(struct model *m, struct fair_amount *at, struct fair_ask *ask, uint32_t most)
{
    ask->at = at;
    for (uint32_t r = 0; r < 3; r++)
        if (once_in(m, 2))
            at[ask->n++] = (struct fair_amount){.resource = r, .amount = below(m, most + 1)};
}

static void put(struct model *m, uint32_t i)
{
    char name[] = "q0", parent[] = "q0";
    name[1] = (char)('a' + i);
    parent[1] = (char)('a' + below(m, QUEUES));
    struct fair_amount amounts[4][3];
    struct fair_spec spec = FAIR_SPEC_PLAIN;
    some(m, amounts[0], &spec.guaranteed, 12);
    if (once_in(m, 3))
        some(m, amounts[1], &spec.max, 30);
    if (once_in(m, 3))
        some(m, amounts[2], &spec.lend, 8);
    if (once_in(m, 2))
        some(m, amounts[3], &spec.each_max, 9);
    spec.parent = once_in(m, 3) ? STR("") : (struct str){parent, 2};
    spec.weight = 1 + below(m, 5);
    spec.max_jobs = (int64_t)below(m, 8) - 1;
    spec.is_split = once_in(m, 4);
    spec.min_run_ms = m->puts++; /* no two say the same */
    char why[16];
    snprintf(why, sizeof(why), "no %u", m->puts);
    spec.invalid = once_in(m, 12) ? str_of(why) : STR("");
    m->queues[i] = fair_put(m->f, (struct str){name, 2}, &spec);
}

static void set_capacity(struct model *m)
{
    uint32_t r = below(m, 3);
    int64_t amount = below(m, 60);
    fair_set_capacity(m->f, r, amount + (amount >= fair_capacity(m->f, r)));
}

/* --- units --- */

static uint32_t some_queue(struct model *m)
{
    static const char *const values[] = {"ann", "bob", "eve"};
    uint32_t i = below(m, QUEUES);
    char name[] = "q0";
    name[1] = (char)('a' + i);
    m->queues[i] = fair_get(m->f, (struct str){name, 2});
    return fair_part(m->f, m->queues[i], str_of(values[below(m, LEN(values))]));
}

static void enter(struct model *m, uint32_t u)
{
    struct model_unit *x = &m->units[u];
    uint32_t queue = some_queue(m), kind = below(m, LEN(kinds));
    *x = (struct model_unit){.waits = true, .queue = queue, .kind = kind, .held_at = FAIR_NONE};
    x->is_first = once_in(m, 20);
    x->priority = x->is_first ? 9 : below(m, 3);
    x->age = m->clock++;
    for (uint32_t other = 0; other < SPACE; other++) { /* its lane is what it is */
        const struct model_unit *y = &m->units[other];
        if (other == u || !y->waits || y->queue != queue || y->kind != kind ||
            y->is_first != x->is_first)
            continue;
        x->held_at = y->held_at;
        x->kind_is_out = y->kind_is_out;
    }
    fair_enter(m->f, u, queue, kind, ask_of(kind), x->is_first);
}

static bool same_lane(const struct model_unit *a, const struct model_unit *b)
{
    return b->waits && a->queue == b->queue && a->kind == b->kind && a->is_first == b->is_first;
}

static void leave(struct model *m, uint32_t u)
{
    fair_leave(m->f, u);
    m->units[u].waits = false;
    bool is_any = false;
    for (uint32_t other = 0; other < SPACE; other++)
        is_any |= m->units[other].waits && m->units[other].kind == m->units[u].kind;
    if (!is_any)
        m->kind_is_out[m->units[u].kind] = false; /* nobody is left of whom it could be said */
}

static void start(struct model *m, uint32_t u)
{
    leave(m, u);
    m->units[u].runs = true;
    fair_count(m->f, m->units[u].queue, ask_of(m->units[u].kind), 1);
    fair_count_job(m->f, m->units[u].queue, 1);
}

static void end(struct model *m, uint32_t u)
{
    m->units[u].runs = false;
    fair_count(m->f, m->units[u].queue, ask_of(m->units[u].kind), -1);
    fair_count_job(m->f, m->units[u].queue, -1);
}

static void send_out(struct model *m, uint32_t u)
{
    struct model_unit *x = &m->units[u];
    uint32_t how = below(m, 4), at = x->queue;
    if (how == 0) {
        fair_out(m->f, u);
        x->is_out = true;
    } else if (how == 1) {
        fair_out_everywhere(m->f, u);
        m->kind_is_out[x->kind] = true;
    } else if (how == 2) {
        fair_out_kind(m->f, u);
        for (uint32_t o = 0; o < SPACE; o++)
            if (same_lane(x, &m->units[o]) && m->units[o].held_at == FAIR_NONE)
                m->units[o].kind_is_out = true;
    } else {
        for (uint32_t up = below(m, 3); up && fair_parent(m->f, at) != FAIR_NONE; up--)
            at = fair_parent(m->f, at);
        fair_hold(m->f, u, at);
        for (uint32_t o = 0; o < SPACE; o++)
            if (same_lane(x, &m->units[o])) {
                m->units[o].held_at = at;
                m->units[o].kind_is_out = false;
            }
    }
}

static void new_round(struct model *m)
{
    fair_new_round(m->f);
    memset(m->kind_is_out, 0, sizeof(m->kind_is_out));
    for (uint32_t u = 0; u < SPACE; u++)
        m->units[u].is_out = m->units[u].kind_is_out = false;
}

static void wake(struct model *m, uint32_t queue)
{
    fair_wake(m->f, queue);
    for (uint32_t at = queue; at != FAIR_NONE; at = fair_parent(m->f, at))
        for (uint32_t u = 0; u < SPACE; u++)
            if (m->units[u].held_at == at)
                m->units[u].held_at = FAIR_NONE;
}

static void wake_all(struct model *m)
{
    fair_parent(m->f, FAIR_ROOT); /* settles */
    for (uint32_t u = 0; u < SPACE; u++)
        m->units[u].held_at = FAIR_NONE;
}

static void rename_unit(struct model *m, uint32_t u, uint32_t to)
{
    if (m->units[to].waits || m->units[to].runs)
        return;
    m->units[to] = m->units[u];
    fair_rename(m->f, u, to);
    m->units[u] = (struct model_unit){0};
}

/* What a trial counts it takes back, in any order. */
static void try_and_undo(struct model *m)
{
    uint32_t queues[5], n = 1 + below(m, 5);
    for (uint32_t i = 0; i < n; i++) {
        queues[i] = m->queues[below(m, QUEUES)];
        fair_count(m->f, queues[i], ask_of(i % LEN(kinds)), 1);
    }
    if (once_in(m, 2))
        fair_next(m->f);
    for (uint32_t i = 0; i < n; i++)
        fair_count(m->f, queues[i], ask_of(i % LEN(kinds)), -1);
}

/* --- the same --- */

static bool is_below(struct model *m, uint32_t queue, uint32_t top)
{
    while (queue != FAIR_NONE && queue != top)
        queue = fair_parent(m->f, queue);
    return queue == top;
}

static void compare_sums(struct model *m, uint32_t queue)
{
    int64_t used[3] = {0}, waiting[3] = {0};
    uint32_t jobs = 0, n_waiting = 0;
    for (uint32_t u = 0; u < SPACE; u++) {
        const struct model_unit *x = &m->units[u];
        if ((!x->waits && !x->runs) || !is_below(m, x->queue, queue))
            continue;
        jobs += x->runs;
        n_waiting += x->waits;
        for (uint32_t i = 0; i < ask_of(x->kind).n; i++)
            (x->runs ? used : waiting)[kinds[x->kind][i].resource] += kinds[x->kind][i].amount;
    }
    for (uint32_t r = 0; r < 3; r++) {
        EXPECT_INT(fair_used(m->f, queue, r), used[r]);
        EXPECT_INT(fair_waiting(m->f, queue, r), waiting[r]);
    }
    EXPECT_INT(fair_jobs(m->f, queue), jobs);
    EXPECT_INT(fair_n_waiting(m->f, queue), n_waiting);
}

static void compare_ledger(struct model *m, uint32_t parent, uint32_t r)
{
    struct fair_row rows[QUEUES * 4];
    uint32_t n;
    fair_children(m->f, parent, &n);
    assert(n <= LEN(rows));
    int64_t left = fair_rows(m->f, parent, r, rows), guaranteed = 0, entitled = 0;
    EXPECT(left >= 0);
    for (uint32_t i = 0; i < n; i++) {
        EXPECT(rows[i].lent >= 0 && rows[i].lent <= MAX(0, rows[i].guaranteed - rows[i].used));
        left += rows[i].lent - rows[i].borrowed;
        guaranteed += rows[i].guaranteed;
        entitled += rows[i].entitled;
    }
    EXPECT_INT(left, 0); /* I5 */
    int64_t room = parent == FAIR_ROOT ? fair_capacity(m->f, r) : fair_entitled(m->f, parent, r);
    EXPECT(entitled <= MAX(room, guaranteed));
}

static void compare(struct model *m)
{
    fair_check(m->f);
    for (uint32_t q = 0; q < fair_n_queues(m->f); q++) {
        if (q != FAIR_ROOT && !fair_is_queue(m->f, q))
            continue;
        compare_sums(m, q);
        for (uint32_t r = 0; r < 3; r++)
            compare_ledger(m, q, r);
    }
    for (uint32_t u = 0; u < SPACE; u++) {
        const struct model_unit *x = &m->units[u];
        EXPECT_INT(fair_stands(m->f, u), x->waits);
        if (x->waits)
            EXPECT_INT(fair_is_out(m->f, u), x->is_out || x->kind_is_out ||
                                                 x->held_at != FAIR_NONE ||
                                                 m->kind_is_out[x->kind]);
    }
}

/* --- histories --- */

static void act_on_unit(struct model *m)
{
    uint32_t u = below(m, UNITS);
    struct model_unit *x = &m->units[u];
    if (x->runs)
        end(m, u);
    else if (!x->waits)
        enter(m, u);
    else if (once_in(m, 3))
        start(m, u);
    else if (once_in(m, 4))
        leave(m, u);
    else if (once_in(m, 4))
        rename_unit(m, u, UNITS + below(m, SPACE - UNITS));
    else
        send_out(m, u);
}

static void take_turn(struct model *m)
{
    uint32_t unit = fair_next(m->f);
    if (unit == FAIR_NONE)
        new_round(m);
    else if (once_in(m, 2))
        start(m, unit);
    else
        send_out(m, unit);
}

static void step(struct model *m)
{
    uint32_t what = below(m, 40), i = below(m, QUEUES);
    if (what == 0) {
        put(m, i);
        wake_all(m);
    } else if (what == 1 && fair_state(m->f, m->queues[i]) != FAIR_PHANTOM) {
        fair_remove(m->f, fair_name(m->f, m->queues[i]));
        wake_all(m);
    } else if (what == 2) {
        set_capacity(m);
        wake_all(m);
    } else if (what == 3) {
        fair_sweep(m->f, NULL, NULL);
    } else if (what < 6) {
        try_and_undo(m);
    } else if (what < 8) {
        uint32_t queue = m->queues[i];
        if (fair_is_queue(m->f, queue))
            wake(m, queue);
    } else if (what < 10) {
        rename_unit(m, UNITS + below(m, SPACE - UNITS), below(m, UNITS));
    } else if (what < 25) {
        take_turn(m);
    } else {
        act_on_unit(m);
    }
}

static void keep_queues(struct model *m)
{
    for (uint32_t i = 0; i < QUEUES; i++) {
        char name[] = "q0";
        name[1] = (char)('a' + i);
        m->queues[i] = fair_get(m->f, (struct str){name, 2});
    }
}

static void run_history(uint64_t seed)
{
    struct model m = {.rng = rng_seeded(seed)};
    m.f = fair_new(&(struct fair_order){before, &m});
    for (uint32_t r = 0; r < 3; r++) {
        char name[] = {'r', (char)('0' + r)};
        fair_resource(m.f, (struct str){name, 2});
        fair_set_capacity(m.f, r, 40);
    }
    for (uint32_t i = 0; i < QUEUES; i++)
        put(&m, i);
    for (uint32_t i = 0; i < STEPS; i++) {
        keep_queues(&m);
        step(&m);
        if (once_in(&m, 3)) /* looking freshens what is not fresh */
            compare(&m);
    }
    fair_free(m.f);
}

TEST(model, of_any_history_says_the_same)
{
    for (uint64_t i = 0; i < HISTORIES; i++) {
        test_case("history %u", (unsigned)i);
        run_history(test_seed() * 1000 + i);
    }
}
