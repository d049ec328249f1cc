#include "core/engine/step/step.h"

#include "core/fair/fair.h"
#include "support/stage.h"
#include "support/test.h"

#include <stdio.h>

/* What queues do when what they rest on changes (2.7 of the contract), and limits of other kinds. */

#define OURS "scheduler=kubenexus-scheduler"
#define IN   "label:scheduling.kubenexus.io/queue="
#define GPU  "nvidia.com/gpu"

static void queue(struct stage *s, const char *name, const char *spec)
{
    stage_put(s,
              "{'apiVersion':'scheduling.kubenexus.io/v1alpha1','kind':'Queue','metadata':{'name':"
              "'%s'},'spec':{'namespaces':{'selector':{}}%s%s}}",
              name, *spec ? "," : "", spec);
}

static void drop_queue(struct stage *s, const char *name)
{
    stage_remove(s,
                 "{'apiVersion':'scheduling.kubenexus.io/v1alpha1','kind':'Queue','metadata':{"
                 "'name':'%s'},'spec':{}}",
                 name);
}

static void run(struct stage *s)
{
    stage_run(s);
    if (s->engine->shares->tree)
        fair_check(s->engine->shares->tree);
}

static int64_t used(struct stage *s, const char *queue, const char *resource)
{
    struct fair *tree = s->engine->shares->tree;
    uint32_t number = fair_find(tree, str_of(queue));
    return number == FAIR_NONE ? -1
                               : fair_used(tree, number, fair_resource(tree, str_of(resource)));
}

static struct str told(struct stage *s, const char *pod)
{
    const struct effect *e = stage_effect(s, pod);
    return e ? e->message : (struct str){0};
}

TEST(fair_changes, a_queue_that_is_deleted_counts_on_and_starts_nothing)
{
    AUTO(stage) s = {0};
    queue(&s, "a", "'guaranteed':{'" GPU "':'4'}");
    queue(&s, "b", "");
    stage_put(&s, "node n gpu=8");
    stage_put(&s, "pod runs gpu=2 " IN "a " OURS);
    run(&s);
    stage_put(&s, "pod runs gpu=2 on=n " IN "a " OURS);
    drop_queue(&s, "a");
    stage_put(&s, "pod waits gpu=2 " IN "a " OURS);
    run(&s);
    EXPECT_INT(used(&s, "a", GPU), 2000);
    EXPECT_STR(told(&s, "waits"), "queue a does not exist");
    EXPECT_TEXT(stage_fate(&s, "waits"), "parked");

    queue(&s, "a", ""); /* again: as before */
    run(&s);
    EXPECT_TEXT(stage_fate(&s, "waits"), "assumed on n");
    EXPECT_INT(used(&s, "a", GPU), 4000);
}

TEST(fair_changes, queues_that_only_pods_named_are_forgotten_with_them)
{
    AUTO(stage) s = {0};
    queue(&s, "a", "'split':{'by':'Label','label':'who'}");
    stage_put(&s, "node n gpu=8");
    stage_put(&s, "pod stays gpu=1 " IN "nowhere " OURS);
    for (uint32_t i = 0; i < 450; i++) {
        stage_put(&s, "pod stray gpu=1 " IN "q%u " OURS, i);
        stage_put(&s, "pod part gpu=1 label:who=u%u " IN "a " OURS, i);
        run(&s);
        stage_remove(&s, "pod stray gpu=1");
        stage_remove(&s, "pod part gpu=1");
    }
    run(&s);
    EXPECT(fair_n_queues(s.engine->shares->tree) < 200);
    EXPECT_INT(used(&s, "a", GPU), 0);
    queue(&s, "nowhere", "");
    run(&s);
    EXPECT_TEXT(stage_fate(&s, "stays"), "assumed on n");
    EXPECT_INT(used(&s, "nowhere", GPU), 1000);
}

TEST(fair_changes, without_its_parent_a_queue_is_held)
{
    AUTO(stage) s = {0};
    queue(&s, "a", "'parent':'top'");
    stage_put(&s, "node n gpu=8");
    stage_put(&s, "pod p gpu=2 " IN "a " OURS);
    run(&s);
    EXPECT_STR(told(&s, "p"), "queue a is not active: parent top does not exist");
    queue(&s, "top", "");
    run(&s);
    EXPECT_TEXT(stage_fate(&s, "p"), "assumed on n");
}

