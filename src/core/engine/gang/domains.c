/* Where the members of a gang are with regard to each other.
 *
 * The labels that matter are levels, from the tightest domains (an NVLink clique) to the widest (a
 * zone): those that the gang names, else those that the cluster's nodes have of the ones that
 * NetworkFabricScore knows. Level by level the domains are ordered: where members run already, then
 * where the hardware suits them best, then where they are in the fewest tighter domains, then where
 * least room is to spare. The sums of free
 * room say which may hold the gang; of those, a few are tried. So the tightest level that works
 * decides before anything else does, whatever the weights of scores.
 *
 * A domain is filled by parts of the next tighter level: as few of them as will do, evenly, and
 * each in the same way; members are placed in the order of their ranks along that tree. Who finds
 * no place by this plan sits down wherever there is room in the domain.
 *
 * Unless a level is required, the last that is tried is the cluster as a whole, as if there were no
 * levels: what can be placed without domains is placed with them. */

#include "core/engine/gang/gang.h"
#include "core/engine/prebind/prebind.h"
#include "core/framework/row.h"
#include "core/model/topology.h"

enum { MOST_TRIALS = 8 };

/* --- which levels --- */

static bool is_used(const struct engine *k, sym key)
{
    const struct cluster *c = k->cluster;
    for (uint32_t i = 0; i < c->nodes.n; i++)
        if (nodes_is_present(&c->nodes, (node_id){i}) &&
            cluster_label(c, (node_id){i}, key) != SYM_NONE)
            return true;
    return false;
}

static void add_level(struct engine *k, struct planner *p, struct str key, bool is_required)
{
    const struct topology_key *known = topology_find(key);
    sym s = names_find(&k->cluster->names, key);
    uint32_t most = GANG_MOST_LEVELS - !is_required;
    if (s == SYM_NONE || p->n_levels >= most || (!is_required && !is_used(k, s)))
        return;
    p->levels[p->n_levels++] =
        (struct level){.key = s, .is_local = known && known->is_local, .n = ID_NONE};
}

/* What the profile's plugin for networks knows as levels; false: there is no such plugin. */
static bool profile_levels(const struct profile *profile, const struct fabric_args **args)
{
    for (uint32_t i = 0; i < profile->n; i++)
        if (profile->plugins[i].plugin->knows_levels) {
            *args = profile->plugins[i].args;
            return true;
        }
    return false;
}

/* Is the label on a node that the gang could use? */
static bool is_within_reach(const struct engine *k, const struct planner *p, sym key)
{
    const struct cluster *c = k->cluster;
    for (uint32_t i = 0; i < c->nodes.n; i++)
        if (nodes_is_present(&c->nodes, (node_id){i}) &&
            cluster_label(c, (node_id){i}, key) != SYM_NONE &&
            engine_could_hold(k, p->member_classes.at[0].class, (node_id){i}))
            return true;
    return false;
}

/* The i-th of the levels that gangs are kept together in, unless they say otherwise. */
static struct str usual_level(const struct fabric_args *args, uint32_t i)
{
    return args ? args->levels.at[i] : topology_keys[i].key;
}

static uint32_t n_usual(const struct fabric_args *args)
{
    return args ? args->levels.n : n_topology_keys;
}

/* The level in one of whose domains a strict gang must be: the tightest that is to be had. */
static struct str strict_level(const struct engine *k, const struct planner *p,
                               const struct fabric_args *args, enum co_locate how)
{
    for (uint32_t i = 0; i < n_usual(args); i++) {
        struct str key = usual_level(args, i);
        const struct topology_key *known = topology_find(key);
        sym s = names_find(&k->cluster->names, key);
        bool is_meant = how == CO_LOCATE_STRICT || (known && known->kind == TOPOLOGY_CLIQUE);
        if (is_meant && s != SYM_NONE && is_within_reach(k, p, s))
            return key;
    }
    return topology_keys[0].key;
}

