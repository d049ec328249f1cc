/* Devices that a search cannot tell apart, and what it knows not to try again.
 *
 * Two candidates are of one *kind* if each request says the same of both, and each constraint, and
 * they use up the same counters: put one in the other's place in any solution, and it is one still.
 * So where one was tried and nothing came of it, nothing comes of the other. Shared devices keep
 * count of who has how much of them; each is a kind of its own. So is one that a selector cannot
 * judge, for what is said of it names it. Where a request wants all devices under a constraint, the
 * first of them that does not suit decides whether that is an error, and so their order matters:
 * then nothing is left out.
 *
 * A *dead end* is a request, and what is found before it, by kinds; its constraints by what they
 * have seen. Whichever devices of those kinds it was, and in whatever order: if the rest could not
 * be found once, it cannot be found now. */

#include "core/cluster/allocate_inside.h"
#include "core/cluster/capacity.h"

enum {
    DEAD_ENDS_MOST = 16 * 1024, /* that are kept: more are searched again */
    FOUND_MOST = 64,            /* devices in a dead end: searches for more do not keep any */
};

void alike_done(struct alike *k)
{
    intern_done(&k->kinds);
    intern_done(&k->values);
    intern_done(&k->dead_ends);
    vec_done(&k->last);
    vec_done(&k->words);
    *k = (struct alike){0};
}

void alike_begin(struct allocator *a)
{
    alike_done(&a->alike);
}

/* --- kinds --- */

static void say(struct alike *k, uint32_t word)
{
    vec_push(&k->words, word);
}

static void say_only(struct alike *k, uint32_t candidate)
{
    say(k, UINT32_MAX);
    say(k, candidate);
}

static struct str said(const struct alike *k)
{
    return (struct str){(const char *)k->words.at, k->words.n * sizeof(*k->words.at)};
}

static uint32_t number_of(struct alike *k, struct str text)
{
    return intern_get(&k->values, text, NULL) + 1;
}

/* What the request says of it. */
static enum verdict say_ask(struct allocator *a, const struct claim *claim, struct ask *ask,
                            uint32_t candidate)
{
    struct candidate *x = &a->pools.candidates[candidate];
    struct str why;
    enum verdict is = allocate_may_go_on(a);
    if (is != YES)
        return is;
    if (ask->matches[candidate] == 0)
        allocate_selects(a, claim, ask, candidate);
    if (ask->matches[candidate] == 3) {
        say_only(&a->alike, candidate);
        return YES;
    }
    bool is_meant = ask->matches[candidate] == 2;
    enum capacity_verdict fits = CAPACITY_LACKS;
    if (is_meant)
        fits = capacity_check(a->cluster, x, &ask->ask->capacity, &a->run, &why);
    if (fits == CAPACITY_WRONG)
        say_only(&a->alike, candidate);
    if (ask->all && is_meant)
        say(&a->alike, capacity_check_alone(x, &ask->ask->capacity, &a->run, &why));
    say(&a->alike, is_meant | (uint32_t)fits << 1 |
                       (uint32_t)(is_meant && allocate_is_tainted(a, x, ask)) << 3);
    return YES;
}

/* What the constraint sees of it. */
static void say_constraint(struct allocator *a, const struct constraint *c, uint32_t candidate,
                           uint32_t *value)
{
    const struct candidate *x = &a->pools.candidates[candidate];
    const struct device_attribute *t = allocate_attribute(x, c->from);
    char number[32];
    *value = 0;
    if (!t) {
        say(&a->alike, 0);
        return;
    }
    switch (attribute_type(t)) {
    case ATTRIBUTE_INT:
        snprintf(number, sizeof(number), "i%lld", (long long)t->int_value);
        *value = number_of(&a->alike, str_of(number));
        break;
    case ATTRIBUTE_BOOL:
        *value = number_of(&a->alike, t->bool_value ? STR("b1") : STR("b0"));
        break;
    case ATTRIBUTE_STRING:
        *value = number_of(&a->alike, arena_join(&a->run, STR("s"), t->string));
        break;
    case ATTRIBUTE_VERSION:
        *value = number_of(&a->alike, arena_join(&a->run, STR("v"), t->version));
        break;
    case ATTRIBUTE_NONE: /* equal to none, not even to itself */
        say_only(&a->alike, candidate);
        break;
    }
    say(&a->alike, *value);
}

static void say_counters(struct allocator *a, const struct candidate *x)
{
    if (x->device->consumes.n)
        say(&a->alike, (uint32_t)(x->pool - a->pools.at));
    list_each(&x->device->consumes, set)
        list_each(&set->counters, amount) {
            say(&a->alike, number_of(&a->alike, set->name));
            say(&a->alike, number_of(&a->alike, amount->name));
            for (int shift = 0; shift < 128; shift += 32)
                say(&a->alike, (uint32_t)((unsigned __int128)amount->quantity.nano >> shift));
        }
}

static enum verdict describe(struct allocator *a, uint32_t candidate)
{
    struct alike *k = &a->alike;
    const struct candidate *x = &a->pools.candidates[candidate];
    uint32_t *value = &k->value[(size_t)candidate * k->n_values];
    vec_clear(&k->words);
    if (x->device->is_shared)
        say_only(k, candidate);
    say(k, devices_is_taken(&a->cluster->devices, x->index->id));
    for (uint32_t i = 0; i < a->n_claims; i++) {
        const struct claim *claim = &a->claims[i];
        for (uint32_t r = 0; r < claim->claim->spec.requests.n; r++)
            for (uint32_t n = 0; n < claim->requests[r].n; n++) {
                struct ask *ask = &a->asks[claim->requests[r].first + n];
                enum verdict is = say_ask(a, claim, ask, candidate);
                if (is != YES)
                    return is;
            }
        for (uint32_t n = 0; n < claim->claim->spec.constraints.n; n++)
            say_constraint(a, &claim->constraints[n], candidate, value++);
    }
    say_counters(a, x);
    return YES;
}