TEST(fair_changes, queues_in_a_circle_are_held_and_name_it)
{
    AUTO(stage) s = {0};
    queue(&s, "a", "'parent':'b'");
    queue(&s, "b", "'parent':'a'");
    queue(&s, "c", "'parent':'a'");
    queue(&s, "d", "");
    stage_put(&s, "node n gpu=8");
    stage_put(&s, "pod c-0 gpu=2 " IN "c " OURS);
    stage_put(&s, "pod d-0 gpu=2 " IN "d " OURS);
    run(&s);
    EXPECT_STR(told(&s, "c-0"), "queue c is not active: a -> b -> a");
    EXPECT_TEXT(stage_fate(&s, "d-0"), "assumed on n");
    queue(&s, "a", "");
    run(&s);
    EXPECT_TEXT(stage_fate(&s, "c-0"), "assumed on n");
}

TEST(fair_changes, a_leaf_that_gets_a_child_takes_nobody_more)
{
    AUTO(stage) s = {0};
    queue(&s, "a", "");
    stage_put(&s, "node n gpu=8");
    stage_put(&s, "pod runs gpu=2 " IN "a " OURS);
    run(&s);
    queue(&s, "below", "'parent':'a'");
    stage_put(&s, "pod waits gpu=2 " IN "a " OURS);
    run(&s);
    EXPECT_STR(told(&s, "waits"), "queue a has children: name one of its leaves");
    EXPECT_INT(used(&s, "a", GPU), 2000);
}

TEST(fair_changes, a_lower_max_evicts_nobody_and_starts_nothing)
{
    AUTO(stage) s = {0};
    queue(&s, "a", "'max':{'" GPU "':'6'}");
    stage_put(&s, "node n gpu=8");
    stage_put(&s, "pod a-0 gpu=4 " IN "a " OURS);
    run(&s);
    queue(&s, "a", "'max':{'" GPU "':'2'}");
    stage_put(&s, "pod a-1 gpu=1 " IN "a " OURS);
    run(&s);
    EXPECT_STR(told(&s, "a-1"), "queue a may use 2 nvidia.com/gpu: 4 used, 1 wanted");
    EXPECT_INT(used(&s, "a", GPU), 4000);
    queue(&s, "a", "'max':{'" GPU "':'5'}");
    run(&s);
    EXPECT_TEXT(stage_fate(&s, "a-1"), "assumed on n");
}

TEST(fair_changes, nodes_that_come_and_go_change_what_is_backed)
{
    AUTO(stage) s = {0};
    queue(&s, "a", "'guaranteed':{'" GPU "':'8'},'lend':{'" GPU "':'0'}");
    queue(&s, "b", "");
    stage_put(&s, "node n gpu=8");
    stage_put(&s, "pod b-0 gpu=1 " IN "b " OURS);
    run(&s);
    EXPECT_STR(told(&s, "b-0"), "8 nvidia.com/gpu are kept for queue a, which lends 0 of 8");
    stage_put(&s, "node m gpu=1");
    run(&s);
    EXPECT_INT(used(&s, "b", GPU), 1000);
    struct fair *tree = s.engine->shares->tree;
    stage_remove(&s, "node n");
    run(&s);
    EXPECT_INT(fair_effective(tree, fair_find(tree, STR("a")), fair_resource(tree, STR(GPU))),
               1000);
}

TEST(fair_changes, a_namespace_may_limit_all_its_pods)
{
    AUTO(stage) s = {0};
    queue(&s, "a", "");
    stage_put(&s,
              "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'default','annotations':{"
              "'scheduling.kubenexus.io/max':'{\\\"nvidia.com/gpu\\\": \\\"2\\\"}'}}}");
    stage_put(&s, "node n gpu=8");
    stage_put(&s, "pod p gpu=2 created=1 " IN "a " OURS);
    stage_put(&s, "pod q gpu=1 created=2 " OURS); /* of another queue */
    run(&s);
    EXPECT_TEXT(stage_fate(&s, "p"), "assumed on n");
    EXPECT_STR(told(&s, "q"), "namespace default has 2 of 2 nvidia.com/gpu");
    stage_put(&s, "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'default'}}");
    run(&s);
    EXPECT_TEXT(stage_fate(&s, "q"), "assumed on n");
}