static enum co_locate co_location(const struct engine *k, const struct planner *p)
{
    enum co_locate most = CO_LOCATE_UNSAID;
    vec_each(&p->member_classes, member_class) {
        enum co_locate how =
            specs_at(&k->cluster->specs, member_class->class->spec)->wishes.co_locate;
        most = MAX(most, how);
    }
    return most;
}

static void add_named(struct engine *k, struct planner *p, struct str keys, sym required)
{
    while (keys.n) {
        struct str key = str_take(&keys, ',');
        if (!str_equal(key, names_text(&k->cluster->names, required)))
            add_level(k, p, key, false);
    }
}

/* Those that are tighter than the required one, if it is one of them. */
static void add_usual(struct engine *k, struct planner *p, const struct fabric_args *args,
                      sym required)
{
    struct str end = names_text(&k->cluster->names, required);
    uint32_t n = n_usual(args), until = 0;
    while (until < n && !str_equal(usual_level(args, until), end))
        until++;
    if (end.n && until == n)
        return;
    for (uint32_t i = 0; i < until; i++)
        add_level(k, p, usual_level(args, i), false);
}

/* The keys of all levels with commas. */
static sym join_levels(struct engine *k, struct planner *p)
{
    if (p->n_levels == 0)
        return SYM_NONE;
    buf_clear(&p->text);
    for (uint32_t i = 0; i < p->n_levels; i++)
        buf_printf(&p->text, "%s" STR_FMT, i ? "," : "",
                   STR_ARG(names_text(&k->cluster->names, p->levels[i].key)));
    return names_get(&k->cluster->names, buf_str(&p->text));
}

void engine_find_levels(struct engine *k, struct planner *p, uint32_t group)
{
    const struct group *g = &k->cluster->groups.at.at[group];
    enum co_locate how = co_location(k, p);
    const struct fabric_args *args = NULL;
    bool has_usual = profile_levels(p->member_classes.at[0].class->profile, &args);
    sym preferred = g->preferred;
    p->n_levels = 0;
    p->required = g->required;
    if (p->required == SYM_NONE && has_usual && how >= CO_LOCATE_STRICT)
        p->required = names_get(&k->cluster->names, strict_level(k, p, args, how));
    if (p->only_asks) /* wishes do not matter */
        preferred = SYM_NONE, has_usual = false;
    if (preferred != SYM_NONE)
        add_named(k, p, names_text(&k->cluster->names, preferred), p->required);
    else if (has_usual && how != CO_LOCATE_NONE)
        add_usual(k, p, args, p->required);
    if (p->required != SYM_NONE)
        add_level(k, p, names_text(&k->cluster->names, p->required), true);
    p->within = join_levels(k, p);
}

/* --- domains --- */

static const uint32_t *domains_of(const struct engine *k, const struct planner *p, uint32_t level)
{
    return &p->domain_at.at[level * k->cluster->nodes.n];
}

/* The levels, as bits, whose values name a domain of this one. */
static uint32_t naming(const struct planner *p, uint32_t level)
{
    uint32_t bits = 1u << level;
    if (p->levels[level].is_local && level + 1 < p->n_levels)
        bits |= 1u << (level + 1);
    return bits;
}

static uint32_t domain_of(struct engine *k, struct planner *p, uint32_t level, node_id node)
{
    const struct cluster *c = k->cluster;
    bool is_there = nodes_is_present(&c->nodes, node);
    sym value = is_there ? cluster_label(c, node, p->levels[level].key) : SYM_NONE;
    if (value == SYM_NONE) {
        p->levels[level].bare += is_there;
        return ID_NONE;
    }
    bool has_wider = naming(p, level) >> (level + 1);
    sym wider = has_wider ? cluster_label(c, node, p->levels[level + 1].key) : SYM_NONE;
    uint64_t key = (uint64_t)wider << 32 | value;
    uint32_t at = map_find(&p->domain_of, key);
    if (at != MAP_NONE)
        return at;
    map_put(&p->domain_of, key, p->domains.n);
    vec_push(&p->domains, (struct topology_domain){.value = value, .share = ID_NONE});
    return p->domains.n - 1;
}

