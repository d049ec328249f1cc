/* One pass over the pod's labels and annotations, each looked up in one table; of those that mean
 * the same, the one that stands first in the table wins. */

#include "core/model/gang.h"

/* clang-format off */

const struct gang_key gang_keys[] = {
    {STR("pod-group.scheduling.kubenexus.io/name"), GANG_NAME, GANG_OBJECT_NONE},
    {STR("gang.scheduling.kubenexus.io/name"), GANG_NAME, GANG_OBJECT_NONE},
    {STR("scheduling.kubenexus.io/gang-group"), GANG_NAME, GANG_OBJECT_NONE},
    {STR("pod-group.scheduling.sigs.k8s.io/name"), GANG_NAME, GANG_OBJECT_NONE},
    {STR("pod-group.scheduling.x-k8s.io/name"), GANG_NAME, GANG_OBJECT_NONE},
    {STR("scheduling.x-k8s.io/pod-group"), GANG_NAME, GANG_OBJECT_SIGS},
    {STR("pod-group.scheduling.sigs.k8s.io"), GANG_NAME, GANG_OBJECT_SIGS},
    {STR("scheduling.k8s.io/group-name"), GANG_NAME, GANG_OBJECT_VOLCANO},
    {STR("scheduling.volcano.sh/group-name"), GANG_NAME, GANG_OBJECT_VOLCANO},
    {STR("kueue.x-k8s.io/pod-group-name"), GANG_NAME, GANG_OBJECT_NONE},
    {STR("leaderworkerset.sigs.k8s.io/group-key"), GANG_NAME, GANG_OBJECT_NONE},

    {STR("pod-group.scheduling.kubenexus.io/min-available"), GANG_SIZE, GANG_OBJECT_NONE},
    {STR("pod-group.scheduling.kubenexus.io/min-member"), GANG_SIZE, GANG_OBJECT_NONE},
    {STR("scheduling.kubenexus.io/min-available"), GANG_SIZE, GANG_OBJECT_NONE},
    {STR("pod-group.scheduling.sigs.k8s.io/min-available"), GANG_SIZE, GANG_OBJECT_NONE},
    {STR("pod-group.scheduling.sigs.k8s.io/min-member"), GANG_SIZE, GANG_OBJECT_NONE},
    {STR("pod-group.scheduling.x-k8s.io/min-available"), GANG_SIZE, GANG_OBJECT_NONE},
    {STR("pod-group.scheduling.x-k8s.io/min-member"), GANG_SIZE, GANG_OBJECT_NONE},
    {STR("kueue.x-k8s.io/pod-group-total-count"), GANG_SIZE, GANG_OBJECT_NONE},
    {STR("leaderworkerset.sigs.k8s.io/size"), GANG_SIZE, GANG_OBJECT_NONE},

    {STR("volcano.sh/task-spec"), GANG_ROLE, GANG_OBJECT_NONE},
    {STR("training.kubeflow.org/replica-type"), GANG_ROLE, GANG_OBJECT_NONE},
    {STR("jobset.sigs.k8s.io/replicatedjob-name"), GANG_ROLE, GANG_OBJECT_NONE},
    {STR("ray.io/node-type"), GANG_ROLE, GANG_OBJECT_NONE},
    {STR("spark-role"), GANG_ROLE, GANG_OBJECT_NONE},

    {STR("scheduling.kubenexus.io/required-topology"), GANG_REQUIRED, GANG_OBJECT_NONE},
    {STR("kueue.x-k8s.io/podset-required-topology"), GANG_REQUIRED, GANG_OBJECT_NONE},
    {STR("scheduling.kubenexus.io/preferred-topology"), GANG_PREFERRED, GANG_OBJECT_NONE},
    {STR("kueue.x-k8s.io/podset-preferred-topology"), GANG_PREFERRED, GANG_OBJECT_NONE},
};

/* clang-format on */

const uint32_t n_gang_keys = LEN(gang_keys);

/* The best found so far for each meaning. */
struct finds {
    struct gang_place places[GANG_MEANINGS];
    uint32_t ranks[GANG_MEANINGS]; /* the lower, the better; UINT32_MAX: nothing found */
    struct gang_place other_name;  /* the best of the names that lost to one of another value */
    uint32_t other_rank;
};

static void lose(struct finds *f, const struct gang_place *place, uint32_t rank)
{
    if (place->where == GANG_NOWHERE || rank >= f->other_rank)
        return;
    f->other_name = *place;
    f->other_rank = rank;
}

static void find(struct finds *f, const struct pair *pair, enum gang_where where)
{
    for (uint32_t i = 0; i < n_gang_keys; i++) {
        if (!str_equal(gang_keys[i].key, pair->key))
            continue;
        enum gang_meaning meaning = gang_keys[i].meaning;
        struct gang_place place = {where, gang_keys[i].key, pair->value};
        uint32_t rank = 2 * i + (where == GANG_ANNOTATION);
        bool is_best = pair->value.n && rank < f->ranks[meaning];
        if (meaning == GANG_NAME && pair->value.n)
            lose(f, is_best ? &f->places[meaning] : &place, is_best ? f->ranks[meaning] : rank);
        if (is_best) {
            f->places[meaning] = place;
            f->ranks[meaning] = rank;
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

bool gang_identity_of(const struct pod *pod, struct gang_identity *out)
{
    struct finds f = {.other_rank = UINT32_MAX};
    memset(f.ranks, 0xff, sizeof(f.ranks));
    list_each(&pod->meta.labels, pair)
        find(&f, pair, GANG_LABEL);
    list_each(&pod->meta.annotations, pair)
        find(&f, pair, GANG_ANNOTATION);
    *out = (struct gang_identity){0};
    if (pod->spec.scheduling_group.n) {
        lose(&f, &f.places[GANG_NAME], 0);
        out->group = (struct gang_place){GANG_FIELD, STR("spec.schedulingGroup.podGroupName"),
                                         pod->spec.scheduling_group};
        out->object = GANG_OBJECT_NATIVE;
    } else if (f.places[GANG_NAME].where) {
        out->group = f.places[GANG_NAME];
        out->object = gang_keys[f.ranks[GANG_NAME] / 2].object;
    } else {
        return false;
    }
    out->size = f.places[GANG_SIZE];
    out->role = f.places[GANG_ROLE];
    out->required = f.places[GANG_REQUIRED];
    out->preferred = f.places[GANG_PREFERRED];
    if (f.other_name.where && !str_equal(f.other_name.value, out->group.value))
        out->conflict = f.other_name;
    read_size(out);
    return true;
}

struct str gang_place_text(const struct gang_place *place, struct arena *mem)
{
    static const char *const words[] = {"nothing", "field", "label", "annotation"};
    return arena_printf(mem, "%s " STR_FMT, words[place->where], STR_ARG(place->key));
}
