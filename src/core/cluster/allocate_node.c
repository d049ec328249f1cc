/* A node: what claims can have there is listed, the search is made, put down and taken up again,
 * and what was hard to find out is kept. */

#include "core/cluster/allocate_inside.h"
#include "core/cluster/capacity.h"
#include "core/cluster/gpu_facts.h"

enum { STEPS_JOINED = 20000 }; /* in which those GPUs that are joined best must be found */

/* --- what it costs --- */

void allocate_spend(struct allocator *a, uint64_t steps)
{
    struct effort *e = a->effort;
    uint64_t before = MAX(a->steps, (uint64_t)STEPS_EASY);
    a->steps += steps;
    uint64_t hard = a->steps > before ? a->steps - before : 0;
    e->spent += hard;
    e->used += e->may_pause ? steps + hard * (STEPS_HARD - 1) : hard;
}

static enum verdict fail_late(struct allocator *a)
{
    struct str node = names_text(&a->cluster->names, a->cluster->nodes.name[a->node.i]);
    a->is_cut = true;
    return allocate_fail(a, arena_printf(&a->run,
                                         "node " STR_FMT ": timed out trying to allocate devices",
                                         STR_ARG(node)));
}

enum verdict allocate_may_go_on(struct allocator *a)
{
    const struct effort *e = a->effort;
    bool is_enough = e->most && e->used >= e->most;
    if (a->gpus && a->steps > STEPS_JOINED)
        return fail_late(a);
    if (a->late.n == 0 && a->most && e->spent >= a->most) {
        fail_late(a);
        a->late = arena_str(a->mem, a->error);
    }
    if (a->late.n)
        return allocate_fail(a, a->late);
    if (!is_enough || (!e->may_pause && a->steps <= STEPS_EASY))
        return YES;
    return e->may_pause ? PAUSED : fail_late(a);
}

/* --- what there is --- */

/* Mode All: which devices that is. */
static enum verdict list_all(struct allocator *a, const struct claim *claim, struct ask *ask)
{
    struct str who = arena_printf(&a->run, "claim " STR_FMT ", request " STR_FMT,
                                  STR_ARG(allocate_full_name(claim->claim, &a->run)),
                                  STR_ARG(ask->name.n ? ask->name : ask->request));
    if (!ask->all)
        ask->all = arena_array(&a->run, uint32_t, a->pools.n_candidates + 1);
    ask->wanted = 0;
    for (uint32_t p = 0, i = 0; p < a->pools.n; p++) {
        const struct pool *pool = &a->pools.at[p];
        if (pool->is_incomplete || pool->is_invalid)
            return allocate_fail(
                a, arena_printf(&a->run,
                                STR_FMT ": asks for all devices, but resource pool " STR_FMT
                                        "/" STR_FMT " is currently %s",
                                STR_ARG(who), STR_ARG(pool->driver), STR_ARG(pool->name),
                                pool->is_incomplete ? "being updated" : "invalid"));
        for (; i < a->pools.n_candidates && a->pools.candidates[i].pool == pool; i++) {
            enum verdict is = allocate_may_go_on(a);
            struct str why = {0};
            is = is == YES ? allocate_selects(a, claim, ask, i) : is;
            if (is == FAILED || is == PAUSED)
                return is;
            enum capacity_verdict fits = CAPACITY_LACKS;
            if (is == YES)
                fits = capacity_check_alone(&a->pools.candidates[i], &ask->ask->capacity, &a->run,
                                            &why);
            if (fits == CAPACITY_WRONG)
                return allocate_fail_capacity(a, claim, ask, &a->pools.candidates[i],
                                              "checking capacity", why);
            if (fits == CAPACITY_FITS)
                ask->all[ask->wanted++] = i;
        }
    }
    return YES;
}

/* Reads what depends on the node; counts the fewest devices that the request needs. */
static enum verdict prepare_request(struct allocator *a, const struct claim *claim,
                                    const struct request *request, uint32_t *fewest)
{
    *fewest = UINT32_MAX;
    for (uint32_t i = 0; i < request->n; i++) {
        struct ask *ask = &a->asks[request->first + i];
        if (!ask->matches)
            ask->matches = arena_array(&a->run, uint8_t, a->pools.n_candidates + 1);
        if (ask->wrong.n)
            return allocate_fail(a, ask->wrong);
        ask->wanted = (uint32_t)MIN(MAX(ask->ask->count, 0), INT32_MAX);
        enum verdict is = str_equal(ask->ask->mode, STR("All")) ? list_all(a, claim, ask) : YES;
        if (is != YES)
            return is;
        *fewest = MIN(*fewest, ask->wanted);
    }
    return YES;
}