/* Adds up what the domains of the level have room for. */
static void sum_room(struct engine *k, struct planner *p, uint32_t level, uint32_t b)
{
    uint32_t nodes = k->cluster->nodes.n, most = p->member_classes.at[b].n;
    const uint32_t *fits = &p->fits.at[b * nodes], *at = domains_of(k, p, level);
    const struct level *l = &p->levels[level];
    for (uint32_t i = 0; i < l->n; i++)
        p->domains.at[l->first + i].of_class = 0;
    for (uint32_t i = 0; i < nodes; i++) {
        if (fits[i] == 0 || at[i] == ID_NONE)
            continue;
        struct topology_domain *domain = &p->domains.at[at[i]];
        uint32_t more = MIN(fits[i], most - domain->of_class);
        domain->of_class += more;
        domain->room += more;
        domain->spare += fits[i];
    }
}

static void sum_suits(struct engine *k, struct planner *p, uint32_t level)
{
    const uint32_t *at = domains_of(k, p, level);
    const struct class *class = p->member_classes.at[0].class;
    for (uint32_t i = 0; i < k->cluster->nodes.n; i++) {
        if (p->fits.at[i] == 0 || at[i] == ID_NONE)
            continue;
        p->domains.at[at[i]].suits += (uint64_t)row_suits(k->cluster, class, (node_id){i});
        p->domains.at[at[i]].suitable++;
    }
}

/* How many of the group run in each domain. */
static void count_running(struct engine *k, struct planner *p, uint32_t group, uint32_t level)
{
    vec_each(&k->cluster->groups.at.at[group].members, i) {
        const struct pod_row *row = pods_at(&k->cluster->pods, (pod_id){*i});
        if (row->node == ID_NONE || row->flags & POD_GOING)
            continue;
        uint32_t domain = domains_of(k, p, level)[row->node];
        if (domain != ID_NONE)
            p->domains.at[domain].running++;
    }
}

/* --- filling a domain --- */

/* Nobody has a node. */
static void stand_up(struct planner *p)
{
    vec_each(&p->members, member)
        member->node = ID_NONE;
    vec_each(&p->member_classes, member_class)
        member_class->placed = 0;
}

static uint32_t standing(const struct planner *p)
{
    uint32_t n = 0;
    vec_each(&p->member_classes, member_class)
        n += member_class->n - member_class->placed;
    return n;
}

static uint32_t placed(const struct planner *p)
{
    return p->members.n - standing(p);
}

/* The nodes of a domain of the level; ID_NONE: all. */
static void gather_domain_nodes(struct engine *k, struct planner *p, uint32_t level,
                                uint32_t domain)
{
    vec_clear(&p->domain_nodes);
    for (uint32_t i = 0; i < k->cluster->nodes.n; i++)
        if (nodes_is_present(&k->cluster->nodes, (node_id){i}) &&
            (domain == ID_NONE || domains_of(k, p, level)[i] == domain))
            vec_push(&p->domain_nodes, i);
    vec_resize(&p->sorted, p->domain_nodes.n);
}

/* How many of those who stand have room on these nodes, at most. */
static uint64_t room_of(const struct engine *k, const struct planner *p, uint32_t first, uint32_t n)
{
    uint64_t room = 0;
    for (uint32_t b = 0; b < p->member_classes.n; b++) {
        const uint32_t *fits = &p->fits.at[b * k->cluster->nodes.n];
        uint64_t here = 0;
        for (uint32_t i = first; i < first + n; i++)
            here += fits[p->domain_nodes.at[i]];
        room += MIN(here, (uint64_t)(p->member_classes.at[b].n - p->member_classes.at[b].placed));
    }
    return room;
}

/* Sorts a piece of the domain's nodes by their domains of a level, into shares of it that are added
 * to p->shares. */
