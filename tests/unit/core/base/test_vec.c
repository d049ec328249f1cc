#include "core/base/vec.h"

#include "core/base/rng.h"
#include "support/test.h"

enum { ROOM = 4096 };

VEC_TYPE(numbers, uint32_t);

struct model {
    uint32_t at[ROOM], n;
};

static void check(const struct numbers *v, const struct model *m)
{
    EXPECT_INT(v->n, m->n);
    EXPECT(v->n <= v->cap);
    uint32_t i = 0;
    vec_each(v, it)
        EXPECT_INT(*it, m->at[i++]);
    EXPECT_INT(i, m->n);
}

static void step(struct rng *r, struct numbers *v, struct model *m)
{
    uint32_t x = (uint32_t)rng_next(r), i = m->n ? (uint32_t)rng_below(r, m->n) : 0;
    switch (rng_below(r, 8)) {
    case 0:
        vec_insert(v, i, x);
        memmove(m->at + i + 1, m->at + i, (m->n++ - i) * sizeof(x));
        m->at[i] = x;
        break;
    case 1:
        if (m->n == 0)
            break;
        vec_remove(v, i);
        memmove(m->at + i, m->at + i + 1, (--m->n - i) * sizeof(x));
        break;
    case 2:
        if (m->n == 0)
            break;
        EXPECT_INT(vec_last(v), m->at[m->n - 1]);
        EXPECT_INT(vec_pop(v), m->at[--m->n]);
        break;
    case 3:
        x = (uint32_t)rng_below(r, 10) ? m->n + x % 8 : i;
        vec_resize(v, x);
        for (; m->n < x; m->n++)
            m->at[m->n] = 0;
        m->n = x;
        break;
    default:
        vec_push(v, x);
        m->at[m->n++] = x;
    }
}

TEST(vec, behaves_as_an_array)
{
    static struct model m;
    struct numbers v = {0};
    struct rng r = rng_seeded(test_seed());
    for (unsigned i = 0; i < 5000; i++) {
        step(&r, &v, &m);
        if (i % 10 == 0)
            check(&v, &m);
        if (m.n > ROOM - 16) {
            vec_clear(&v);
            m.n = 0;
        }
    }
    check(&v, &m);
    vec_done(&v);
    EXPECT(v.at == NULL && v.n == 0 && v.cap == 0);
}

TEST(vec, holds_structs_and_stays_where_it_is_within_its_reserve)
{
    struct pair {
        int a, b;
    };
    VEC(struct pair) pairs = {0};
    vec_reserve(&pairs, 100);
    void *at = pairs.at;
    for (int i = 0; i < 100; i++) {
        vec_push(&pairs, (struct pair){i, -i});
        EXPECT(pairs.at == at);
    }
    EXPECT_INT(pairs.at[99].b, -99);
    vec_done(&pairs);
}

TEST(vec, an_empty_one_has_nothing_to_walk)
{
    struct numbers v = {0};
    vec_each(&v, it)
        EXPECT(it == NULL);
    vec_resize(&v, 0);
    vec_clear(&v);
    vec_done(&v);
    EXPECT_INT(v.n, 0);
}

TEST(vec, the_first_can_be_taken_out)
{
    VEC(int) v = {0};
    vec_shift(&v, 0);
    for (int i = 0; i < 5; i++)
        vec_push(&v, i);
    vec_shift(&v, 2);
    EXPECT_INT(v.n, 3);
    EXPECT_INT(v.at[0], 2);
    EXPECT_INT(vec_last(&v), 4);
    vec_shift(&v, 3);
    EXPECT_INT(v.n, 0);
    vec_done(&v);
}