static enum verdict prepare_claim(struct allocator *a, struct claim *claim)
{
    uint64_t fewest = 0;
    claim->n_found = 0;
    for (uint32_t i = 0; i < claim->claim->spec.requests.n; i++) {
        uint32_t of_request;
        enum verdict is = prepare_request(a, claim, &claim->requests[i], &of_request);
        if (is != YES)
            return is;
        fewest += of_request;
    }
    if (fewest > RESULTS_MOST)
        return allocate_fail(a, arena_printf(&a->run,
                                             "claim " STR_FMT
                                             ": number of requested devices %lu exceeds "
                                             "the claim limit of %d",
                                             STR_ARG(allocate_full_name(claim->claim, &a->run)),
                                             (unsigned long)fewest, RESULTS_MOST));
    for (uint32_t i = 0; i < claim->claim->spec.constraints.n; i++) {
        const struct device_constraint *from = claim->constraints[i].from;
        claim->constraints[i].n = 0;
        if (!from->has_match && !from->has_distinct)
            return allocate_fail(
                a, arena_printf(&a->run,
                                "claim " STR_FMT ", constraint #%u: empty constraint "
                                "(unsupported constraint type?)",
                                STR_ARG(allocate_full_name(claim->claim, &a->run)), i));
    }
    return YES;
}

/* Which candidates are GPUs that the node has books of. */
static void number_gpus(struct allocator *a)
{
    struct gpu_facts_list told;
    const struct node_gpus *g = a->cluster->nodes.gpus[a->node.i];
    if (!g || g->n == 0)
        return;
    gpu_facts_list_read(a->cluster, a->node, &a->run, &told);
    a->gpus = arena_array(&a->run, uint8_t, a->pools.n_candidates + 1);
    for (uint32_t i = 0; i < a->pools.n_candidates; i++)
        for (uint32_t k = 0; k < told.n; k++)
            if (told.there >> k & g->there >> k & 1 &&
                told.at[k].id == a->pools.candidates[i].index->id)
                a->gpus[i] = (uint8_t)(k + 1);
}

/* --- what is known of a node, and going on --- */

static struct placement placement_of(const struct cluster *c, node_id node)
{
    return (struct placement){node.i, c->log.newest[node.i], c->devices.generation};
}

/* Is the node what it was then, as far as claims are concerned? It was no trial then, so no entry
 * of the log up to there is ever cut off. */
static bool is_as_it_was(const struct cluster *c, const struct placement *s)
{
    uint32_t matter = COLUMN_PRESENCE | COLUMN_LABELS;
    if (s->generation != c->devices.generation)
        return false;
    for (uint64_t at = c->log.newest[s->node]; at > s->newest;) {
        const struct change_entry *e = change_log_at(&c->log, at);
        if (at < c->log.oldest || e->columns & matter)
            return false;
        at = e->before;
    }
    return true;
}

static const struct known *find_known(const struct allocator *a, const struct cluster *c,
                                      node_id node)
{
    uint32_t i = map_find(&a->known_at, node.i);
    return i != MAP_NONE && is_as_it_was(c, &a->known.at[i].placement) ? &a->known.at[i] : NULL;
}

/* Keeps what was hard to find out, and in a decision that is put down again and again everything.
 */
static void note_known(struct allocator *a, enum allocate_outcome outcome)
{
    const struct effort *e = a->effort;
    bool is_long = e->may_pause && e->used > e->most / 2;
    if (a->is_cut || a->cluster->depth || (a->steps <= STEPS_EASY && !is_long))
        return;
    struct known known = {.placement = placement_of(a->cluster, a->node), .outcome = outcome};
    if (outcome == ALLOCATE_FAILED)
        known.error = arena_str(a->mem, a->error);
    if (outcome == ALLOCATE_DONE) {
        known.score = allocator_score(a);
        known.n_trail = a->trail.n;
        known.trail = arena_array(a->mem, uint32_t, a->trail.n);
        if (a->trail.n)
            memcpy(known.trail, a->trail.at, a->trail.n * sizeof(*known.trail));
    }
    uint32_t i = map_find(&a->known_at, a->node.i);
    if (i == MAP_NONE) {
        map_put(&a->known_at, a->node.i, a->known.n);
        vec_push(&a->known, known);
    } else
        a->known.at[i] = known;
}

static void begin(struct allocator *a, const struct cluster *c, node_id node)
{
    arena_reset(&a->run);
    alike_begin(a);
    vec_clear(&a->trail);
    a->cluster = c;
    a->node = node;
    a->steps = 0;
    a->gpus = NULL;
    a->is_read = a->is_paused = false;
    a->pools = pools_gather(c, node, &a->run);
    for (uint32_t i = 0; i < a->n_asks; i++)
        a->asks[i].matches = NULL, a->asks[i].all = a->asks[i].order = NULL;
    allocate_spend(a, 1 + a->pools.n_candidates / 8 + a->n_asks / 8);
}

