/* One pass over the pod's labels and annotations, each looked up in one table; of those that mean
 * the same, the one that stands first in the table wins. */

#include "core/model/gang.h"

#include "core/model/owner.h"

/* clang-format off */

const struct gang_key gang_keys[] = {
    {STR("pod-group.scheduling.kubenexus.io/name"), GANG_NAME, KIND_NONE},
    {STR("gang.scheduling.kubenexus.io/name"), GANG_NAME, KIND_NONE},
    {STR("scheduling.kubenexus.io/gang-group"), GANG_NAME, KIND_NONE},
    {STR("pod-group.scheduling.sigs.k8s.io/name"), GANG_NAME, KIND_NONE},
    {STR("pod-group.scheduling.x-k8s.io/name"), GANG_NAME, KIND_NONE},
    {STR("scheduling.x-k8s.io/pod-group"), GANG_NAME, KIND_SIGS_POD_GROUP},
    {STR("pod-group.scheduling.sigs.k8s.io"), GANG_NAME, KIND_SIGS_POD_GROUP},
    {STR("scheduling.k8s.io/group-name"), GANG_NAME, KIND_VOLCANO_POD_GROUP},
    {STR("scheduling.volcano.sh/group-name"), GANG_NAME, KIND_VOLCANO_POD_GROUP},
    {STR("kueue.x-k8s.io/pod-group-name"), GANG_NAME, KIND_NONE},
    {STR("leaderworkerset.sigs.k8s.io/group-key"), GANG_NAME, KIND_LEADER_WORKER_SET},

    {STR("pod-group.scheduling.kubenexus.io/min-available"), GANG_SIZE, KIND_NONE},
    {STR("pod-group.scheduling.kubenexus.io/min-member"), GANG_SIZE, KIND_NONE},
    {STR("scheduling.kubenexus.io/min-available"), GANG_SIZE, KIND_NONE},
    {STR("pod-group.scheduling.sigs.k8s.io/min-available"), GANG_SIZE, KIND_NONE},
    {STR("pod-group.scheduling.sigs.k8s.io/min-member"), GANG_SIZE, KIND_NONE},
    {STR("pod-group.scheduling.x-k8s.io/min-available"), GANG_SIZE, KIND_NONE},
    {STR("pod-group.scheduling.x-k8s.io/min-member"), GANG_SIZE, KIND_NONE},
    {STR("kueue.x-k8s.io/pod-group-total-count"), GANG_SIZE, KIND_NONE},
    {STR("leaderworkerset.sigs.k8s.io/size"), GANG_SIZE, KIND_NONE},

    {STR("volcano.sh/task-spec"), GANG_ROLE, KIND_NONE},
    {STR("training.kubeflow.org/replica-type"), GANG_ROLE, KIND_NONE},
    {STR("training.kubeflow.org/job-role"), GANG_ROLE, KIND_NONE},
    {STR("jobset.sigs.k8s.io/replicatedjob-name"), GANG_ROLE, KIND_NONE},
    {STR("ray.io/node-type"), GANG_ROLE, KIND_NONE},
    {STR("spark-role"), GANG_ROLE, KIND_NONE},

    {STR("scheduling.kubenexus.io/required-topology"), GANG_REQUIRED, KIND_NONE},
    {STR("kueue.x-k8s.io/podset-required-topology"), GANG_REQUIRED, KIND_NONE},
    {STR("scheduling.kubenexus.io/preferred-topology"), GANG_PREFERRED, KIND_NONE},
    {STR("kueue.x-k8s.io/podset-preferred-topology"), GANG_PREFERRED, KIND_NONE},

    {STR("kubenexus.io/gang"), GANG_AUTO, KIND_NONE},
    {STR("kubenexus.io/gang-scheduling"), GANG_AUTO, KIND_NONE},
    {STR("training.kubeflow.org/job-name"), GANG_OWNER, KIND_MPI_JOB},
    {STR("jobset.sigs.k8s.io/jobset-name"), GANG_OWNER, KIND_JOB_SET},
    {STR("batch.kubernetes.io/job-name"), GANG_OWNER, KIND_JOB},

    {STR("kueue.x-k8s.io/pod-group-fast-admission"), GANG_TURN, KIND_NONE},
    {STR("kueue.x-k8s.io/pod-group-serving"), GANG_TURN, KIND_NONE},
    {STR("leaderworkerset.sigs.k8s.io/exclusive-topology"), GANG_TURN, KIND_NONE},
    {STR("alpha.jobset.sigs.k8s.io/exclusive-topology"), GANG_TURN, KIND_NONE},
    {STR("kubenexus.io/executor-count"), GANG_TURN, KIND_NONE},
    {STR("kubenexus.io/min-executors"), GANG_TURN, KIND_NONE},
    {STR("alpha.jobset.sigs.k8s.io/node-selector"), GANG_NO_TURN, KIND_NONE},

    {STR("leaderworkerset.sigs.k8s.io/name"), GANG_SET, KIND_LEADER_WORKER_SET},
};