static void limit_default(struct stage *s, const char *gpus)
{
    stage_put(s,
              "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'default','annotations':{"
              "'scheduling.kubenexus.io/max':'{\\\"nvidia.com/gpu\\\": \\\"%s\\\"}'}}}",
              gpus);
}

/* The tree stays the one that it is, and nobody enters its queue anew. */
TEST(fair_changes, a_namespaces_max_changes_in_the_tree_that_is_there)
{
    AUTO(stage) s = {0};
    queue(&s, "a", "");
    stage_put(&s, "node n gpu=8");
    stage_put(&s, "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'default'}}");
    stage_put(&s, "pod p gpu=2 created=1 " IN "a " OURS);
    run(&s);
    const struct shares *is = s.engine->shares;
    const struct fair *tree = is->tree;
    limit_default(&s, "2"); /* p counts, which was there before */
    stage_put(&s, "pod q gpu=1 created=2 " IN "a " OURS);
    EXPECT(!is->must_begin && !is->is_stale);
    run(&s);
    EXPECT_STR(told(&s, "q"), "namespace default has 2 of 2 nvidia.com/gpu");
    limit_default(&s, "3");
    EXPECT(!is->must_begin && !is->is_stale);
    run(&s);
    EXPECT_TEXT(stage_fate(&s, "q"), "assumed on n");
    stage_put(&s, "pod r gpu=1 created=3 " IN "a " OURS);
    run(&s);
    EXPECT_STR(told(&s, "r"), "namespace default has 3 of 3 nvidia.com/gpu");
    stage_put(&s, "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'default'}}");
    EXPECT(!is->must_begin && !is->is_stale);
    run(&s);
    EXPECT_TEXT(stage_fate(&s, "r"), "assumed on n");
    limit_default(&s, "4"); /* all three were counted meanwhile */
    stage_put(&s, "pod t gpu=1 created=4 " IN "a " OURS);
    run(&s);
    EXPECT_STR(told(&s, "t"), "namespace default has 4 of 4 nvidia.com/gpu");
    EXPECT(is->tree == tree && is->limited.n == 1);
}

static uint32_t n_resources(struct stage *s)
{
    return fair_n_resources(s->engine->shares->tree);
}

/* Each number costs every queue, and to invent a name of a resource costs nothing. */
TEST(fair_changes, what_pods_and_namespaces_name_makes_no_numbers)
{
    AUTO(stage) s = {0};
    queue(&s, "a", "'max':{'cpu':'64'}");
    stage_put(&s, "node n cpu=8 x.io/there=8");
    stage_put(&s, "pod p cpu=1 " IN "a " OURS);
    run(&s);
    uint32_t were = n_resources(&s), kept = 0;
    for (uint32_t i = 0; i < 20; i++)
        stage_put(&s, "pod p-%u cpu=1 x.io/r%u=1 " IN "a " OURS, i, i);
    stage_put(&s, "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'default','annotations'"
                  ":{'scheduling.kubenexus.io/max':'{\\\"x.io/r20\\\": \\\"1\\\"}'}}}");
    run(&s);
    EXPECT_INT(n_resources(&s), were);
    stage_put(&s, "pod g gpu=1 " IN "a " OURS); /* which all know, and no node has */
    vec_each(&s.engine->cluster->specs.resources.are_kept, is)
        kept += *is;
    EXPECT(kept <= 8);
    stage_put(&s, "pod q x.io/r20=2 created=1 " IN "a " OURS);
    stage_put(&s, "node m cpu=8 x.io/r7=1 x.io/r20=4"); /* now they are there */
    run(&s);
    EXPECT_TEXT(stage_fate(&s, "p-7"), "assumed on m");
    EXPECT_INT(used(&s, "a", "x.io/r7"), 1);
    EXPECT_STR(told(&s, "q"), "namespace default has 0 of 1 x.io/r20");
    stage_remove(&s, "pod p-7");
    run(&s);
    EXPECT_INT(used(&s, "a", "x.io/r7"), 0);
}

