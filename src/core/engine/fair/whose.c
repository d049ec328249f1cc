/* Which queue a pod is in: the first of the keys that are said, then its namespace's queue (rules
 * Q1 to Q6 of docs/guide/queues.md). */

#include "core/engine/fair/shares.h"

/* --- what is said --- */

/* How each thing is spelled; of several the first that is said counts. */
static const struct spelling {
    struct str key;
    enum saying is;
} spellings[N_SPELLINGS] = {
    {STR("scheduling.kubenexus.io/queue"), SAYS_QUEUE},
    {STR("scheduling.kubenexus.io/charged-to"), SAYS_CHARGED},
    {STR("scheduling.kubenexus.io/user"), SAYS_USER},
    {STR("kai.scheduler/queue"), SAYS_PEER},
    {STR("scheduling.volcano.sh/queue-name"), SAYS_PEER},
    {STR("volcano.sh/queue-name"), SAYS_PEER},
    {STR("yunikorn.apache.org/queue"), SAYS_PEER},
    {STR("queue"), SAYS_PEER},
    {STR("kueue.x-k8s.io/cluster-queue-name"), SAYS_CLUSTER_QUEUE},
    {STR("kueue.x-k8s.io/local-queue-name"), SAYS_LOCAL_QUEUE},
    {STR("kueue.x-k8s.io/queue-name"), SAYS_LOCAL_QUEUE},
    {STR("scheduling.kubenexus.io/max"), SAYS_MAX},
};

static const struct sayings silence = {
    {SYM_NONE, SYM_NONE, SYM_NONE, SYM_NONE, SYM_NONE, SYM_NONE, SYM_NONE}};

enum { OF_POD, OF_GROUP, OF_NAMESPACE };

static uint64_t place_of(uint32_t kind, uint32_t number)
{
    return (uint64_t)kind << 32 | number;
}

/* What is longer than any name of an object names no queue. */
static bool is_said(enum saying is, struct str value)
{
    enum { NAME_BYTES_MOST = 253 };
    bool is_name = is != SAYS_USER && is != SAYS_MAX;
    return value.n && (!is_name || value.n <= NAME_BYTES_MOST);
}

static void read_sayings(struct names *names, const pair_list *pairs, struct sayings *out)
{
    for (uint32_t i = 0; i < LEN(spellings); i++)
        list_each(pairs, pair)
            if (out->at[spellings[i].is] == SYM_NONE && str_equal(pair->key, spellings[i].key) &&
                is_said(spellings[i].is, pair->value))
                out->at[spellings[i].is] = names_get(names, pair->value);
}

static void hold_sayings(struct names *names, const struct sayings *says, bool holds)
{
    void (*change)(struct intern *, uint32_t) = holds ? intern_hold : intern_drop;
    for (uint32_t i = 0; i < N_SAYINGS; i++)
        if (says->at[i] != SYM_NONE)
            change(&names->text, says->at[i]);
}

static const struct sayings *said(const struct engine *k, uint64_t place)
{
    uint32_t at = k->shares->said_at.n ? map_find(&k->shares->said_at, place) : MAP_NONE;
    return at == MAP_NONE ? &silence : &k->shares->said.at[at];
}

/* True if that is news. */
static bool put_sayings(struct engine *k, uint64_t place, const struct sayings *says)
{
    struct shares *s = k->shares;
    struct names *names = &k->cluster->names;
    uint32_t at = s->said_at.n ? map_find(&s->said_at, place) : MAP_NONE;
    bool is_silent = !memcmp(says, &silence, sizeof(silence));
    if (at == MAP_NONE && is_silent)
        return false;
    if (at == MAP_NONE) {
        at = s->said_free.n ? vec_pop(&s->said_free) : s->said.n;
        if (at == s->said.n)
            vec_push(&s->said, silence);
        s->said.at[at] = silence;
        map_put(&s->said_at, place, at);
    }
    bool is_news = memcmp(&s->said.at[at], says, sizeof(*says));
    hold_sayings(names, says, true);
    hold_sayings(names, &s->said.at[at], false);
    s->said.at[at] = *says;
    if (is_silent) {
        map_remove(&s->said_at, place);
        vec_push(&s->said_free, at);
    }
    return is_news;
}

bool engine_hear_pods_queue(struct engine *k, pod_id pod, const struct meta *says)
{
    struct sayings is = silence;
    if (says && says->annotations.n)
        read_sayings(&k->cluster->names, &says->annotations, &is);
    return put_sayings(k, place_of(OF_POD, pod.i), &is);
}

