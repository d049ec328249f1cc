#include "core/framework/class.h"

#include "fakes.h"
#include "support/judge.h"
#include "support/test.h"

/* --- plugins that say one thing --- */

static void refuse(struct learning *l, void *cls)
{
    (void)cls;
    l->refusal = learning_reason(l, l->args ? CODE_UNRESOLVABLE : CODE_UNSCHEDULABLE, "no");
}

/* Only the nodes of `args`, a string of one-letter names. */
static void restrict_nodes(struct learning *l, void *cls)
{
    (void)cls;
    const char *names = l->args;
    sym *only = arena_array(l->mem, sym, strlen(names) + 1);
    for (; names[l->n_only]; l->n_only++)
        only[l->n_only] = names_get(&l->cluster->names, (struct str){names + l->n_only, 1});
    l->only = only;
}

static void fail(struct learning *l, void *cls)
{
    (void)cls;
    l->error = str_of(l->args);
    l->score_error = str_of(l->args);
}

static void look_away(struct learning *l, void *cls)
{
    (void)l, (void)cls;
}

static void sign_services(struct cluster *c, const struct shape *shape, const void *args,
                          struct match_words *out)
{
    (void)args;
    vec_push(out, workloads_selector(&c->workloads, &c->names, &c->matches, shape));
}

static uint32_t forgotten;

static void forget(struct cluster *c, void *cls)
{
    (void)c, (void)cls;
    forgotten++;
}

static void take_part(struct learning *l, void *cls)
{
    (void)cls;
    l->filters = true;
}

static const struct plugin fake_refuse = {.name = "Refuse", .learn = refuse};
static const struct plugin fake_only = {.name = "Only", .learn = restrict_nodes};
static const struct plugin fake_other = {.name = "Also", .learn = restrict_nodes};
static const struct plugin fake_fail = {.name = "Fail", .learn = fail};
static const struct plugin fake_idle = {.name = "Idle", .learn = look_away};
static const struct plugin fake_queue = {.name = "Queue"}; /* nothing to do with nodes */
static const struct plugin fake_services = {
    .name = "Services", .learn = take_part, .sign = sign_services, .forget = forget};

/* A profile of up to four plugins, numbered from 10. */
struct made {
    struct profile_plugin plugins[4];
    struct profile profile;
};

static struct profile *make(struct made *m, uint32_t n, const struct plugin *const *plugins,
                            const void *const *args)
{
    for (uint32_t i = 0; i < n; i++)
        m->plugins[i] = (struct profile_plugin){
            .plugin = plugins[i], .number = 10 + i, .weight = 1, .args = args ? args[i] : NULL};
    m->profile = (struct profile){STR("default-scheduler"), m->plugins, n};
    return &m->profile;
}

#define PROFILE(m, args, ...)                                                                      \
    make((m), LEN(((const struct plugin *const[]){__VA_ARGS__})),                                  \
         (const struct plugin *const[]){__VA_ARGS__}, (args))

/* --- which pods are one --- */

TEST(class, pods_of_one_spec_are_one_class)
{
    AUTO(judge) j = {.profile = &fake_profile};
    ground_add(&j.ground, "pod a cpu=1 label:x=1");
    ground_add(&j.ground, "pod b cpu=1 label:x=2");
    ground_add(&j.ground, "pod c cpu=2");
    ground_add(&j.ground, "pod d cpu=1 priority=5");
    EXPECT(judge_class(&j, "a") == judge_class(&j, "b")); /* nobody here reads labels */
    EXPECT(judge_class(&j, "a") != judge_class(&j, "c"));
    EXPECT(judge_class(&j, "a") != judge_class(&j, "d"));
    EXPECT_INT(classes_count(&j.classes), 3);
}

TEST(class, a_pod_that_no_profile_serves_has_none)
{
    AUTO(judge) j = {.profile = &fake_profile};
    ground_add(&j.ground, "pod a scheduler=somebody-else");
    EXPECT(judge_class(&j, "a") == NULL);
    EXPECT(classes_profile(&j.classes, STR("default-scheduler")) == &fake_profile);
    EXPECT(classes_profile(&j.classes, STR("default")) == NULL);
}

TEST(class, what_a_plugin_can_tell_apart_splits_classes_by_itself)
{
    struct made m;
    AUTO(judge) j = {.profile = PROFILE(&m, NULL, &fake_services)};
    ground_add(&j.ground, "pod a label:app=web");
    ground_add(&j.ground, "pod b label:app=db");
    const struct class *before = judge_class(&j, "a");
    EXPECT(judge_class(&j, "b") == before);
    ground_add(&j.ground, "service web app=web");
    EXPECT(judge_class(&j, "a") != before);
    EXPECT(judge_class(&j, "b") == before);
}