TEST(fair_changes, a_cluster_has_so_many_kinds)
{
    AUTO(stage) s = {0};
    for (uint32_t i = 0; i < 66; i++) {
        char name[16], spec[60];
        snprintf(name, sizeof(name), "q%02u", i);
        snprintf(spec, sizeof(spec), "'max':{'cpu@disk=v%u':'1','cpu':'8'}", i);
        queue(&s, name, spec);
    }
    stage_put(&s, "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'other','annotations':"
                  "{'scheduling.kubenexus.io/max':'{\\\"cpu@disk=w\\\": \\\"1\\\"}'}}}");
    stage_put(&s, "node n cpu=8");
    stage_put(&s, "pod p cpu=1 " IN "q63 " OURS);
    stage_put(&s, "pod q cpu=1 " IN "q64 " OURS);
    stage_put(&s, "pod r cpu=1 namespace=other " IN "q01 " OURS);
    run(&s);
    EXPECT_INT(s.engine->shares->kinds.n, 64);
    EXPECT_TEXT(stage_fate(&s, "p"), "assumed on n");
    EXPECT_STR(told(&s, "q"),
               "queue q64 is not active: a cluster has at most 64 kinds of resources");
    EXPECT_STR(told(&s, "r"), "namespace other has 0 of 0 pods");
}

TEST(fair_changes, what_is_longer_than_a_name_names_no_queue)
{
    AUTO(stage) s = {0};
    char longest[255] = {0};
    memset(longest, 'q', 253);
    queue(&s, "a", "");
    stage_put(&s, "node n cpu=8");
    stage_put(&s, "pod p cpu=1 note:scheduling.kubenexus.io/queue=%s " OURS, longest);
    stage_put(&s, "pod r cpu=1 note:scheduling.kubenexus.io/queue=%sq " OURS, longest);
    run(&s);
    struct fair *tree = s.engine->shares->tree;
    EXPECT(fair_find(tree, str_of(longest)) != FAIR_NONE);
    EXPECT_TEXT(stage_fate(&s, "p"), "parked");
    EXPECT_TEXT(stage_fate(&s, "r"), "assumed on n");
    EXPECT_INT(used(&s, "a", "cpu"), 1000);
}

TEST(fair_changes, a_unit_that_keeps_its_number_stays_where_it_is)
{
    AUTO(stage) s = {0};
    queue(&s, "a", "'maxJobs':0");
    stage_put(&s, "node n cpu=8");
    stage_put(&s, "pod p cpu=1 " IN "a " OURS);
    run(&s);
    uint32_t unit = engine_waiting_unit(s.engine, STR("default"), STR("p"));
    REQUIRE(unit != ID_NONE);
    engine_rename_in_queue(s.engine, unit, unit);
    EXPECT(engine_is_queued(s.engine, unit));
}

TEST(fair_changes, what_a_tree_leaves_behind_is_no_more_each_time)
{
    AUTO(stage) s = {0};
    queue(&s, "a", "'budgets':[{'resource':'nvidia.com/gpu','window':'Day','hours':8}]");
    stage_put(&s, "node n gpu=8");
    run(&s);
    struct engine_rules rules = s.engine->config.rules;
    engine_configure(s.engine, s.engine->now_ms, &rules);
    const struct team *team = engine_team(s.engine, STR("a"));
    size_t bytes = team->mem.used_bytes, past = team->past_mem.used_bytes;
    for (uint32_t i = 0; i < 10; i++)
        engine_configure(s.engine, s.engine->now_ms, &rules);
    EXPECT_INT(team->mem.used_bytes, bytes);
    EXPECT(past && team->past_mem.used_bytes == past);
}