void engine_hear_groups_queue(struct engine *k, uint32_t group, const struct meta *says)
{
    struct sayings is = silence;
    if (says) {
        read_sayings(&k->cluster->names, &says->labels, &is);
        read_sayings(&k->cluster->names, &says->annotations, &is);
    }
    k->shares->is_stale |= put_sayings(k, place_of(OF_GROUP, group), &is);
}

struct str engine_max_said(const struct engine *k, sym namespace)
{
    return names_text(&k->cluster->names, said(k, place_of(OF_NAMESPACE, namespace))->at[SAYS_MAX]);
}

/* Pods of one that said a max to this tree are counted in it until it goes. */
static void note_limited(struct engine *k, sym namespace, bool says)
{
    struct shares *s = k->shares;
    uint32_t at = 0;
    while (at < s->limited.n && s->limited.at[at] != namespace)
        at++;
    bool was = at < s->limited.n;
    if (says && !was) {
        intern_hold(&k->cluster->names.text, namespace);
        vec_push(&s->limited, namespace);
    } else if (!says && was && map_find(&s->limits, namespace) == MAP_NONE) {
        intern_drop(&k->cluster->names.text, namespace);
        vec_remove(&s->limited, at);
    }
}

bool engine_hear_namespaces_queue(struct engine *k, sym namespace, const struct meta *says,
                                  bool has_other_labels)
{
    struct shares *s = k->shares;
    struct sayings is = silence;
    if (says) {
        read_sayings(&k->cluster->names, &says->labels, &is);
        read_sayings(&k->cluster->names, &says->annotations, &is);
    }
    if (namespace == SYM_NONE)
        return false;
    struct sayings was = *said(k, place_of(OF_NAMESPACE, namespace));
    bool has_other_max = was.at[SAYS_MAX] != is.at[SAYS_MAX];
    put_sayings(k, place_of(OF_NAMESPACE, namespace), &is);
    was.at[SAYS_MAX] = is.at[SAYS_MAX];
    if (has_other_labels || memcmp(&was, &is, sizeof(is))) {
        map_remove(&s->namespaces, namespace);
        s->is_stale = true;
    }
    if (has_other_max) {
        note_limited(k, namespace, is.at[SAYS_MAX] != SYM_NONE);
        engine_limit_anew(k, namespace);
    }
    return has_other_max && s->tree;
}

void engine_know_keys(struct engine *k)
{
    struct shares *s = k->shares;
    for (uint32_t i = 0; i < N_SPELLINGS && !s->knows_keys; i++) {
        s->keys[i] = names_get(&k->cluster->names, spellings[i].key);
        intern_hold(&k->cluster->names.text, s->keys[i]);
    }
    s->knows_keys = true;
}

/* By a label of the pod, else an annotation, else its group's object. */
static struct str word_of(const struct engine *k, pod_id pod, enum saying is)
{
    const struct cluster *c = k->cluster;
    label_set_id labels = pods_shape(&c->pods, pod)->labels;
    for (uint32_t i = 0; i < N_SPELLINGS; i++) {
        if (spellings[i].is != is)
            continue;
        sym value = names_label(&c->names, labels, k->shares->keys[i]);
        if (value != SYM_NONE && names_text(&c->names, value).n)
            return names_text(&c->names, value);
    }
    sym word = said(k, place_of(OF_POD, pod.i))->at[is];
    uint32_t group = groups_of(&c->groups, pod);
    if (word == SYM_NONE && group != ID_NONE)
        word = said(k, place_of(OF_GROUP, group))->at[is];
    return names_text(&c->names, word);
}

/* --- whose it is --- */

bool engine_is_shared(const struct engine *k, pod_id pod)
{
    const struct profile *profile = engine_profile_of(k, pod);
    return profile && k->shares->has_part.at[profile - k->config.rules.profiles];
}

/* Of "root.a.b": a.b, then b. */
static struct team *peers_team(const struct engine *k, struct str name)
{
    struct team *team = engine_team(k, name);
    while (!team && str_find(name, '.') < name.n) {
        str_take(&name, '.');
        team = engine_team(k, name);
    }
    return team;
}

static struct team *kueues_team(const struct engine *k, pod_id pod)
{
    const struct cluster *c = k->cluster;
    struct str name = word_of(k, pod, SAYS_CLUSTER_QUEUE);
    if (name.n)
        return engine_team(k, name);
    sym local = names_find(&c->names, word_of(k, pod, SAYS_LOCAL_QUEUE));
    sym leads = queues_leads_to(&c->kueue, pods_shape(&c->pods, pod)->namespace, local);
    return leads == SYM_NONE ? NULL : engine_team(k, names_text(&c->names, leads));
}

