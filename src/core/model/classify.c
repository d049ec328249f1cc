#include "core/model/classify.h"

static const struct str workload_names[N_WORKLOADS] = {
    [WORKLOAD_UNKNOWN] = STR("unknown"),
    [WORKLOAD_SERVICE] = STR("service"),
    [WORKLOAD_INTERACTIVE] = STR("interactive"),
    [WORKLOAD_INFERENCE] = STR("inference"),
    [WORKLOAD_BATCH] = STR("batch"),
    [WORKLOAD_TRAINING] = STR("training"),
};

static const struct str tier_names[N_TIERS] = {
    [TIER_NONE] = STR("unknown"),
    [TIER_BRONZE] = STR("bronze"),
    [TIER_SILVER] = STR("silver"),
    [TIER_GOLD] = STR("gold"),
};

/* Kinds of controllers whose pods are no services. The API group is not looked at: nobody calls a
 * web server's controller PyTorchJob, and operators move between groups. */
static const struct {
    struct str kind;
    enum workload workload;
} owners[] = {
    {STR("PyTorchJob"), WORKLOAD_TRAINING},
    {STR("TFJob"), WORKLOAD_TRAINING},
    {STR("MPIJob"), WORKLOAD_TRAINING},
    {STR("XGBoostJob"), WORKLOAD_TRAINING},
    {STR("PaddleJob"), WORKLOAD_TRAINING},
    {STR("MXJob"), WORKLOAD_TRAINING},
    {STR("JAXJob"), WORKLOAD_TRAINING},
    {STR("TrainJob"), WORKLOAD_TRAINING},
    {STR("RayCluster"), WORKLOAD_BATCH},
    {STR("RayJob"), WORKLOAD_BATCH},
    {STR("SparkApplication"), WORKLOAD_BATCH},
    {STR("JobSet"), WORKLOAD_BATCH},
    {STR("LeaderWorkerSet"), WORKLOAD_BATCH},
    {STR("Workflow"), WORKLOAD_BATCH},
    {STR("Job"), WORKLOAD_BATCH},
    {STR("CronJob"), WORKLOAD_BATCH},
};

/* What people sit in front of, in the name of an image and of an app. */
static const struct str desks[] = {STR("jupyter"), STR("rstudio"),    STR("code-server"),
                                   STR("vscode"),  STR("nteract"),    STR("jupyterhub"),
                                   STR("lab"),     STR("jupyterlab"), STR("notebook"),
                                   STR("ide"),     STR("repl")};
enum { DESK_IMAGES = 5 }; /* only these in an image's name: "lab" may be anybody's registry */

/* Exact names of priority classes. */
static const struct {
    struct str name;
    enum tier tier;
    bool is_preemptible;
} classes[] = {
    {STR("high-priority"), TIER_GOLD, false},
    {STR("system-cluster-critical"), TIER_GOLD, false},
    {STR("system-node-critical"), TIER_GOLD, false},
    {STR("medium-priority"), TIER_SILVER, false},
    {STR("default-priority"), TIER_SILVER, false},
    {STR("low-priority"), TIER_BRONZE, true},
    {STR("best-effort"), TIER_BRONZE, true},
};

struct str workload_name(enum workload workload)
{
    return workload_names[workload];
}

struct str tier_name(enum tier tier)
{
    return tier_names[tier];
}

enum tier tier_of(struct str name)
{
    uint32_t tier = word_find(name, tier_names, N_TIERS);
    return tier == TIER_NONE ? N_TIERS : tier;
}

enum workload workload_of(struct str name)
{
    uint32_t workload = word_find(name, workload_names, N_WORKLOADS);
    return workload == WORKLOAD_UNKNOWN ? N_WORKLOADS : workload;
}

enum tier tier_by_words(struct str tenant)
{
    static const struct str words[] = {STR("prod"), STR("production"), STR("staging"), STR("dev"),
                                       STR("development")};
    static const enum tier says[] = {TIER_GOLD,   TIER_GOLD,   TIER_SILVER,
                                     TIER_BRONZE, TIER_BRONZE, TIER_NONE};
    return says[text_find_word(tenant, words, LEN(words))];
}

static struct sign sign_of(const struct said *said)
{
    return (struct sign){said->is_annotation ? SIGN_ANNOTATION : SIGN_KEY, (uint8_t)said->key};
}

