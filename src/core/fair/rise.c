/* That it ends (R10). V(m) is what is covered at queue m, by rank and in it minimums before pods
 * beyond; higher places count first. A plan changes V of some queues: at the deepest of them, V must
 * rise at each. */

#include "core/fair/cover_inside.h"

enum verdict { SAME, RISES, FALLS };

struct compared {
    const struct fair_cover *c;
    int64_t *diffs;    /* in the place that is looked at: by queue and resource */
    uint8_t *verdicts; /* by queue: what its first place that differs said */
    VEC(uint32_t) touched;
};

static void note(struct compared *x, const struct fair_piece *p, uint16_t differs, int sign)
{
    const struct fair *f = x->c->f;
    for (uint32_t at = fair_leaf(f, p->queue); at != FAIR_ROOT; at = queue_at(f, at)->parent) {
        if (!(differs & bit_of(queue_at(f, at))))
            continue;
        int64_t *diff = x->diffs + (size_t)at * f->stride;
        for (uint32_t i = 0; i < p->ask.n; i++)
            if (cover_counts(f, p->ask.at[i].resource))
                diff[p->ask.at[i].resource] =
                    wrap_add(diff[p->ask.at[i].resource], sign * p->ask.at[i].amount);
        vec_push(&x->touched, at);
    }
}

static enum verdict verdict_of(const int64_t *diff, uint32_t n)
{
    bool is_more = false, is_less = false;
    for (uint32_t r = 0; r < n; r++) {
        is_more |= diff[r] > 0;
        is_less |= diff[r] < 0;
    }
    return is_less ? FALLS : is_more ? RISES : SAME;
}

/* The place is over. */
static void judge(struct compared *x)
{
    const struct fair *f = x->c->f;
    vec_each(&x->touched, queue) {
        int64_t *diff = x->diffs + (size_t)*queue * f->stride;
        if (x->verdicts[*queue] == SAME)
            x->verdicts[*queue] = (uint8_t)verdict_of(diff, f->capacity.n);
        memset(diff, 0, f->stride * sizeof(*diff));
    }
    vec_clear(&x->touched);
}

static bool same_place(const struct fair_piece *a, const struct fair_piece *b)
{
    return a->rank == b->rank && a->is_beyond == b->is_beyond;
}

static void compare(struct compared *x, const uint16_t *after, uint16_t u_after)
{
    const struct fair_cover *c = x->c;
    bool is_u_due = true;
    for (uint32_t i = 0; i < c->n;) {
        const struct fair_piece *first = c->order[i].piece;
        bool is_past_u =
            first->rank < c->u->rank || (first->rank == c->u->rank && first->is_beyond);
        if (is_u_due && (is_past_u || same_place(first, c->u))) {
            is_u_due = false;
            note(x, c->u, u_after, 1);
            if (is_past_u)
                judge(x);
        }
        for (; i < c->n && same_place(first, c->order[i].piece); i++) {
            uint32_t index = c->order[i].index;
            note(x, c->order[i].piece, after[index] & ~c->covered[index], 1);
            note(x, c->order[i].piece, c->covered[index] & ~after[index], -1);
        }
        judge(x);
    }
    if (is_u_due)
        note(x, c->u, u_after, 1);
    judge(x);
}

/* Nothing changes: then priorities rise in u's own leaf. */
static bool is_priority_alone(const struct fair_cover *c, const uint32_t *gone, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct fair_piece *p = &c->pieces[gone[i]];
        if (fair_leaf(c->f, p->queue) != c->u_leaf || p->rank >= c->u->rank)
            return false;
    }
    return true;
}

bool fair_rises(const struct fair_cover *c, const uint32_t *gone, uint32_t n)
{
    const struct fair *f = c->f;
    bool *is_gone = arena_array(c->mem, bool, c->n);
    for (uint32_t i = 0; i < n; i++)
        is_gone[gone[i]] = true;
    uint16_t *after = arena_array(c->mem, uint16_t, c->n);
    uint16_t u_after = cover_all(c, is_gone, true, after);
    struct compared x = {.c = c,
                         .diffs = arena_array(c->mem, int64_t, (size_t)f->queues.n * f->stride),
                         .verdicts = arena_array(c->mem, uint8_t, f->queues.n)};
    compare(&x, after, u_after);
    vec_done(&x.touched);
    uint32_t deepest = 0;
    bool falls = false;
    for (uint32_t q = 1; q < f->queues.n; q++) {
        if (x.verdicts[q] == SAME || f->queues.at[q]->depth < deepest)
            continue;
        falls = x.verdicts[q] == FALLS || (falls && f->queues.at[q]->depth == deepest);
        deepest = f->queues.at[q]->depth;
    }
    return deepest ? !falls : is_priority_alone(c, gone, n);
}