static void cut_up(struct engine *k, struct planner *p, uint32_t level, uint32_t first, uint32_t n)
{
    const uint32_t *at = domains_of(k, p, level);
    uint32_t begin = p->shares.n, end = first;
    for (uint32_t i = first; i < first + n; i++) {
        uint32_t domain = at[p->domain_nodes.at[i]];
        if (domain == ID_NONE)
            continue;
        if (p->domains.at[domain].share == ID_NONE) {
            p->domains.at[domain].share = p->shares.n;
            vec_push(&p->shares, (struct share){.domain = domain});
        }
        p->shares.at[p->domains.at[domain].share].n++;
    }
    for (uint32_t s = begin; s < p->shares.n; s++) {
        p->shares.at[s].first = end;
        end += p->shares.at[s].n;
        p->shares.at[s].n = 0;
    }
    for (uint32_t i = first; i < first + n; i++) {
        uint32_t domain = at[p->domain_nodes.at[i]];
        if (domain == ID_NONE)
            continue;
        struct share *share = &p->shares.at[p->domains.at[domain].share];
        p->sorted.at[share->first + share->n++] = p->domain_nodes.at[i];
    }
    memcpy(&p->domain_nodes.at[first], &p->sorted.at[first],
           (end - first) * sizeof(*p->domain_nodes.at));
    for (uint32_t s = begin; s < p->shares.n; s++) {
        p->domains.at[p->shares.at[s].domain].share = ID_NONE;
        p->shares.at[s].room = room_of(k, p, p->shares.at[s].first, p->shares.at[s].n);
    }
}

static int compare_domains(const struct engine *k, const struct planner *p, uint32_t a, uint32_t b)
{
    return str_compare(names_text(&k->cluster->names, p->domains.at[a].value),
                       names_text(&k->cluster->names, p->domains.at[b].value));
}

/* Is `a` rather to be used than `b`? Where members run, then where there is more room. */
static bool is_fuller(const struct engine *k, const struct planner *p, const struct share *a,
                      const struct share *b)
{
    uint32_t a_runs = p->domains.at[a->domain].running;
    uint32_t b_runs = p->domains.at[b->domain].running;
    if (a_runs != b_runs)
        return a_runs > b_runs;
    if (a->room != b->room)
        return a->room > b->room;
    int names = compare_domains(k, p, a->domain, b->domain);
    return names ? names < 0 : a->domain < b->domain;
}

/* Chooses as few of the shares from `begin` on as hold `quota`; they come first then. Returns how
 * many. */
static uint32_t choose(struct engine *k, struct planner *p, uint32_t begin, uint32_t quota)
{
    uint64_t room = 0;
    uint32_t chosen = 0;
    while (room < quota && begin + chosen < p->shares.n) {
        uint32_t next = begin + chosen, best = next;
        for (uint32_t s = next + 1; s < p->shares.n; s++)
            if (is_fuller(k, p, &p->shares.at[s], &p->shares.at[best]))
                best = s;
        struct share share = p->shares.at[best];
        p->shares.at[best] = p->shares.at[next];
        p->shares.at[next] = share;
        room += share.room;
        chosen++;
    }
    return chosen;
}

/* How many domains of the next tighter level each domain needs for those who stand. */
static void count_parts(struct engine *k, struct planner *p, uint32_t level)
{
    gather_domain_nodes(k, p, level, ID_NONE);
    cut_up(k, p, level, 0, p->domain_nodes.n);
    for (uint32_t s = 0, n = p->shares.n; s < n; s++) {
        struct share share = p->shares.at[s];
        struct topology_domain *domain = &p->domains.at[share.domain];
        cut_up(k, p, level - 1, share.first, share.n);
        domain->parts = choose(k, p, n, standing(p));
        p->shares.n = n;
    }
    vec_clear(&p->shares);
}