TEST(class, a_sweep_forgets_classes_whose_pods_are_gone)
{
    struct made m;
    AUTO(judge) j = {.profile = PROFILE(&m, NULL, &fake_services)};
    forgotten = 0;
    ground_add(&j.ground, "pod kept cpu=9");
    struct class *kept = judge_class(&j, "kept");
    for (int i = 2; i < 2002; i++) {
        ground_add(&j.ground, "pod p cpu=%dm", i);
        judge_class(&j, "p");
        pods_remove(&j.ground.cluster->pods, ground_pod(&j.ground, "p"));
    }
    EXPECT_INT(classes_count(&j.classes), 2001);
    classes_tidy(&j.classes, TIDY_IF_WANTED);
    cluster_tidy(j.ground.cluster, TIDY_IF_WANTED);
    EXPECT_INT(classes_count(&j.classes), 1);
    EXPECT_INT(forgotten, 2000);
    EXPECT(judge_class(&j, "kept") == kept);
    ground_add(&j.ground, "pod p cpu=7m"); /* under a number that meant something else */
    EXPECT_INT(specs_at(&j.ground.cluster->specs, judge_class(&j, "p")->spec)->ask.cpu_milli, 7);
}

/* --- what plugins learn --- */

TEST(class, only_plugins_that_filter_or_score_are_parts_in_the_profiles_order)
{
    struct made m;
    AUTO(judge) j = {.profile = PROFILE(&m, NULL, &fake_queue, &fake_zone, &fake_idle, &fake_room)};
    ground_add(&j.ground, "pod a cpu=1");
    const struct class *class = judge_class(&j, "a");
    EXPECT_INT(class->n_parts, 2);
    EXPECT(class->parts[0].plugin == &fake_zone && class->parts[1].plugin == &fake_room);
    EXPECT_INT(class->parts[0].number, 11);
    EXPECT_INT(class->n_keys, 1);
    EXPECT_INT(class->row_columns, COLUMN_ALLOC | COLUMN_USED);
    EXPECT_INT(class->key_columns, COLUMN_LABELS);
    EXPECT(class->has_key_filter);
}

TEST(class, an_unresolvable_refusal_is_final_and_of_others_the_last_counts)
{
    static const struct {
        const void *args[3]; /* not NULL: unresolvable */
        uint32_t by;
        enum code code;
    } cases[] = {
        {{NULL, NULL, NULL}, 12, CODE_UNSCHEDULABLE},
        {{NULL, "UU", NULL}, 11, CODE_UNRESOLVABLE},
        {{"UU", "UU", NULL}, 10, CODE_UNRESOLVABLE},
        {{NULL, NULL, "UU"}, 12, CODE_UNRESOLVABLE},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%zu", i);
        struct made m;
        AUTO(judge)
        j = {.profile = PROFILE(&m, cases[i].args, &fake_refuse, &fake_refuse, &fake_refuse)};
        ground_add(&j.ground, "pod a");
        const struct class *class = judge_class(&j, "a");
        EXPECT_INT(class->refused_by, (uint64_t)1 << cases[i].by);
        EXPECT_INT(reasons_at(&j.classes.reasons, class->refusal)->code, cases[i].code);
    }
}

TEST(class, plugins_that_name_nodes_leave_those_that_all_name)
{
    static const struct {
        const char *one, *other;
        const char *of_a; /* what a pod is told of node a */
    } cases[] = {
        {"ab", "ac", "fits"},
        {"b", "bc", "UU -: node(s) didn't satisfy plugin(s) [Also Only]"},
        {"ab", "c", "refused: UU -: node(s) didn't satisfy plugin(s) [Also Only] simultaneously"},
        {"", "a", "refused: UU -: node(s) didn't satisfy plugin Only"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s / %s", cases[i].one, cases[i].other);
        struct made m;
        const void *args[] = {cases[i].one, cases[i].other};
        AUTO(judge) j = {.profile = PROFILE(&m, args, &fake_only, &fake_other)};
        ground_add(&j.ground, "node a");
        ground_add(&j.ground, "node b");
        ground_add(&j.ground, "pod p");
        EXPECT_TEXT(judge_verdict(&j, "p", "a"), cases[i].of_a);
    }
}

TEST(class, the_first_error_is_told)
{
    struct made m;
    const void *args[] = {"first", "second"};
    AUTO(judge) j = {.profile = PROFILE(&m, args, &fake_fail, &fake_fail)};
    ground_add(&j.ground, "pod a");
    EXPECT_STR(judge_class(&j, "a")->error, "first");
    EXPECT_STR(judge_class(&j, "a")->score_error, "first");
}

TEST(class, normalising_makes_the_most_100)
{
    static const struct {
        int64_t raw[3], plain[3], reversed[3];
    } cases[] = {
        {{0, 0, 0}, {0, 0, 0}, {100, 100, 100}},    {{1, 2, 3}, {33, 66, 100}, {67, 34, 0}},
        {{0, 50, 100}, {0, 50, 100}, {100, 50, 0}}, {{0, 0, 7}, {0, 0, 100}, {100, 100, 0}},
        {{200, 1, 0}, {100, 0, 0}, {0, 100, 100}},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%zu", i);
        int64_t normal[3];
        normalise(cases[i].raw, normal, 3, false);
        for (int k = 0; k < 3; k++)
            EXPECT_INT(normal[k], cases[i].plain[k]);
        normalise(cases[i].raw, normal, 3, true);
        for (int k = 0; k < 3; k++)
            EXPECT_INT(normal[k], cases[i].reversed[k]);
    }
}