static enum verdict search(struct allocator *a)
{
    for (uint32_t i = 0; !a->is_read && i < a->n_claims; i++) {
        enum verdict is = prepare_claim(a, &a->claims[i]);
        if (is != YES)
            return is;
    }
    a->is_read = true;
    enum verdict is = allocate_search(a, 0, 0);
    return is == TOO_MANY ? allocate_fail(a, STR("allocation max size exceeded")) : is;
}

static enum allocate_outcome outcome_of(struct allocator *a, enum verdict is)
{
    if (is == FAILED)
        return ALLOCATE_FAILED;
    if (is == YES)
        return ALLOCATE_DONE;
    for (uint32_t i = 0; i < a->pools.n; i++)
        if (a->pools.at[i].is_invalid)
            return ALLOCATE_INVALID;
    return ALLOCATE_NOTHING;
}

/* Ends a search; one that is put down keeps what it has of the node. */
static enum allocate_outcome end(struct allocator *a, enum verdict is)
{
    a->is_paused = is == PAUSED && !a->cluster->depth;
    if (is == PAUSED) {
        a->placement = placement_of(a->cluster, a->node);
        a->effort->is_paused = true;
        return ALLOCATE_UNFINISHED;
    }
    alike_done(&a->alike);
    return outcome_of(a, is);
}

static bool goes_on(const struct allocator *a, const struct cluster *c, node_id node)
{
    return a->is_paused && a->placement.node == node.i && is_as_it_was(c, &a->placement);
}

/* Candidates in their order, or the best GPUs first. */
static enum allocate_outcome run(struct allocator *a, const struct cluster *c, node_id node,
                                 bool is_joined)
{
    a->cluster = c;
    a->is_cut = false;
    if (a->n_claims > 64) {
        allocate_fail(a, STR("not supported yet: more than 64 claims"));
        return ALLOCATE_FAILED;
    }
    if (is_joined || !goes_on(a, c, node))
        begin(a, c, node);
    const struct known *known = is_joined ? NULL : find_known(a, c, node);
    for (uint32_t i = 0; known && i < known->n_trail; i++)
        vec_push(&a->trail, known->trail[i]);
    if (is_joined)
        number_gpus(a);
    return end(a, search(a));
}

enum allocate_outcome allocator_run(struct allocator *a, const struct cluster *c, node_id node)
{
    return run(a, c, node, false);
}

enum allocate_outcome allocator_judge(struct allocator *a, const struct cluster *c, node_id node,
                                      int64_t *score)
{
    const struct known *known = find_known(a, c, node);
    *score = 0;
    if (known) {
        *score = known->score;
        a->error = known->error;
        return known->outcome;
    }
    if (a->late.n) {
        a->error = a->late;
        return ALLOCATE_FAILED;
    }
    if (a->effort->most && a->effort->used >= a->effort->most && a->effort->may_pause) {
        a->effort->is_paused = true;
        return ALLOCATE_UNFINISHED;
    }
    enum allocate_outcome outcome = run(a, c, node, false);
    if (outcome == ALLOCATE_DONE)
        *score = allocator_score(a);
    if (outcome != ALLOCATE_UNFINISHED)
        note_known(a, outcome);
    return outcome;
}

static bool has_choices(const struct allocator *a)
{
    for (uint32_t i = 0; i < a->n_claims; i++)
        for (uint32_t r = 0; r < a->claims[i].claim->spec.requests.n; r++)
            if (a->claims[i].requests[r].is_choice)
                return true;
    return false;
}

enum allocate_outcome allocator_run_joined(struct allocator *a, const struct cluster *c,
                                           node_id node)
{
    enum allocate_outcome is = run(a, c, node, true);
    if (is == ALLOCATE_DONE && !has_choices(a))
        return is;
    int64_t score = is == ALLOCATE_DONE ? allocator_score(a) : -1;
    is = run(a, c, node, false);
    if (is == ALLOCATE_DONE && score >= allocator_score(a))
        is = run(a, c, node, true);
    return is;
}

void allocator_done(struct allocator *a)
{
    alike_done(&a->alike);
    vec_done(&a->trail);
    vec_done(&a->known);
    map_done(&a->known_at);
    arena_done(&a->run);
}

struct str allocator_error(const struct allocator *a)
{
    return a->error;
}

int64_t allocator_score(const struct allocator *a)
{
    int64_t score = 0;
    for (uint32_t i = 0; i < a->n_claims; i++)
        for (uint32_t r = 0; r < a->claims[i].claim->spec.requests.n; r++)
            if (a->claims[i].requests[r].is_choice)
                score += ALTERNATIVES_MOST - (int64_t)a->claims[i].requests[r].chosen;
    return score;
}
