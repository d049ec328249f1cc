/* What keeps a unit out whatever room there is, and the words for it. */

#include "core/engine/fair/shares.h"
#include "core/engine/gang/gang.h"

/* --- may it start? --- */

/* It says that it may not be evicted; a pod beyond its gang's minimum always may. */
bool engine_is_kept(const struct engine *k, pod_id pod)
{
    const struct classified *class = &cluster_spec(k->cluster, pod)->class;
    bool is_said =
        class->preemptible_sign.kind == SIGN_KEY || class->preemptible_sign.kind == SIGN_ANNOTATION;
    return is_said && !class->is_preemptible;
}

/* Its own nominations are room for itself. */
static void count_own(struct engine *k, uint32_t unit, int sign)
{
    const struct cluster *c = k->cluster;
    uint32_t group = engine_gang_led_by(k, unit) ? groups_of(&c->groups, (pod_id){unit}) : ID_NONE;
    if (group == ID_NONE) {
        if (pods_at(&c->pods, (pod_id){unit})->nominated != SYM_NONE)
            engine_count_nominated(k, (pod_id){unit}, sign);
        return;
    }
    vec_each(&c->groups.at.at[group].members, pod)
        if (pods_at(&c->pods, (pod_id){*pod})->nominated != SYM_NONE)
            engine_count_nominated(k, (pod_id){*pod}, sign);
}

bool engine_is_queued(const struct engine *k, uint32_t unit)
{
    const struct shares *s = k->shares;
    return engine_shares(k) && unit < s->standers.n && s->standers.at[unit].stands;
}

/* Its ask lives as long as the unit stands. */
static struct fair_request request_of(struct engine *k, uint32_t unit)
{
    struct shares *s = k->shares;
    const struct stander *is = &s->standers.at[unit];
    pod_id pod = {unit};
    uint32_t queue = fair_queue_of(s->tree, unit);
    return (struct fair_request){
        .queue = queue,
        .namespace = engine_limit_of(k, pod),
        .ask = fair_ask_of(s->tree, unit),
        .is_taken = is->is_taken,
        .is_new_job = !is->is_beyond && fair_limits_jobs(s->tree) &&
                      map_find(&s->jobs, engine_job_of(k, pod, queue)) == MAP_NONE,
        .is_preemptible = is->is_beyond || !engine_is_kept(k, pod),
    };
}

struct fair_request engine_request(struct engine *k, uint32_t unit, struct arena *mem)
{
    struct fair_request r = request_of(k, unit);
    r.ask.at = arena_copy(mem, r.ask.at, r.ask.n * sizeof(*r.ask.at));
    arena_reset(&k->shares->mem);
    return r;
}

bool engine_admits_request(struct engine *k, uint32_t unit, const struct fair_request *r,
                           struct fair_refusal *why)
{
    count_own(k, unit, -1);
    bool may = fair_admits(k->shares->tree, r, why);
    count_own(k, unit, +1);
    return may;
}

bool engine_admits(struct engine *k, uint32_t unit, struct fair_refusal *why)
{
    if (!engine_is_queued(k, unit) || k->shares->standers.at[unit].is_first)
        return true;
    struct fair_request r = request_of(k, unit);
    bool may = engine_admits_request(k, unit, &r, why);
    arena_reset(&k->shares->mem);
    return may;
}

bool engine_exceeds_kind(struct engine *k, pod_id pod, struct fair_refusal *why)
{
    struct shares *s = k->shares;
    uint32_t queue = engine_queue_of_pod(k, pod);
    if (LIKELY(s->kinds.n == 0) || queue == NOBODYS)
        return false;
    struct fair_ask ask = engine_ask_of(k, pod);
    vec_each(&s->kinds, kind)
        for (uint32_t i = 0; i < ask.n; i++) {
            uint32_t resource = kind->resource, at = queue;
            while (ask.at[i].resource == resource && at != FAIR_NONE &&
                   fair_used(s->tree, at, resource) <= fair_max(s->tree, at, resource))
                at = fair_parent(s->tree, at);
            if (ask.at[i].resource != resource || at == FAIR_NONE)
                continue;
            *why = (struct fair_refusal){
                .rule = FAIR_A2,
                .at = at,
                .resource = resource,
                .limit = fair_max(s->tree, at, resource),
                .used = fair_used(s->tree, at, resource) - ask.at[i].amount,
                .wanted = ask.at[i].amount,
            };
            return true;
        }
    return false;
}

/* --- words --- */

static bool is_in_bytes(struct str name)
{
    return str_equal(name, STR("memory")) || str_equal(name, STR("vram")) ||
           str_equal(name, STR("ephemeral-storage")) || str_starts(name, STR("hugepages-"));
}