static bool names_it(const struct team *team, sym namespace)
{
    vec_each(&team->namespaces, name)
        if (*name == namespace)
            return true;
    return false;
}

static bool likes_it(const struct engine *k, const struct team *team, sym namespace)
{
    const struct cluster *c = k->cluster;
    uint32_t labels = map_find(&c->namespaces, namespace);
    return team->like != ID_NONE && selector_matches(matches_selector_at(&c->matches, team->like),
                                                     &c->names, labels == MAP_NONE ? 0 : labels);
}

/* The only leaf whose object has the namespace by its labels; ID_NONE: none. */
static uint32_t team_that_likes(const struct engine *k, sym namespace)
{
    uint32_t found = ID_NONE;
    for (uint32_t i = 0; i < k->shares->teams.n && k->shares->any_likes; i++) {
        const struct team *team = k->shares->teams.at[i];
        if (team->is_leaf && likes_it(k, team, namespace))
            found = found == ID_NONE ? i : SEVERAL;
    }
    return found;
}

/* Row 5 of the table; NULL: none, or several. */
static struct team *namespaces_team(struct engine *k, sym namespace)
{
    struct shares *s = k->shares;
    if (UNLIKELY(k->shares->is_unrelated))
        engine_relate_teams(k);
    uint32_t at = map_find(&s->namespaces, namespace);
    if (at == MAP_NONE) {
        at = map_find(&s->named, namespace);
        at = at == MAP_NONE ? team_that_likes(k, namespace) : at;
        at = at < s->teams.n ? at : s->teams.n;
        map_put(&s->namespaces, namespace, at);
    }
    return at < s->teams.n ? s->teams.at[at] : NULL;
}

/* Row 4 of the table. */
static struct str namespaces_word(const struct engine *k, sym namespace)
{
    return names_text(&k->cluster->names,
                      said(k, place_of(OF_NAMESPACE, namespace))->at[SAYS_QUEUE]);
}

/* Where nobody says more. */
static struct str namespaces_queue(struct engine *k, sym namespace)
{
    struct str word = namespaces_word(k, namespace);
    if (word.n)
        return word;
    const struct team *team = namespaces_team(k, namespace);
    return team ? team->name : STR("default");
}

/* The name of its queue. */
static struct str queue_said(struct engine *k, pod_id pod)
{
    sym namespace = pods_shape(&k->cluster->pods, pod)->namespace;
    struct str own = word_of(k, pod, SAYS_QUEUE);
    if (own.n)
        return own;
    struct str peers = word_of(k, pod, SAYS_PEER);
    const struct team *team = peers.n ? peers_team(k, peers) : NULL;
    team = team ? team : kueues_team(k, pod);
    if (team)
        return team->name;
    return namespaces_queue(k, namespace);
}

static uint32_t part_of(struct engine *k, pod_id pod, struct str name)
{
    if (UNLIKELY(k->shares->is_unrelated))
        engine_relate_teams(k);
    const struct cluster *c = k->cluster;
    const struct shape *shape = pods_shape(&c->pods, pod);
    const struct team *team = engine_team(k, name);
    uint32_t queue = fair_get(k->shares->tree, name);
    enum queue_split_by by = team ? queue_split_by(&team->says) : SPLIT_NONE;
    if (by == SPLIT_NONE && k->shares->args->shares_namespaces && str_equal(name, STR("default")))
        by = SPLIT_NAMESPACE;
    if (by == SPLIT_NONE || (team && !team->is_leaf) || !engine_takes(k, queue, shape->namespace))
        return queue; /* parts are for those that may use it */
    struct str value = {0};
    if (by == SPLIT_NAMESPACE)
        value = names_text(&c->names, shape->namespace);
    else if (by == SPLIT_USER)
        value = word_of(k, pod, SAYS_USER);
    else if (team->split != SYM_NONE)
        value = names_text(&c->names, names_label(&c->names, shape->labels, team->split));
    return fair_part(k->shares->tree, queue, value.n ? value : STR("-"));
}

bool engine_takes(struct engine *k, uint32_t queue, sym namespace)
{
    if (UNLIKELY(k->shares->is_unrelated))
        engine_relate_teams(k);
    struct str leaf = engine_leaf_name(k, queue);
    const struct team *team = engine_team(k, leaf);
    bool is_default = str_equal(leaf, STR("default"));
    if (is_default && (!team || !team->says.spec.namespaces))
        return true;
    for (uint32_t depth = 0; team && depth <= FAIR_DEPTH_MOST; depth++) {
        if (names_it(team, namespace) || likes_it(k, team, namespace))
            return true;
        team = team->parent == ID_NONE ? NULL : k->shares->teams.at[team->parent];
    }
    return false;
}