/* clang-format on */

const uint32_t n_gang_keys = LEN(gang_keys);

/* The best found so far for each meaning. */
struct finds {
    struct gang_place places[GANG_MEANINGS];
    uint32_t precedences[GANG_MEANINGS]; /* the lower, the better; UINT32_MAX: nothing found */
    struct gang_place other_name; /* the best of the names that lost to one of another value */
    uint32_t other_precedence;
};

static void lose(struct finds *f, const struct gang_place *place, uint32_t precedence)
{
    if (place->where == GANG_NOWHERE || precedence >= f->other_precedence)
        return;
    f->other_name = *place;
    f->other_precedence = precedence;
}

static void find(struct finds *f, const struct pair *pair, enum gang_where where)
{
    for (uint32_t i = 0; i < n_gang_keys; i++) {
        if (!str_equal(gang_keys[i].key, pair->key))
            continue;
        enum gang_meaning meaning = gang_keys[i].meaning;
        struct gang_place place = {where, gang_keys[i].key, pair->value};
        uint32_t precedence = 2 * i + (where == GANG_ANNOTATION);
        bool is_best = pair->value.n && precedence < f->precedences[meaning];
        if (meaning == GANG_NAME && pair->value.n)
            lose(f, is_best ? &f->places[meaning] : &place,
                 is_best ? f->precedences[meaning] : precedence);
        if (is_best) {
            f->places[meaning] = place;
            f->precedences[meaning] = precedence;
        }
        return;
    }
}

static void read_size(struct gang_identity *out)
{
    int64_t size;
    if (out->size.where == GANG_NOWHERE)
        return;
    if (str_int(out->size.value, &size) && size >= 1 && size <= INT32_MAX)
        out->minimum = (int32_t)size;
    else
        out->malformed = out->size;
}

/* --- owners --- */

static const struct owner *controller_of(const struct pod *pod)
{
    const struct owner *owner = NULL;
    list_each(&pod->meta.owners, o)
        owner = o->is_controller ? o : owner;
    return owner;
}

static struct str env_of(const struct pod *pod, struct str name)
{
    list_each(&pod->spec.containers, container)
        list_each(&container->env, var)
            if (str_equal(var->name, name))
                return var->value;
    return (struct str){0};
}

/* "4", or of an elastic one, "2:4", the least; 0: neither. */
static int64_t least(struct str text)
{
    int64_t n;
    struct str first = str_part(text, 0, str_find(text, ':'));
    return str_int(first, &n) ? n : 0;
}