static void add_fraction(struct buf *out, uint64_t thousandths)
{
    char digits[] = {(char)('0' + thousandths / 100), (char)('0' + thousandths / 10 % 10),
                     (char)('0' + thousandths % 10)};
    size_t n = digits[2] != '0' ? 3 : digits[1] != '0' ? 2 : digits[0] != '0' ? 1 : 0;
    if (n)
        buf_printf(out, ".%.*s", (int)n, digits);
}

/* In the units that users write. */
static void add_amount(const struct engine *k, uint32_t resource, int64_t amount, struct buf *out)
{
    static const char *const units[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi"};
    const struct shares *s = k->shares;
    uint32_t unit = 0;
    if (s->is_fine.at[resource]) {
        buf_printf(out, "%lld", (long long)(amount / 1000));
        add_fraction(out, (uint64_t)(amount % 1000));
        return;
    }
    if (is_in_bytes(queue_resource(fair_resource_name(s->tree, resource))))
        for (; unit + 1 < LEN(units) && amount && amount % 1024 == 0; unit++)
            amount /= 1024;
    buf_printf(out, "%lld%s", (long long)amount, units[unit]);
}

static struct str queue_name(const struct engine *k, uint32_t queue)
{
    return queue == FAIR_ROOT ? STR("root") : fair_name(k->shares->tree, queue);
}

static void add_resource(const struct engine *k, uint32_t resource, struct buf *out)
{
    buf_add_char(out, ' ');
    buf_add(out, fair_resource_name(k->shares->tree, resource));
}

void engine_tell_number(const struct engine *k, uint32_t resource, int64_t amount, struct buf *out)
{
    add_amount(k, resource, amount, out);
}

void engine_tell_amount(const struct engine *k, uint32_t resource, int64_t amount, struct buf *out)
{
    add_amount(k, resource, amount, out);
    add_resource(k, resource, out);
}

static void word_a1(struct engine *k, uint32_t unit, const struct fair_refusal *why,
                    struct buf *out)
{
    const struct cluster *c = k->cluster;
    struct fair *tree = k->shares->tree;
    buf_add(out, STR("queue "));
    buf_add(out, queue_name(k, why->at));
    switch (why->what) {
    case FAIR_IS_MISSING:
        buf_add(out, STR(" does not exist"));
        break;
    case FAIR_HAS_CHILDREN:
        buf_add(out, STR(" has children: name one of its leaves"));
        break;
    case FAIR_TAKES_NOT:
        buf_add(out, STR(" does not take namespace "));
        buf_add(out, names_text(&c->names, pods_shape(&c->pods, (pod_id){unit})->namespace));
        break;
    case FAIR_IS_HELD:
        buf_add(out, STR(" is held"));
        break;
    case FAIR_IS_DRAINED:
        buf_add(out, STR(" is drained"));
        break;
    case FAIR_IS_NOT_ACTIVE:
        buf_add(out, STR(" is not active: "));
        buf_add(out, fair_state_text(tree, why->at, &k->shares->mem));
        arena_reset(&k->shares->mem);
        break;
    }
}

/* How much of it the queue lets others use; where its object says nothing, all. */
static int64_t lends(const struct engine *k, uint32_t queue, uint32_t resource)
{
    struct fair *tree = k->shares->tree;
    const struct team *team = engine_team(k, fair_name(tree, queue));
    struct str name = fair_resource_name(tree, resource);
    int64_t all = fair_effective(tree, queue, resource);
    if (team)
        list_each(&team->says.spec.lend, amount)
            if (str_equal(amount->name, name))
                return MIN(all, k->shares->is_fine.at[resource] ? quantity_milli(amount->quantity)
                                                                : quantity_value(amount->quantity));
    return all;
}

/* "8 nvidia.com/gpu are kept for queue y, which lends 2 of 10" */
static void word_kept(struct engine *k, const struct fair_refusal *why, struct buf *out)
{
    struct fair *tree = k->shares->tree;
    add_amount(k, why->resource, why->kept, out);
    add_resource(k, why->resource, out);
    buf_add(out, STR(" are kept"));
    uint32_t keeper = fair_kept_for(tree, why->at, why->resource);
    if (keeper == FAIR_NONE)
        return;
    buf_add(out, STR(" for queue "));
    buf_add(out, queue_name(k, keeper));
    buf_add(out, STR(", which lends "));
    add_amount(k, why->resource, lends(k, keeper, why->resource), out);
    buf_add(out, STR(" of "));
    add_amount(k, why->resource, fair_effective(tree, keeper, why->resource), out);
}

static void word_a2(struct engine *k, const struct fair_refusal *why, struct buf *out)
{
    if (why->at == FAIR_ROOT) {
        word_kept(k, why, out);
        return;
    }
    buf_add(out, STR("queue "));
    buf_add(out, queue_name(k, why->at));
    buf_add(out, STR(" may use "));
    add_amount(k, why->resource, why->limit, out);
    add_resource(k, why->resource, out);
    buf_add(out, STR(": "));
    add_amount(k, why->resource, why->used, out);
    buf_add(out, STR(" used, "));
    if (why->kept) {
        uint32_t keeper = fair_kept_for(k->shares->tree, why->at, why->resource);
        add_amount(k, why->resource, why->kept, out);
        buf_add(out, STR(" kept"));
        if (keeper != FAIR_NONE)
            buf_printf(out, " for " STR_FMT, STR_ARG(queue_name(k, keeper)));
        buf_add(out, STR(", "));
    }
    add_amount(k, why->resource, why->wanted, out);
    buf_add(out, STR(" wanted"));
}

/* "user ann has 8 of 8 nvidia.com/gpu in queue x" */
static void word_a4(struct engine *k, const struct fair_refusal *why, struct buf *out)
{
    struct fair *tree = k->shares->tree;
    struct str name = fair_name(tree, why->at), leaf = engine_leaf_name(k, why->at);
    bool is_part = fair_is_part(tree, why->at);
    const struct team *team = is_part ? engine_team(k, leaf) : NULL;
    enum queue_split_by by = team ? queue_split_by(&team->says) : SPLIT_NAMESPACE;
    struct str value = is_part ? str_part(name, leaf.n + 1, name.n) : name;
    if (by == SPLIT_LABEL)
        buf_printf(out, STR_FMT "=", STR_ARG(team->says.spec.split->label));
    else
        buf_add(out, by == SPLIT_USER ? STR("user ") : STR("namespace "));
    buf_add(out, value);
    if (why->resource == FAIR_NONE) {
        buf_printf(out, " runs %lld jobs, its most", (long long)why->limit);
    } else {
        buf_add(out, STR(" has "));
        add_amount(k, why->resource, why->used, out);
        buf_add(out, STR(" of "));
        add_amount(k, why->resource, why->limit, out);
        add_resource(k, why->resource, out);
    }
    if (is_part)
        buf_printf(out, " in queue " STR_FMT, STR_ARG(leaf));
}

static void word_a6(struct engine *k, const struct fair_refusal *why, struct buf *out)
{
    buf_add(out, STR("may not be evicted, so it may not borrow: queue "));
    buf_add(out, queue_name(k, why->at));
    buf_add(out, STR(" has "));
    add_amount(k, why->resource, MAX(why->limit - why->used, (int64_t)0), out);
    buf_add(out, STR(" of "));
    add_amount(k, why->resource, why->limit, out);
    add_resource(k, why->resource, out);
    buf_add(out, STR(" left of its guarantee"));
}

void engine_word_admission(struct engine *k, uint32_t unit, const struct fair_refusal *why,
                           struct buf *out)
{
    switch (why->rule) {
    case FAIR_A1:
        word_a1(k, unit, why, out);
        break;
    case FAIR_A2:
        word_a2(k, why, out);
        break;
    case FAIR_A3:
        buf_printf(out, "queue " STR_FMT " runs %lld jobs, its most",
                   STR_ARG(queue_name(k, why->at)), (long long)why->limit);
        break;
    case FAIR_A4:
        word_a4(k, why, out);
        break;
    case FAIR_A5:
        buf_printf(out, "queue " STR_FMT " has spent its budget", STR_ARG(queue_name(k, why->at)));
        break;
    case FAIR_A6:
        word_a6(k, why, out);
        break;
    }
}

void engine_word_queue(struct engine *k, uint32_t unit, struct buf *out)
{
    struct shares *s = k->shares;
    if (!s->tree || unit >= s->standers.n || !s->standers.at[unit].stands)
        return;
    uint32_t queue = fair_queue_of(s->tree, unit);
    struct fair_key key = fair_key(s->tree, fair_leaf(s->tree, queue), fair_ask_of(s->tree, unit));
    arena_reset(&s->mem);
    buf_printf(out, "; in queue " STR_FMT, STR_ARG(engine_leaf_name(k, queue)));
    if (key.class == 0)
        buf_add(out, STR(" (within its guarantee)"));
    else
        buf_printf(out, " (borrowing, share %llu.%03u)",
                   (unsigned long long)(key.share / 1000000000),
                   (unsigned)(key.share % 1000000000 / 1000000));
}