TEST(fair_changes, a_limit_by_kind_holds_for_those_who_can_have_no_other)
{
    AUTO(stage) s = {0};
    queue(&s, "a", "'max':{'cpu@disk=ssd':'2'}");
    stage_put(&s, "node fast cpu=8 label:disk=ssd");
    stage_put(&s, "node slow cpu=8 label:disk=hdd");
    stage_put(&s, "pod p cpu=2 created=1 select:disk=ssd " IN "a " OURS);
    stage_put(&s, "pod q cpu=1 created=2 select:disk=ssd " IN "a " OURS);
    stage_put(&s, "pod r cpu=1 created=3 select:disk=hdd " IN "a " OURS);
    run(&s);
    EXPECT_TEXT(stage_fate(&s, "p"), "assumed on fast");
    EXPECT_STR(told(&s, "q"), "queue a may use 2 cpu@disk=ssd: 2 used, 1 wanted");
    EXPECT_TEXT(stage_fate(&s, "r"), "assumed on slow");
    EXPECT_INT(used(&s, "a", "cpu@disk=ssd"), 2000);
    stage_put(&s,
              "pod any cpu=7 created=4 " IN "a " OURS); /* there is room there, but for its queue */
    run(&s);
    EXPECT_TEXT(stage_fate(&s, "any"), "assumed on slow");
    stage_put(&s, "pod more cpu=1 created=5 " IN "a " OURS);
    run(&s);
    EXPECT_STR(told(&s, "more"), "queue a may use 2 cpu@disk=ssd: 2 used, 1 wanted");
    EXPECT_INT(used(&s, "a", "cpu@disk=ssd"), 2000);
    stage_put(&s, "node fast cpu=8 label:disk=hdd"); /* it is another kind now */
    run(&s);
    EXPECT_INT(used(&s, "a", "cpu@disk=ssd"), 0);
}

static void others_queue(struct stage *s, const char *more)
{
    stage_put(s,
              "{'apiVersion':'scheduling.kubenexus.io/v1alpha1','kind':'Queue','metadata':{'name':"
              "'others'},'spec':{'namespaces':{'names':['other']}%s}}",
              more);
}

TEST(fair_changes, a_namespace_that_changes_is_looked_up_anew_alone)
{
    AUTO(stage) s = {0};
    others_queue(&s, "");
    stage_put(&s, "node n gpu=8");
    stage_put(&s, "pod p gpu=1 namespace=other " OURS);
    stage_put(&s, "pod q gpu=1 " OURS);
    run(&s);
    stage_put(&s, "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'other','labels':{"
                  "'a':'b'}}}");
    const struct names *names = &s.engine->cluster->names;
    const struct map *known = &s.engine->shares->namespaces;
    EXPECT(map_find(known, names_find(names, STR("default"))) != MAP_NONE);
    EXPECT(map_find(known, names_find(names, STR("other"))) == MAP_NONE);
}

TEST(fair_changes, a_pod_that_came_to_a_node_by_itself_burdens_no_queue_that_does_not_take_it)
{
    AUTO(stage) s = {0};
    others_queue(&s, ",'guaranteed':{'nvidia.com/gpu':'4'}");
    stage_put(&s, "node n gpu=8");
    stage_put(&s, "pod bold gpu=2 on=n " IN "others " OURS);
    stage_put(&s, "pod liar gpu=2 on=n note:scheduling.kubenexus.io/charged-to=others " OURS);
    stage_put(&s, "pod own gpu=1 on=n namespace=other " IN "others " OURS);
    run(&s);
    EXPECT_INT(used(&s, "others", GPU), 1000);
    EXPECT_INT(used(&s, "default", GPU), 4000);
}

TEST(fair_changes, who_may_not_use_a_queue_makes_no_parts_in_it)
{
    AUTO(stage) s = {0};
    others_queue(&s, ",'split':{'by':'Label','label':'who'}");
    stage_put(&s, "node n gpu=8");
    for (uint32_t i = 0; i < 20; i++)
        stage_put(&s, "pod p%u gpu=1 label:who=u%u " IN "others " OURS, i, i);
    stage_put(&s, "pod own gpu=1 namespace=other label:who=ann " IN "others " OURS);
    run(&s);
    uint32_t n;
    struct fair *tree = s.engine->shares->tree;
    fair_children(tree, fair_find(tree, STR("others")), &n);
    EXPECT_INT(n, 1);
    EXPECT_STR(told(&s, "p3"), "queue others does not take namespace default");
    EXPECT_INT(used(&s, "others", GPU), 1000);
}