static struct charged *charged_at(struct engine *k, pod_id pod)
{
    struct shares *s = k->shares;
    while (s->charged.n <= pod.i)
        vec_push(&s->charged, (struct charged){.queue = FAIR_NONE});
    return &s->charged.at[pod.i];
}

static uint32_t resolve(struct engine *k, pod_id pod, bool was_charged)
{
    if (!engine_is_shared(k, pod))
        return NOBODYS;
    sym namespace = pods_shape(&k->cluster->pods, pod)->namespace;
    struct str charged = was_charged ? word_of(k, pod, SAYS_CHARGED) : (struct str){0};
    if (charged.n && (engine_team(k, charged) || str_equal(charged, STR("default")))) {
        uint32_t queue = part_of(k, pod, charged);
        if (engine_takes(k, queue, namespace))
            return queue;
    }
    struct str said = queue_said(k, pod);
    const struct team *team = was_charged ? engine_team(k, said) : NULL;
    if (team && !engine_takes(k, team->queue, namespace))
        said = STR("default"); /* it found its node without us, and is no burden to that queue */
    return part_of(k, pod, said);
}

/* Room that is held is charged to those for whom it is. */
static uint32_t payers_queue(struct engine *k, pod_id hold)
{
    struct payer payer = k->above->payer(k, hold);
    pod_id pod = {payer.pod};
    if (pod.i != ID_NONE) {
        uint32_t queue = charged_at(k, pod)->queue;
        return queue != FAIR_NONE
                   ? queue
                   : resolve(k, pod, pods_at(&k->cluster->pods, pod)->node != ID_NONE);
    }
    if (payer.namespace == SYM_NONE)
        return NOBODYS;
    struct str name = namespaces_queue(k, payer.namespace);
    return fair_part(k->shares->tree, fair_get(k->shares->tree, name),
                     names_text(&k->cluster->names, payer.namespace));
}

uint32_t engine_resolve_queue(struct engine *k, pod_id pod, bool was_charged)
{
    return engine_is_slot(k, pod.i) ? payers_queue(k, pod) : resolve(k, pod, was_charged);
}

struct str engine_leaf_name(const struct engine *k, uint32_t queue)
{
    const struct fair *tree = k->shares->tree;
    return queue == NOBODYS || queue == FAIR_NONE ? (struct str){0}
                                                  : fair_name(tree, fair_leaf(tree, queue));
}

uint32_t engine_queue_of_pod(struct engine *k, pod_id pod)
{
    struct charged *at = charged_at(k, pod);
    if (at->queue == FAIR_NONE) {
        bool is_there = pods_at(&k->cluster->pods, pod)->node != ID_NONE;
        uint32_t queue = engine_resolve_queue(k, pod, is_there);
        at = charged_at(k, pod);
        *at = (struct charged){.queue = queue, .placed = at->placed};
    }
    return at->queue;
}

void engine_set_queue(struct engine *k, pod_id pod, uint32_t queue)
{
    struct charged *at = charged_at(k, pod);
    if (at->queue == queue)
        return;
    bool is_of_nominated = pods_at(&k->cluster->pods, pod)->nominated != SYM_NONE;
    if (is_of_nominated && at->queue != FAIR_NONE)
        engine_count_nominated(k, pod, -1);
    charged_at(k, pod)->queue = queue;
    if (is_of_nominated && queue != FAIR_NONE)
        engine_count_nominated(k, pod, +1);
}

void engine_note_placed(struct engine *k, pod_id pod)
{
    charged_at(k, pod)->placed = ++k->shares->n_placed;
}

void engine_forget_charge(struct engine *k, pod_id pod)
{
    struct shares *s = k->shares;
    if (pod.i < s->charged.n)
        s->charged.at[pod.i] = (struct charged){.queue = FAIR_NONE};
}

void engine_trim_shares(struct engine *k, uint32_t pods)
{
    struct shares *s = k->shares;
    s->charged.n = MIN(s->charged.n, pods);
    for (; s->standers.n > pods; s->standers.n--)
        kept_turn_free(vec_last(&s->standers).turn);
    if (s->tree)
        fair_trim(s->tree);
    vec_trim(&s->charged);
    vec_trim(&s->standers);
}
