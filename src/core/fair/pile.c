/* A pairing heap of the units of a lane that are not out, in links that each unit has anyhow. The
 * first is on top; `before` of a unit is the sibling it follows, or the unit it hangs under, of
 * which it is the first child. Adding costs one comparison, removing O(log n) over time. */

#include "core/fair/inside.h"

/* The two tops under one; either may be FAIR_NONE. */
static uint32_t meld(struct fair *f, uint32_t a, uint32_t b)
{
    if (a == FAIR_NONE || b == FAIR_NONE)
        return a == FAIR_NONE ? b : a;
    if (f->order.before(f->order.ctx, b, a)) {
        uint32_t first = b;
        b = a;
        a = first;
    }
    struct place_of_unit *top = &f->units.at[a], *under = &f->units.at[b];
    under->next = top->child;
    if (top->child != FAIR_NONE)
        f->units.at[top->child].before = b;
    under->before = a;
    top->child = b;
    top->next = top->before = FAIR_NONE;
    return a;
}

/* Siblings, from the first on, become one: in pairs to the right, then all to the left. */
static uint32_t meld_siblings(struct fair *f, uint32_t first)
{
    uint32_t pairs = FAIR_NONE; /* through `next`, the last one first */
    while (first != FAIR_NONE) {
        uint32_t a = first, b = f->units.at[a].next;
        first = b == FAIR_NONE ? FAIR_NONE : f->units.at[b].next;
        uint32_t pair = meld(f, a, b);
        f->units.at[pair].next = pairs;
        pairs = pair;
    }
    uint32_t top = FAIR_NONE;
    while (pairs != FAIR_NONE) {
        uint32_t next = f->units.at[pairs].next;
        top = meld(f, top, pairs);
        pairs = next;
    }
    if (top != FAIR_NONE)
        f->units.at[top].next = f->units.at[top].before = FAIR_NONE;
    return top;
}

void pile_add(struct fair *f, struct lane *l, uint32_t unit)
{
    struct place_of_unit *u = &f->units.at[unit];
    u->child = u->next = u->before = FAIR_NONE;
    l->top = meld(f, l->top, unit);
}

void pile_remove(struct fair *f, struct lane *l, uint32_t unit)
{
    struct place_of_unit *u = &f->units.at[unit];
    uint32_t children = meld_siblings(f, u->child);
    if (l->top == unit) {
        l->top = children;
        return;
    }
    struct place_of_unit *before = &f->units.at[u->before];
    if (before->child == unit)
        before->child = u->next;
    else
        before->next = u->next;
    if (u->next != FAIR_NONE)
        f->units.at[u->next].before = u->before;
    l->top = meld(f, l->top, children);
}

/* `to` has the links of `unit` already. */
void pile_rename(struct fair *f, struct lane *l, uint32_t unit, uint32_t to)
{
    const struct place_of_unit *u = &f->units.at[to];
    if (u->child != FAIR_NONE)
        f->units.at[u->child].before = to;
    if (u->next != FAIR_NONE)
        f->units.at[u->next].before = to;
    if (l->top == unit) {
        l->top = to;
        return;
    }
    struct place_of_unit *before = &f->units.at[u->before];
    if (before->child == unit)
        before->child = to;
    else
        before->next = to;
}