/* --- what --- */

struct found {
    enum workload workload;
    struct sign sign;
};

static bool by_word(const struct pod_said *said, struct misreads *misread, struct found *out)
{
    const struct said *type = &said->by[MEANS_WORKLOAD];
    if (!pod_says(said, MEANS_WORKLOAD))
        return false;
    *out = (struct found){workload_of(type->value), sign_of(type)};
    if (out->workload == N_WORKLOADS)
        misread_add(misread, type);
    return out->workload != N_WORKLOADS;
}

static bool by_desk(const struct pod *pod, const struct pod_said *said, struct found *out)
{
    const struct said *name = &said->by[MEANS_APP_NAME];
    *out = (struct found){WORKLOAD_INTERACTIVE, sign_of(&said->by[MEANS_IS_INTERACTIVE])};
    if (pod_says(said, MEANS_IS_INTERACTIVE))
        return true;
    if (pod_says(said, MEANS_APP_NAME) &&
        text_find_word(name->value, desks, LEN(desks)) < LEN(desks)) {
        out->sign = sign_of(name);
        return true;
    }
    list_each(&pod->spec.containers, c) {
        uint32_t which = text_find_word(c->image, desks, DESK_IMAGES);
        if (which == DESK_IMAGES)
            continue;
        out->sign = (struct sign){SIGN_IMAGE, (uint8_t)which};
        return true;
    }
    return false;
}

/* Before batch: what serves a model stays a server, even where several pods do it together. */
static bool by_serving(const struct pod_said *said, struct found *out)
{
    static const struct str components[] = {STR("predictor"), STR("inference"), STR("serving")};
    const struct said *component = &said->by[MEANS_COMPONENT], *ray = &said->by[MEANS_RAY_ORIGIN];
    *out = (struct found){WORKLOAD_INFERENCE, sign_of(&said->by[MEANS_IS_INFERENCE])};
    if (pod_says(said, MEANS_IS_INFERENCE))
        return true;
    if (pod_says(said, MEANS_COMPONENT) &&
        word_find(component->value, components, LEN(components)) < LEN(components)) {
        out->sign = sign_of(component);
        return true;
    }
    out->sign = sign_of(ray);
    return pod_says(said, MEANS_RAY_ORIGIN) && str_equal(ray->value, STR("RayService"));
}

static bool by_owner(const struct pod *pod, struct found *out)
{
    list_each(&pod->meta.owners, owner)
        for (uint32_t i = 0; owner->is_controller && i < LEN(owners); i++)
            if (str_equal(owner->kind, owners[i].kind)) {
                *out = (struct found){owners[i].workload, {SIGN_OWNER, (uint8_t)i}};
                return true;
            }
    return false;
}

/* Batch work, and the training among it. */
static bool by_operator(const struct pod *pod, const struct pod_said *said, bool is_gang,
                        int64_t accelerators, struct found *out)
{
    struct found owner = {0};
    bool has_owner = by_owner(pod, &owner);
    *out = (struct found){WORKLOAD_TRAINING, sign_of(&said->by[MEANS_IS_TRAINING])};
    if (pod_says(said, MEANS_IS_TRAINING))
        return true;
    if (has_owner && owner.workload == WORKLOAD_TRAINING) {
        *out = owner;
        return true;
    }
    bool is_batch = has_owner || pod_says(said, MEANS_IS_BATCH);
    if (is_gang || (is_batch && accelerators > 1)) {
        out->sign = (struct sign){is_gang ? SIGN_GANG : SIGN_MANY, 0};
        return true;
    }
    *out = has_owner && !pod_says(said, MEANS_IS_BATCH)
               ? owner
               : (struct found){WORKLOAD_BATCH, sign_of(&said->by[MEANS_IS_BATCH])};
    return is_batch;
}

/* --- whether it may be stopped, whose it is --- */

static uint32_t class_place(const struct pod *pod)
{
    uint32_t i = 0;
    while (i < LEN(classes) && !str_equal(pod->spec.priority_class_name, classes[i].name))
        i++;
    return i;
}

