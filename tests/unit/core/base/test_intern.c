#include "core/base/intern.h"

#include <stdio.h>

#include "core/base/rng.h"
#include "support/test.h"

enum { TEXTS = 500 };

static struct str text_of(unsigned i, char *room, size_t size)
{
    int n = snprintf(room, size, "%0*u", (int)(i % 40) + 1, i);
    return (struct str){room, i ? (size_t)n : 0}; /* text 0 is the empty one */
}

/* What a sweep reports, in the order of the reports. */
struct gone {
    const struct intern *table;
    uint32_t count, last;
    bool is_sorted;
};

static void note_gone(void *ctx, uint32_t id)
{
    struct gone *g = ctx;
    g->is_sorted = g->is_sorted && (g->count == 0 || id > g->last);
    g->last = id;
    g->count++;
    EXPECT(intern_bytes(g->table, id).p != NULL); /* its bytes still stand */
}

/* The model: by text, its number and its holds. */
struct model {
    uint32_t id[TEXTS], holds[TEXTS];
};

static void check(const struct intern *t, const struct model *m)
{
    uint32_t live = 0, held = 0;
    char room[64];
    for (unsigned i = 0; i < TEXTS; i++) {
        struct str text = text_of(i, room, sizeof(room));
        EXPECT_INT(intern_find(t, text), m->id[i]);
        if (m->id[i] == INTERN_NONE)
            continue;
        EXPECT(str_equal(intern_bytes(t, m->id[i]), text));
        live++;
        held += m->holds[i] > 0;
    }
    EXPECT_INT(t->live, live);
    EXPECT_INT(t->held, held);
}

static void sweep(struct intern *t, struct model *m)
{
    uint32_t unheld = 0;
    for (unsigned i = 0; i < TEXTS; i++)
        unheld += m->id[i] != INTERN_NONE && m->holds[i] == 0;
    struct gone g = {.table = t, .is_sorted = true};
    intern_sweep(t, note_gone, &g);
    EXPECT_INT(g.count, unheld);
    EXPECT(g.is_sorted);
    for (unsigned i = 0; i < TEXTS; i++)
        if (m->holds[i] == 0)
            m->id[i] = INTERN_NONE;
}

TEST(intern, equal_bytes_have_one_number_while_anybody_holds_it)
{
    AUTO(intern) t = {0};
    struct model m;
    memset(&m, 0, sizeof(m));
    memset(m.id, 0xff, sizeof(m.id));
    struct rng r = rng_seeded(test_seed());
    for (unsigned step = 0; step < 20000; step++) {
        unsigned i = (unsigned)rng_below(&r, TEXTS);
        char room[64];
        if (rng_below(&r, 2)) {
            bool is_new;
            uint32_t id = intern_get(&t, text_of(i, room, sizeof(room)), &is_new);
            EXPECT(is_new == (m.id[i] == INTERN_NONE));
            EXPECT(is_new || id == m.id[i]);
            m.id[i] = id;
            intern_hold(&t, id);
            m.holds[i]++;
        } else if (m.holds[i]) {
            intern_drop(&t, m.id[i]);
            m.holds[i]--;
        }
        if (step % 500 == 0)
            sweep(&t, &m);
        if (step % 100 == 0)
            check(&t, &m);
    }
    EXPECT(t.entries.n <= TEXTS); /* numbers are used again */
}

TEST(intern, what_is_dropped_is_found_until_a_sweep)
{
    AUTO(intern) t = {0};
    EXPECT_INT(intern_find(&t, STR("a")), INTERN_NONE);
    uint32_t a = intern_get(&t, STR("a"), NULL);
    intern_hold(&t, a);
    intern_drop(&t, a);
    EXPECT_INT(intern_find(&t, STR("a")), a);
    intern_sweep(&t, NULL, NULL);
    EXPECT_INT(intern_find(&t, STR("a")), INTERN_NONE);
    EXPECT_INT(intern_get(&t, STR("b"), NULL), a);
}

TEST(intern, wants_a_sweep_when_most_lie_unheld)
{
    AUTO(intern) t = {0};
    char room[32];
    for (unsigned i = 0; i < 3000; i++) {
        int n = snprintf(room, sizeof(room), "text %u", i);
        uint32_t id = intern_get(&t, (struct str){room, (size_t)n}, NULL);
        if (i < 1500)
            intern_hold(&t, id);
    }
    EXPECT(!intern_wants_sweep(&t)); /* as many held as not */
    intern_drop(&t, 0);
    EXPECT(intern_wants_sweep(&t));
    intern_sweep(&t, NULL, NULL);
    EXPECT(!intern_wants_sweep(&t));
    EXPECT_INT(t.live, 1499);
}

TEST(intern, gives_back_what_no_entry_needs_and_keeps_the_numbers_of_the_others)
{
    enum { MANY = 3000, KEPT = 7 };
    struct intern t = {0};
    char text[16];
    for (uint32_t i = 0; i < MANY; i++) {
        struct str name = {text, (size_t)snprintf(text, sizeof(text), "n%u", i)};
        EXPECT_INT(intern_get(&t, name, NULL), i);
        if (i == KEPT)
            intern_hold(&t, i);
    }
    intern_sweep(&t, NULL, NULL);
    intern_trim(&t);
    EXPECT_INT(t.entries.cap, KEPT + 1);
    EXPECT_INT(t.slot_cap, 64);
    EXPECT_INT(intern_find(&t, STR("n7")), KEPT);
    EXPECT_INT(intern_get(&t, STR("other"), NULL), 0);
    for (uint32_t i = 1; i <= KEPT; i++) {
        struct str name = {text, (size_t)snprintf(text, sizeof(text), "m%u", i)};
        EXPECT_INT(intern_get(&t, name, NULL), i < KEPT ? i : KEPT + 1);
    }
    intern_drop(&t, KEPT);
    intern_sweep(&t, NULL, NULL);
    intern_trim(&t);
    EXPECT(!t.slots && t.entries.cap == 0);
    EXPECT_INT(intern_get(&t, STR("n7"), NULL), 0);
    intern_done(&t);
}