/* Of TensorFlow's {"cluster":{"worker":["a:1","b:1"],"ps":["c:1"]},…}: all that are listed. */
static int64_t listed(struct str text)
{
    static const struct str key = STR("\"cluster\"");
    size_t i = 0;
    while (i < text.n && !str_starts(str_part(text, i, text.n), key))
        i++;
    int64_t n = 0;
    uint32_t depth = 0;
    bool is_listing = false, is_quoted = false;
    for (i += key.n; i < text.n; i++) {
        char c = text.p[i];
        n += c == '"' && !is_quoted && is_listing;
        is_quoted ^= c == '"';
        if (is_quoted)
            continue;
        is_listing = c == '[' || (is_listing && c != ']');
        depth += c == '{';
        if (c == '}' && --depth == 0)
            return n;
    }
    return 0;
}

/* Processes, so many on each. */
static int64_t world(const struct pod *pod, struct str text)
{
    int64_t n, each = 1;
    struct str per_node = env_of(pod, STR("PET_NPROC_PER_NODE"));
    if (!str_int(text, &n) || (per_node.n && (!str_int(per_node, &each) || each < 1)))
        return 0;
    return n % each == 0 ? n / each : 0;
}

/* How many pods its owner has made, as the pod is told: operators put it into the environment. */
static bool find_owners_size(const struct pod *pod, struct gang_identity *out)
{
    static const struct str names[] = {STR("PET_NNODES"), STR("TF_CONFIG"), STR("WORLD_SIZE")};
    for (size_t i = 0; i < LEN(names); i++) {
        struct str text = env_of(pod, names[i]);
        int64_t size = i == 0 ? least(text) : i == 1 ? listed(text) : world(pod, text);
        if (size < 1 || size > INT32_MAX)
            continue;
        out->minimum = (int32_t)size;
        out->size = (struct gang_place){GANG_ENV, names[i], text};
        return true;
    }
    return false;
}

static bool is_asked(const struct finds *f)
{
    struct str asked = f->places[GANG_AUTO].value;
    return str_equal(asked, STR("auto")) || str_equal(asked, STR("true"));
}

/* Whose object says how many there are; the pods of a Job may be of what made the Job. */
static enum kind owners_kind(const struct owner *owner, const struct finds *f)
{
    const struct kind_info *info = owner ? kind_info_find(owner->api_version, owner->kind) : NULL;
    if (!info || !kind_is_owner(info->kind))
        return KIND_NONE;
    bool is_made_for = info->kind == KIND_JOB && f->places[GANG_OWNER].where;
    return is_made_for ? gang_keys[f->precedences[GANG_OWNER] / 2].object : info->kind;
}

static bool find_owner(const struct pod *pod, const struct finds *f, bool kubeflow_asks,
                       struct gang_identity *out)
{
    if (!is_asked(f) && (!kubeflow_asks || f->places[GANG_AUTO].where))
        return false;
    const struct owner *owner = controller_of(pod);
    out->object = owners_kind(owner, f);
    if (!is_asked(f) && (out->object < KIND_JAX_JOB || out->object > KIND_XGBOOST_JOB))
        return false;
    out->group = f->places[GANG_OWNER];
    if (!out->group.where && out->object)
        out->group = (struct gang_place){GANG_FIELD, STR("metadata.ownerReferences"), owner->name};
    return (find_owners_size(pod, out) || out->object) && out->group.where && out->group.value.n;
}

bool gang_is_asked_for(const pair_list *labels, const pair_list *annotations)
{
    struct finds f = {.other_precedence = UINT32_MAX};
    memset(f.precedences, 0xff, sizeof(f.precedences));
    list_each(labels, pair)
        find(&f, pair, GANG_LABEL);
    list_each(annotations, pair)
        find(&f, pair, GANG_ANNOTATION);
    return is_asked(&f);
}

static bool is_of_a_job(const struct pod *pod)
{
    const struct owner *owner = controller_of(pod);
    const struct kind_info *info = owner ? kind_info_find(owner->api_version, owner->kind) : NULL;
    return info && info->kind == KIND_JOB;
}