/* Somebody must say so: priority 0, which every ordinary pod has, means nothing. */
static void read_preemptible(const struct pod *pod, const struct pod_said *said,
                             struct misreads *misread, struct classified *out)
{
    const struct said *word = &said->by[MEANS_PREEMPTIBLE];
    uint32_t class = class_place(pod);
    bool is_preemptible;
    if (pod_says(said, MEANS_PREEMPTIBLE) && text_bool(word->value, &is_preemptible)) {
        out->is_preemptible = is_preemptible;
        out->preemptible_sign = sign_of(word);
        return;
    }
    if (pod_says(said, MEANS_PREEMPTIBLE))
        misread_add(misread, word);
    if (class < LEN(classes) && classes[class].is_preemptible) {
        out->is_preemptible = true;
        out->preemptible_sign = (struct sign){SIGN_CLASS, (uint8_t) class};
    } else if (pod->spec.has_priority && pod->spec.priority < 0) {
        out->is_preemptible = true;
        out->preemptible_sign = (struct sign){SIGN_PRIORITY, 0};
    }
}

static void read_tiers(const struct pod *pod, const struct pod_said *said, struct misreads *misread,
                       struct classified *out)
{
    static const struct str priority_words[] = {STR("low-priority"), STR("medium-priority"),
                                                STR("high-priority")};
    const struct said *word = &said->by[MEANS_TIER],
                      *priority_word = &said->by[MEANS_PRIORITY_TIER];
    uint32_t class = class_place(pod),
             place = word_find(priority_word->value, priority_words, LEN(priority_words));
    if (pod_says(said, MEANS_TIER) && tier_of(word->value) < N_TIERS) {
        out->own_tier = (uint8_t)tier_of(word->value);
        out->own_tier_sign = sign_of(word);
    } else if (pod_says(said, MEANS_PRIORITY_TIER) && place < LEN(priority_words)) {
        out->own_tier = (uint8_t)(TIER_BRONZE + place);
        out->own_tier_sign = sign_of(priority_word);
    }
    if (pod_says(said, MEANS_TIER) && tier_of(word->value) == N_TIERS)
        misread_add(misread, word);
    if (pod_says(said, MEANS_PRIORITY_TIER) && place == LEN(priority_words))
        misread_add(misread, priority_word);
    if (class < LEN(classes)) {
        out->class_tier = (uint8_t)classes[class].tier;
        out->class_tier_sign = (struct sign){SIGN_CLASS, (uint8_t) class};
    }
}

struct classified pod_classify(const struct pod *pod, const struct pod_said *said, bool is_gang,
                               int64_t accelerators, struct misreads *misread)
{
    struct classified out = {.is_gang = is_gang};
    struct found found;
    bool is_told = by_word(said, misread, &found) || by_desk(pod, said, &found) ||
                   by_serving(said, &found) ||
                   by_operator(pod, said, is_gang, accelerators, &found);
    if (!is_told)
        found = (struct found){.workload = WORKLOAD_SERVICE};
    out.workload = (uint8_t)found.workload;
    out.is_assumed = !is_told;
    out.workload_sign = found.sign;
    read_preemptible(pod, said, misread, &out);
    read_tiers(pod, said, misread, &out);
    return out;
}

void sign_text(struct sign sign, struct buf *out)
{
    switch ((enum sign_kind)sign.kind) {
    case SIGN_NONE:
        buf_printf(out, "nothing says otherwise");
        return;
    case SIGN_KEY:
    case SIGN_ANNOTATION:
        buf_printf(out, "%s " STR_FMT, sign.kind == SIGN_KEY ? "label" : "annotation",
                   STR_ARG(pod_keys[sign.which].text));
        return;
    case SIGN_OWNER:
        buf_printf(out, "owner " STR_FMT, STR_ARG(owners[sign.which].kind));
        return;
    case SIGN_IMAGE:
        buf_printf(out, "image " STR_FMT, STR_ARG(desks[sign.which]));
        return;
    case SIGN_GANG:
        buf_printf(out, "gang");
        return;
    case SIGN_MANY:
        buf_printf(out, "batch work with several accelerators");
        return;
    case SIGN_CLASS:
        buf_printf(out, "priority class " STR_FMT, STR_ARG(classes[sign.which].name));
        return;
    case SIGN_PRIORITY:
        buf_printf(out, "priority below zero");
        return;
    }
}