TEST(fair_changes, amounts_that_no_integer_holds_are_refused)
{
    AUTO(stage) s = {0};
    queue(&s, "a", "'max':{'" GPU "':'4'}");
    stage_put(&s, "node n gpu=8");
    for (uint32_t i = 0; i < 2; i++) {
        stage_put(&s, "pod m%u memory=5000000000000000000 gang=m:2 " IN "a " OURS, i);
        stage_put(&s, "pod g%u gpu=9000000000000000000 gang=g:2 " IN "a " OURS, i);
    }
    stage_put(&s, "pod one gpu=1 " IN "a " OURS);
    run(&s);
    EXPECT_TEXT(stage_fate(&s, "m0"), "parked");
    EXPECT_TEXT(stage_fate(&s, "g0"), "parked");
    EXPECT_TEXT(stage_fate(&s, "one"), "assumed on n");
}

TEST(fair_changes, a_pod_that_names_its_node_speaks_for_none_that_names_another)
{
    AUTO(stage) s = {0};
    queue(&s, "a", "");
    stage_put(&s, "node n cpu=8");
    stage_put(&s, "node m cpu=8");
    stage_put(&s, "pod on-n cpu=8 on=n " OURS);
    stage_put(&s, "pod on-m cpu=8 on=m " OURS);
    stage_put(&s, "pod d1 cpu=4 created=1 require:@metadata.name:In:n " IN "a " OURS);
    stage_put(&s, "pod d2 cpu=4 created=2 require:@metadata.name:In:m " IN "a " OURS);
    for (uint32_t i = 0; i < 300; i++)
        stage_put(&s, "pod many%u cpu=9 created=3 " IN "a " OURS, i);
    run(&s);
    stage_remove(&s, "pod on-m");
    run(&s);
    EXPECT_TEXT(stage_fate(&s, "d1"), "parked");
    EXPECT_TEXT(stage_fate(&s, "d2"), "assumed on m");
}

TEST(fair_changes, the_same_objects_give_the_same_order_after_a_restart)
{
    AUTO(stage) a = {0};
    AUTO(stage) b = {0};
    struct stage *both[] = {&a, &b};
    for (uint32_t i = 0; i < 2; i++) {
        struct stage *s = both[i];
        queue(s, i ? "y" : "x", "");
        queue(s, i ? "x" : "y", "");
        stage_put(s, "node n gpu=3");
        for (uint32_t p = 0; p < 4; p++)
            stage_put(s, "pod p%u gpu=1 created=%u " IN "%s " OURS, i ? 3 - p : p, i ? 3 - p : p,
                      (i ? 3 - p : p) < 2 ? "x" : "y");
        run(s);
    }
    EXPECT_INT(a.effects.turns.n, 3);
    for (uint32_t i = 0; i < 3; i++)
        EXPECT_STR(a.effects.turns.at[i].unit,
                   arena_printf(&a.config_mem, STR_FMT, STR_ARG(b.effects.turns.at[i].unit)).p);
}

TEST(fair_changes, room_that_is_held_is_charged_to_those_for_whom_it_is)
{
    AUTO(stage) s = {0};
    stage_put(&s,
              "{'apiVersion':'scheduling.kubenexus.io/v1alpha1','kind':'Queue','metadata':{'name':"
              "'team'},'spec':{'namespaces':{'names':['default']},'max':{'nvidia.com/gpu':'4'}}}");
    stage_put(&s, "node n gpu=8");
    stage_put(&s, "{'kind':'ResourceReservation','apiVersion':'scheduling.kubenexus.io/v1alpha1',"
                  "'metadata':{'name':'r','namespace':'default','creationTimestamp':"
                  "'1970-01-01T00:00:00Z'},'spec':{'podGroupName':'g','duration':'10m',"
                  "'resources':{'nvidia.com/gpu':'3'}}}");
    run(&s);
    EXPECT_INT(used(&s, "team", GPU), 3000);
    stage_put(&s, "pod p gpu=2 " OURS);
    run(&s);
    EXPECT_STR(told(&s, "p"), "queue team may use 4 nvidia.com/gpu: 3 used, 2 wanted");
    stage_remove(&s,
                 "{'apiVersion':'scheduling.kubenexus.io/v1alpha1','kind':'ResourceReservation',"
                 "'metadata':{'name':'r','namespace':'default'},'spec':{}}");
    run(&s);
    EXPECT_TEXT(stage_fate(&s, "p"), "assumed on n");
}