/* The pod's own field, which names an object. */
static bool find_field(const struct pod *pod, struct finds *f, struct gang_identity *out)
{
    bool is_native = pod->spec.scheduling_group.n > 0;
    if (!is_native && pod->spec.workload.name.n == 0)
        return false;
    lose(f, &f->places[GANG_NAME], 0);
    *out = (struct gang_identity){.object = is_native ? KIND_POD_GROUP : KIND_WORKLOAD};
    if (is_native) {
        out->group = (struct gang_place){GANG_FIELD, STR("spec.schedulingGroup.podGroupName"),
                                         pod->spec.scheduling_group};
    } else {
        out->group =
            (struct gang_place){GANG_FIELD, STR("spec.workloadRef"), pod->spec.workload.name};
        out->part = pod->spec.workload.group;
        out->replica = pod->spec.workload.replica;
    }
    return true;
}

static bool find_key(const struct finds *f, struct gang_identity *out)
{
    if (!f->places[GANG_NAME].where)
        return false;
    out->group = f->places[GANG_NAME];
    out->object = gang_keys[f->precedences[GANG_NAME] / 2].object;
    out->set = f->places[GANG_SET].value;
    if (out->object == KIND_LEADER_WORKER_SET && out->set.n == 0)
        out->object = KIND_NONE;
    return true;
}

/* Since Kubernetes 1.37 the Job controller may put its pods into a group of its own making: what
 * the Job's template says of a gang was said by somebody, and is heard first. */
static bool find_group(const struct pod *pod, struct finds *f, struct gang_rules rules,
                       struct gang_identity *out)
{
    bool is_made_up = pod->spec.scheduling_group.n && !rules.natively && is_of_a_job(pod);
    if (!is_made_up && find_field(pod, f, out))
        return true;
    return find_key(f, out) || find_owner(pod, f, rules.kubeflow_asks, out) ||
           find_field(pod, f, out);
}

/* Are others of its group made when it runs? */
static bool comes_in_turn(const struct finds *f)
{
    const struct gang_place *role = &f->places[GANG_ROLE], *turn = &f->places[GANG_TURN];
    bool is_driver =
        str_equal(role->key, STR("spark-role")) && str_equal(role->value, STR("driver"));
    bool is_said = turn->where && !str_equal(turn->value, STR("false"));
    return is_driver || (is_said && !f->places[GANG_NO_TURN].where);
}

bool gang_identity_by(const struct pod *pod, struct gang_rules rules, struct gang_identity *out)
{
    struct finds f = {.other_precedence = UINT32_MAX};
    memset(f.precedences, 0xff, sizeof(f.precedences));
    list_each(&pod->meta.labels, pair)
        find(&f, pair, GANG_LABEL);
    list_each(&pod->meta.annotations, pair)
        find(&f, pair, GANG_ANNOTATION);
    *out = (struct gang_identity){0};
    if (!find_group(pod, &f, rules, out))
        return false;
    bool is_owners = out->size.where == GANG_ENV ||
                     (kind_is_owner(out->object) && out->object != KIND_LEADER_WORKER_SET);
    if (!is_owners)
        out->size = f.places[GANG_SIZE];
    out->role = f.places[GANG_ROLE];
    out->comes_in_turn = comes_in_turn(&f);
    out->required = f.places[GANG_REQUIRED];
    out->preferred = f.places[GANG_PREFERRED];
    if (f.other_name.where && !str_equal(f.other_name.value, out->group.value))
        out->conflict = f.other_name;
    if (!is_owners)
        read_size(out);
    return true;
}

bool gang_identity_of(const struct pod *pod, struct gang_identity *out)
{
    return gang_identity_by(pod, (struct gang_rules){0}, out);
}

struct str gang_place_text(const struct gang_place *place, struct arena *mem)
{
    static const char *const words[] = {"nothing", "field", "label", "annotation", "variable"};
    return arena_printf(mem, "%s " STR_FMT, words[place->where], STR_ARG(place->key));
}