/* Those of the next tighter level are measured already. */
static void measure_level(struct engine *k, struct planner *p, uint32_t group, uint32_t level)
{
    struct level *l = &p->levels[level];
    uint32_t nodes = k->cluster->nodes.n;
    if (l->n != ID_NONE)
        return;
    l->first = p->domains.n;
    map_clear(&p->domain_of);
    for (uint32_t i = 0; i < nodes; i++)
        p->domain_at.at[level * nodes + i] = domain_of(k, p, level, (node_id){i});
    l->n = p->domains.n - l->first;
    for (uint32_t b = 0; b < p->member_classes.n; b++)
        sum_room(k, p, level, b);
    sum_suits(k, p, level);
    count_running(k, p, group, level);
    if (level > 0)
        count_parts(k, p, level);
}

/* Gives each of the chosen an even part of the gang, or what it has room for; those with least room
 * are asked first. Members that run somewhere draw all they can. */
static void deal(struct planner *p, uint32_t begin, uint32_t chosen, uint32_t quota)
{
    for (uint32_t i = 0; i < chosen; i++) {
        struct share *share = &p->shares.at[begin + chosen - 1 - i];
        uint32_t even = (quota + chosen - i - 1) / (chosen - i);
        share->quota = (uint32_t)MIN(share->room, (uint64_t)even);
        quota -= share->quota;
    }
    for (uint32_t i = 0; i < chosen && p->domains.at[p->shares.at[begin + i].domain].running; i++)
        for (uint32_t from = chosen - 1; from > i; from--) {
            struct share *to = &p->shares.at[begin + i], *of = &p->shares.at[begin + from];
            uint32_t more = (uint32_t)MIN(to->room - to->quota, (uint64_t)of->quota);
            to->quota += more;
            of->quota -= more;
        }
}

/* In the order of their names: so that ranks follow the tree. */
static void order_shares(struct engine *k, struct planner *p, uint32_t begin, uint32_t n)
{
    struct share *at = &p->shares.at[begin];
    for (uint32_t i = 1; i < n; i++) {
        struct share share = at[i];
        uint32_t to = i;
        for (; to > 0 && compare_domains(k, p, share.domain, at[to - 1].domain) < 0; to--)
            at[to] = at[to - 1];
        at[to] = share;
    }
}

/* Places `quota` of the members that have no node yet on nodes of the domain that `which` levels of
 * the first of them name, by parts of the levels that are tighter than `level`. */
static void fill(struct engine *k, struct planner *p, uint32_t level, uint32_t first, uint32_t n,
                 uint32_t quota, uint32_t which)
{
    if (quota == 0 || n == 0)
        return;
    if (level == 0) {
        engine_open_piece(k, p, which, first, n);
        engine_place_members(k, p, quota, false);
        return;
    }
    uint32_t begin = p->shares.n;
    cut_up(k, p, level - 1, first, n);
    uint32_t chosen = choose(k, p, begin, quota);
    deal(p, begin, chosen, quota);
    order_shares(k, p, begin, chosen);
    for (uint32_t i = 0; i < chosen; i++) {
        struct share share = p->shares.at[begin + i];
        fill(k, p, level - 1, share.first, share.n, share.quota, which | naming(p, level - 1));
    }
    p->shares.n = begin;
}

/* --- a trial --- */

void engine_undo_gang(struct engine *k, struct planner *p, struct txn t)
{
    txn_undo(k->cluster, t);
    vec_each(&p->members, member)
        engine_give_up(k, (pod_id){member->pod});
}

/* Do these levels, as bits, give both nodes the same values? */
static bool is_same_domain(const struct engine *k, const struct planner *p, uint32_t which,
                           uint32_t a, uint32_t b)
{
    for (uint32_t i = 0; i < p->n_levels; i++)
        if (which >> i & 1 && cluster_label(k->cluster, (node_id){a}, p->levels[i].key) !=
                                  cluster_label(k->cluster, (node_id){b}, p->levels[i].key))
            return false;
    return true;
}