/* Does some request want all devices under a constraint? */
static bool order_matters(const struct allocator *a)
{
    for (uint32_t i = 0; i < a->n_claims; i++) {
        const struct claim *claim = &a->claims[i];
        for (uint32_t r = 0; r < claim->claim->spec.requests.n; r++)
            for (uint32_t n = 0; n < claim->requests[r].n; n++)
                for (uint32_t c = 0; c < claim->claim->spec.constraints.n; c++)
                    if (a->asks[claim->requests[r].first + n].all &&
                        a->asks[claim->requests[r].first + n].is_under[c])
                        return true;
    }
    return false;
}

static void begin_learning(struct allocator *a)
{
    struct alike *k = &a->alike;
    k->is_off = order_matters(a);
    uint32_t n = a->pools.n_candidates;
    for (uint32_t i = 0; i < a->n_claims; i++)
        k->n_values += a->claims[i].claim->spec.constraints.n;
    k->kind = arena_array(&a->run, uint32_t, n);
    k->before = arena_array(&a->run, uint32_t, n);
    k->value = arena_array(&a->run, uint32_t, (size_t)n * k->n_values);
    k->keeps_dead_ends = true;
    for (uint32_t i = 0; i < n; i++)
        k->keeps_dead_ends &= !a->pools.candidates[i].device->is_shared;
    for (uint32_t i = 0; i < a->n_asks; i++)
        k->keeps_dead_ends &= !a->asks[i].ask->is_admin;
}

enum verdict alike_learn(struct allocator *a)
{
    struct alike *k = &a->alike;
    if (!k->kind)
        begin_learning(a);
    if (k->is_off)
        return YES;
    for (; k->next < a->pools.n_candidates; k->next++) {
        bool is_new;
        enum verdict is = describe(a, k->next);
        if (is != YES)
            return is;
        uint32_t kind = intern_get(&k->kinds, said(k), &is_new);
        if (is_new)
            vec_push(&k->last, ID_NONE);
        k->kind[k->next] = kind;
        k->before[k->next] = k->last.at[kind];
        k->last.at[kind] = k->next;
        allocate_spend(a, 1 + (a->n_asks + k->n_values) / 8);
    }
    k->is_ready = true;
    return YES;
}

bool alike_was_tried(const struct allocator *a, const struct claim *claim, const struct ask *ask,
                     uint32_t from, uint32_t candidate)
{
    const struct alike *k = &a->alike;
    if (!k->is_ready || ask->order)
        return false;
    for (uint32_t i = k->before[candidate]; i != ID_NONE && i >= from; i = k->before[i])
        if (!allocate_is_in_use(a, claim, ask, &a->pools.candidates[i]))
            return true;
    return false;
}

/* --- dead ends --- */

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The words from `from` on are a set. */
static void end_set(struct alike *k, uint32_t from)
{
    if (k->words.n - from > 1)
        qsort(k->words.at + from, k->words.n - from, sizeof(*k->words.at), by_number);
    say(k, UINT32_MAX);
}

/* What the claim's constraint has seen; `at` is its place among those of all claims. */
static void say_seen(struct allocator *a, const struct claim *claim, uint32_t number, uint32_t at)
{
    struct alike *k = &a->alike;
    bool is_match = claim->constraints[number].from->has_match;
    uint32_t begin = k->words.n;
    for (uint32_t i = 0; i < claim->n_found && !(is_match && k->words.n > begin); i++)
        if (claim->found[i].ask->is_under[number])
            say(k, k->value[(size_t)claim->found[i].candidate * k->n_values + at]);
    end_set(k, begin);
}

/* False if it is not one that is kept. */
static bool describe_state(struct allocator *a, uint32_t number, uint32_t request)
{
    struct alike *k = &a->alike;
    uint32_t found = 0, at = 0;
    if (!k->is_ready || !k->keeps_dead_ends)
        return false;
    for (uint32_t i = 0; i <= number; i++)
        found += a->claims[i].n_found;
    if (found == 0 || found > FOUND_MOST)
        return false;
    vec_clear(&k->words);
    say(k, number);
    say(k, request);
    say(k, a->claims[number].n_found);
    uint32_t begin = k->words.n;
    for (uint32_t i = 0; i <= number; i++)
        for (uint32_t f = 0; f < a->claims[i].n_found; f++)
            say(k, k->kind[a->claims[i].found[f].candidate]);
    end_set(k, begin);
    for (uint32_t i = 0; i < number; i++)
        at += a->claims[i].claim->spec.constraints.n;
    for (uint32_t i = 0; i < a->claims[number].claim->spec.constraints.n; i++)
        say_seen(a, &a->claims[number], i, at + i);
    allocate_spend(a, 1 + k->words.n / 8);
    return true;
}

bool alike_is_dead_end(struct allocator *a, uint32_t claim, uint32_t request)
{
    struct alike *k = &a->alike;
    return describe_state(a, claim, request) && intern_find(&k->dead_ends, said(k)) != INTERN_NONE;
}

void alike_note_dead_end(struct allocator *a, uint32_t claim, uint32_t request)
{
    struct alike *k = &a->alike;
    if (k->dead_ends.live < DEAD_ENDS_MOST && describe_state(a, claim, request))
        intern_get(&k->dead_ends, said(k), NULL);
}