/* Are all of the group in one domain of the required level? */
static bool is_within_one(const struct engine *k, const struct planner *p, uint32_t group)
{
    uint32_t first = ID_NONE;
    if (p->required == SYM_NONE)
        return true;
    vec_each(&k->cluster->groups.at.at[group].members, i) {
        const struct pod_row *row = pods_at(&k->cluster->pods, (pod_id){*i});
        if (row->node == ID_NONE || row->flags & POD_GOING)
            continue;
        first = first == ID_NONE ? row->node : first;
        if (cluster_label(k->cluster, (node_id){row->node}, p->required) == SYM_NONE ||
            !is_same_domain(k, p, naming(p, p->n_levels - 1), row->node, first))
            return false;
    }
    return true;
}

/* What is tried: a domain, or the cluster. */
struct trial {
    uint32_t level;  /* n_levels: the cluster */
    uint32_t domain; /* ID_NONE: the cluster */
    uint32_t want;   /* so many must find a node */
    bool fills;      /* by tighter levels, else anywhere in it */
    bool is_reversed;
};

/* Is nobody placed now beyond those who must be? */
static bool takes_few(const struct planner *p)
{
    return p->is_frugal || p->takes_turns;
}

/* Places whom it can in the domain; those who are left over, wherever they may be. */
static uint32_t place_trial(struct engine *k, struct planner *p, const struct trial *t)
{
    uint32_t which = t->domain == ID_NONE ? 0 : naming(p, t->level);
    gather_domain_nodes(k, p, t->level, t->domain);
    if (p->domain_nodes.n == 0)
        return 0;
    uint32_t node = p->domain_nodes.at[0], most = takes_few(p) ? t->want : p->members.n;
    if (t->fills) {
        fill(k, p, t->level, 0, p->domain_nodes.n, most, which);
        if (placed(p) >= most)
            return placed(p);
        gather_domain_nodes(k, p, t->level, t->domain);
    }
    engine_open_piece(k, p, which, 0, p->domain_nodes.n);
    engine_place_members(k, p, most - placed(p), t->is_reversed);
    if (placed(p) >= t->want && placed(p) < most && t->domain != ID_NONE) {
        engine_open_domain(p, p->required == SYM_NONE ? 0 : naming(p, p->n_levels - 1), node);
        engine_place_members(k, p, most - placed(p), t->is_reversed);
    }
    return placed(p);
}

/* Room that is held for one of the gang is held for all of them. */
static void share_nominations(struct engine *k, struct planner *p)
{
    vec_each(&p->members, member)
        if (UNLIKELY(member->is_nominated))
            cluster_nominate(k->cluster, (pod_id){member->pod}, SYM_NONE);
}

/* Places as many as it can; true, with the transaction committed, if they are enough. */
static bool try(struct engine *k, struct planner *p, uint32_t group, const struct trial *t)
{
    struct txn txn = txn_begin(k->cluster);
    if (!t->is_reversed)
        buf_clear(&p->text);
    stand_up(p);
    share_nominations(k, p);
    if (place_trial(k, p, t) >= t->want && is_within_one(k, p, group)) {
        if (p->n_levels)
            engine_trade_nodes(k, p);
        txn_commit(k->cluster, txn);
        return true;
    }
    engine_undo_gang(k, p, txn);
    return false;
}

/* --- from tight to wide --- */

static bool is_better(const struct engine *k, const struct planner *p, uint32_t a, uint32_t b)
{
    const struct topology_domain *x = &p->domains.at[a], *y = &p->domains.at[b];
    if (x->running != y->running)
        return x->running > y->running;
    uint64_t x_suits = x->suits * y->suitable, y_suits = y->suits * x->suitable;
    if (x_suits != y_suits)
        return x_suits > y_suits;
    if (x->parts != y->parts)
        return x->parts < y->parts;
    if (x->spare != y->spare)
        return x->spare < y->spare;
    int names = compare_domains(k, p, a, b);
    return names ? names < 0 : a < b;
}

/* The best domain that may hold so many and was not tried; ID_NONE: none. Where some run, only
 * those come into question that have one of them. */
static uint32_t next_domain(struct engine *k, struct planner *p, uint32_t level, uint32_t want,
                            bool is_bound)
{
    uint32_t best = ID_NONE;
    for (uint32_t i = p->levels[level].first; i < p->levels[level].first + p->levels[level].n;
         i++) {
        const struct topology_domain *d = &p->domains.at[i];
        if (!d->is_tried && d->room >= want && (!is_bound || d->running) &&
            (best == ID_NONE || is_better(k, p, i, best)))
            best = i;
    }
    return best;
}

static bool try_level(struct engine *k, struct planner *p, uint32_t group, uint32_t level,
                      uint32_t want)
{
    stand_up(p);
    measure_level(k, p, group, level);
    const struct level *l = &p->levels[level];
    bool is_bound = false, is_required = l->key == p->required;
    if (l->n == 1 && l->bare == 0 && !is_required)
        return false; /* that is the cluster */
    for (uint32_t i = 0; i < l->n; i++) {
        is_bound |= p->domains.at[l->first + i].running > 0;
        p->domains.at[l->first + i].is_tried = false;
    }
    for (uint32_t trials = 0; trials < MOST_TRIALS;) {
        struct trial t = {level, next_domain(k, p, level, want, is_bound), want, level > 0, false};
        if (t.domain == ID_NONE)
            return false;
        p->domains.at[t.domain].is_tried = true;
        do {
            if (try(k, p, group, &t))
                return true;
            trials++;
            t.fills = !t.fills;
        } while (!t.fills && level > 0);
        t.is_reversed = true;
        t.fills = false;
        if (p->member_classes.n > 1 &&
            try(k, p, group, &t)) /* many small ones rather than a few large */
            return true;
    }
    return false;
}

static bool try_cluster(struct engine *k, struct planner *p, uint32_t group, uint32_t want)
{
    struct trial t = {p->n_levels, ID_NONE, want, p->n_levels > 0, false};
    if (t.fills && try(k, p, group, &t))
        return true;
    t.fills = false;
    if (try(k, p, group, &t))
        return true;
    t.is_reversed = true;
    return p->member_classes.n > 1 && try(k, p, group, &t);
}

static bool place(struct engine *k, struct planner *p, uint32_t group, uint32_t want)
{
    for (uint32_t i = 0; i < p->n_levels; i++)
        if (try_level(k, p, group, i, want))
            return true;
    return p->required == SYM_NONE && try_cluster(k, p, group, want);
}

/* Members that are nominated to a node go there: that is the plan by which others made room for
 * them
 * (evict.h). The rest follow, wherever they may be. */
static bool try_nominated(struct engine *k, struct planner *p, uint32_t group, uint32_t want)
{
    struct txn txn = txn_begin(k->cluster);
    stand_up(p);
    engine_open_domain(p, 0, 0);
    if (engine_place_nominated(k, p) && placed(p) >= want && is_within_one(k, p, group)) {
        uint32_t which = p->required == SYM_NONE ? 0 : naming(p, p->n_levels - 1), node = 0;
        vec_each(&p->members, member)
            node = member->node == ID_NONE ? node : member->node;
        engine_open_domain(p, which, node);
        uint32_t most = takes_few(p) ? want : p->members.n;
        engine_place_members(k, p, MAX(most, placed(p)) - placed(p), false);
        txn_commit(k->cluster, txn);
        return true;
    }
    engine_undo_gang(k, p, txn);
    return false;
}

static bool is_nominated(const struct planner *p)
{
    vec_each(&p->members, member)
        if (member->is_nominated)
            return true;
    return false;
}

static void forget_trials(struct engine *k, struct planner *p)
{
    p->refused_by = 0;
    buf_clear(&p->text);
    vec_clear(&p->domains);
    vec_clear(&p->shares);
    vec_resize(&p->domain_at, p->n_levels * k->cluster->nodes.n);
    for (uint32_t i = 0; i < p->n_levels; i++)
        p->levels[i].n = ID_NONE;
}

static bool place_all_or_enough(struct engine *k, struct planner *p, uint32_t group, uint32_t need)
{
    uint32_t least = MAX(need, 1u), all = takes_few(p) ? least : p->members.n;
    forget_trials(k, p);
    if (UNLIKELY(is_nominated(p)) && !p->is_frugal && try_nominated(k, p, group, least))
        return true;
    bool is_all_first = p->n_levels || all == least;
    return (is_all_first && place(k, p, group, all)) || (all > least && place(k, p, group, least));
}

/* To say why somebody finds no node, all nodes are looked at; to find out that he does not, those
 * of the domain. Who is told nothing if all goes well is asked in silence first. */
bool engine_place_gang(struct engine *k, struct planner *p, uint32_t group, uint32_t need)
{
    struct txn t = txn_begin(k->cluster);
    uint64_t decisions = k->figures->stats.decisions;
    p->is_silent = true;
    p->has_withheld = false;
    bool is_placed = place_all_or_enough(k, p, group, need);
    p->is_silent = false;
    bool has_words = !p->has_withheld || p->only_asks;
    if (has_words || (is_placed && standing(p) == 0)) {
        txn_commit(k->cluster, t);
        return is_placed;
    }
    engine_undo_gang(k, p, t);
    k->figures->stats.decisions = decisions;
    return place_all_or_enough(k, p, group, need);
}

/* --- as many as there is room for --- */

/* Could the domain hold all that must be placed, if nothing ran there? */
static bool could_hold_gang(const struct engine *k, const struct planner *p, uint32_t level,
                            uint32_t domain)
{
    const struct cluster *c = k->cluster;
    uint64_t room = 0;
    vec_each(&p->member_classes, member_class) {
        const struct spec *spec = specs_at(&c->specs, member_class->class->spec);
        uint64_t here = 0;
        for (uint32_t i = 0; i < c->nodes.n && here < member_class->n; i++)
            if (nodes_is_present(&c->nodes, (node_id){i}) &&
                (domain == ID_NONE || domains_of(k, p, level)[i] == domain) &&
                engine_could_hold(k, member_class->class, (node_id){i}))
                here += engine_node_room(c, spec, (node_id){i}, true);
        room += MIN(here, (uint64_t)member_class->n);
    }
    return room >= p->need;
}

/* The domain of the level with the most room now, of those that could hold the gang and, if members
 * run, have one of them; ID_NONE: there is none. */
static uint32_t roomiest(const struct engine *k, const struct planner *p, uint32_t level)
{
    const struct level *l = &p->levels[level];
    uint32_t best = ID_NONE;
    for (uint32_t i = l->first; i < l->first + l->n; i++) {
        const struct topology_domain *d = &p->domains.at[i],
                                     *b = best == ID_NONE ? NULL : &p->domains.at[best];
        bool is_more = !b || d->running > b->running ||
                       (d->running == b->running &&
                        (d->room > b->room || (d->room == b->room && is_better(k, p, i, best))));
        if (is_more && could_hold_gang(k, p, level, i))
            best = i;
    }
    return best;
}

bool engine_place_some(struct engine *k, struct planner *p, uint32_t group)
{
    struct trial t = {p->n_levels, ID_NONE, 1, p->n_levels > 0, false};
    forget_trials(k, p);
    stand_up(p);
    for (uint32_t i = 0; i < p->n_levels; i++)
        measure_level(k, p, group, i);
    if (p->required != SYM_NONE) {
        if (p->n_levels == 0 || p->levels[--t.level].key != p->required)
            return false; /* no node has such a label */
        t.domain = roomiest(k, p, t.level);
        t.fills = t.level > 0;
    }
    if (t.domain == ID_NONE && (p->required != SYM_NONE || !could_hold_gang(k, p, 0, ID_NONE)))
        return false;
    if (!try(k, p, group, &t))
        stand_up(p);
    gather_domain_nodes(k, p, t.level, t.domain);
    return true;
}
