#include <stdio.h>

#include "core/engine/step/step.h"
#include "support/stage.h"
#include "support/test.h"

static const struct cluster *cluster(const struct stage *s)
{
    return s->engine->cluster;
}

static const struct room *room(const struct stage *s, const char *node)
{
    const struct cluster *c = cluster(s);
    return &c->nodes.room[nodes_find(&c->nodes, names_find(&c->names, str_of(node))).i];
}

TEST(apply, a_heartbeat_writes_nothing_and_wakes_nobody)
{
    static const char node[] =
        "node n1 cpu=2 memory=4Gi gpu=1 zone=a label:x=y taint:a=b:PreferNoSchedule image:i:1=5Mi";
    AUTO(stage) s = {0};
    stage_put(&s, "%s", node);
    stage_put(&s, "pod running cpu=1 label:app=web port:80 on=n1");
    stage_put(&s, "pod waits cpu=5");
    stage_run(&s);
    uint64_t log = cluster(&s)->log.end;
    s.now_ms = 60000;
    for (int i = 0; i < 3; i++) {
        stage_put(&s, "%s", node);
        stage_put(&s, "pod running cpu=1 label:app=web port:80 on=n1 phase=Running");
        stage_put(&s, "pod waits cpu=5");
    }
    EXPECT_INT(cluster(&s)->log.end, log);
    EXPECT_TEXT(stage_fate(&s, "waits"), "parked");
}

TEST(apply, pods_of_other_schedulers_count_where_they_run_and_never_queue)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=2 memory=4Gi");
    stage_put(&s, "pod foreign cpu=1 scheduler=someone");
    EXPECT_TEXT(stage_fate(&s, "foreign"), "nowhere");
    EXPECT_INT(stage_run(&s), 0);
    stage_put(&s, "pod foreign cpu=1 scheduler=someone on=n1");
    EXPECT_INT(room(&s, "n1")->cpu_used, 1000);
    stage_put(&s, "pod a cpu=2");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "a"), "parked");
}

TEST(apply, a_waiting_pod_bound_by_someone_else_leaves_the_queue)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=2 memory=4Gi");
    stage_put(&s, "pod a cpu=1");
    stage_put(&s, "pod a cpu=1 on=n1");
    EXPECT_TEXT(stage_fate(&s, "a"), "bound to n1");
    EXPECT_INT(stage_run(&s), 0);
    EXPECT_INT(room(&s, "n1")->cpu_used, 1000);
}

TEST(apply, a_pod_bound_elsewhere_than_we_thought_is_there)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=4 memory=4Gi");
    stage_put(&s, "pod a cpu=1");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "a"), "assumed on n1");
    stage_put(&s, "node n2 cpu=4 memory=4Gi");
    stage_put(&s, "pod a cpu=1 on=n2");
    EXPECT_TEXT(stage_fate(&s, "a"), "bound to n2");
    EXPECT_INT(room(&s, "n1")->cpu_used, 0);
    EXPECT_INT(room(&s, "n2")->cpu_used, 1000);
}

TEST(apply, the_same_name_with_another_uid_is_another_pod)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=4 memory=4Gi");
    stage_put(&s, "pod a cpu=1 uid=first");
    stage_run(&s);
    s.now_ms = 500;
    stage_put(&s, "pod a cpu=2 uid=second");
    EXPECT_TEXT(stage_fate(&s, "a"), "active");
    EXPECT_INT(room(&s, "n1")->cpu_used, 0);
    s.now_ms = 700;
    stage_run(&s);
    EXPECT_STR(stage_effect(&s, "a")->uid, "second");
    EXPECT_INT(stage_effect(&s, "a")->waited_ms, 200);
    EXPECT_INT(stage_effect(&s, "a")->attempt, 1);
    EXPECT_INT(room(&s, "n1")->cpu_used, 2000);
    EXPECT_INT(cluster(&s)->pods.n, 1);
}

TEST(apply, a_finished_pod_is_gone)
{
    static const char *const phases[] = {"Succeeded", "Failed"};
    for (size_t i = 0; i < LEN(phases); i++) {
        AUTO(stage) s = {0};
        stage_put(&s, "node n1 cpu=4 memory=4Gi");
        stage_put(&s, "pod a cpu=1 on=n1");
        stage_put(&s, "pod a cpu=1 on=n1 phase=%s", phases[i]);
        EXPECT_TEXT(stage_fate(&s, "a"), "unknown");
        EXPECT_INT(room(&s, "n1")->cpu_used, 0);
        stage_put(&s, "pod b cpu=1 on=n1 phase=%s", phases[i]); /* never seen running */
        EXPECT_TEXT(stage_fate(&s, "b"), "unknown");
    }
}

TEST(apply, a_removed_pod_leaves_wherever_it_is)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=1 memory=4Gi");
    stage_put(&s, "pod active cpu=1");
    stage_remove(&s, "pod active");
    EXPECT_INT(stage_run(&s), 0);
    stage_put(&s, "pod parked cpu=9");
    stage_run(&s);
    stage_remove(&s, "pod parked");
    stage_remove(&s, "pod parked"); /* twice: nothing */
    stage_remove(&s, "pod never");
    EXPECT_INT(cluster(&s)->pods.n, 0);
    EXPECT_INT(engine_stats(s.engine).parked, 0);
}

TEST(apply, a_resized_pod_takes_what_it_takes_now)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=8 memory=4Gi");
    stage_put(&s, "pod a cpu=1 gpu=1 port:80 on=n1");
    stage_put(&s, "pod a cpu=3 port:81 on=n1");
    EXPECT_INT(room(&s, "n1")->cpu_used, 3000);
    EXPECT(room(&s, "n1")->cells == NULL);
    EXPECT_INT(room(&s, "n1")->pods_used, 1);
}

TEST(apply, a_waiting_pod_is_judged_as_it_is_now)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=8 memory=4Gi");
    stage_put(&s, "pod a cpu=9");
    stage_put(&s, "pod a cpu=2");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "a"), "assumed on n1");
    EXPECT_INT(room(&s, "n1")->cpu_used, 2000);
}

TEST(apply, a_pod_whose_priority_rises_overtakes)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=1 memory=4Gi");
    stage_put(&s, "pod first cpu=1 priority=1");
    stage_put(&s, "pod second cpu=1");
    stage_put(&s, "pod second cpu=1 priority=2");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "second"), "assumed on n1");
}

TEST(apply, a_pod_being_deleted_holds_its_room_but_does_not_count_for_spreading)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=8 memory=4Gi zone=a");
    stage_put(&s, "node n2 cpu=8 memory=4Gi zone=b cordoned");
    stage_put(&s, "pod w cpu=1 label:app=w on=n1");
    stage_put(&s, "pod a label:app=w spread:zone:1:hard:app=w");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "a"), "parked"); /* b is empty, and shut */
    stage_put(&s, "pod w cpu=1 label:app=w on=n1 deleting");
    EXPECT_INT(room(&s, "n1")->cpu_used, 1000);
    stage_put(&s, "pod b label:app=w spread:zone:1:hard:app=w");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "b"), "assumed on n1");
}

/* --- nodes --- */

TEST(apply, a_node_that_goes_while_pods_are_on_it_is_a_ghost_until_they_have_gone)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=4 memory=4Gi");
    stage_put(&s, "pod a cpu=1");
    stage_run(&s);
    stage_remove(&s, "node n1");
    EXPECT_TEXT(stage_fate(&s, "a"), "assumed on n1");
    EXPECT_INT(engine_stats(s.engine).nodes, 0);
    stage_put(&s, "pod b cpu=1");
    stage_run(&s);
    EXPECT_STR(stage_effect(&s, "b")->message, "no nodes available to schedule pods");
    EXPECT_INT(room(&s, "n1")->cpu_used, 1000);
    stage_remove(&s, "pod a");
    EXPECT_INT(nodes_find(&cluster(&s)->nodes, names_find(&cluster(&s)->names, STR("n1"))).i,
               ID_NONE);
}

TEST(apply, a_ghost_that_comes_back_still_has_its_pods)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=4 memory=4Gi");
    stage_put(&s, "pod a cpu=3 on=n1");
    stage_remove(&s, "node n1");
    stage_put(&s, "node n1 cpu=4 memory=4Gi");
    stage_put(&s, "pod b cpu=2");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "b"), "parked");
}

TEST(apply, a_binding_that_fails_on_a_ghost_lets_it_go)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=4 memory=4Gi");
    stage_put(&s, "pod a cpu=1");
    stage_run(&s);
    stage_remove(&s, "node n1");
    stage_settle(&s, "a", "no such node");
    EXPECT_TEXT(stage_fate(&s, "a"), "backing off");
    EXPECT_INT(cluster(&s)->nodes.by_name.n, 0);
}

TEST(apply, pods_may_come_before_their_node)
{
    AUTO(stage) s = {0};
    stage_put(&s, "pod a cpu=3 on=n1");
    EXPECT_TEXT(stage_fate(&s, "a"), "bound to n1");
    stage_put(&s, "node n1 cpu=4 memory=4Gi");
    EXPECT_INT(room(&s, "n1")->cpu_used, 3000);
    EXPECT_INT(room(&s, "n1")->cpu_alloc, 4000);
}

TEST(apply, removing_what_is_not_there_does_nothing)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=4");
    uint64_t log = cluster(&s)->log.end;
    stage_remove(&s, "node n2");
    stage_remove(&s, "service web");
    stage_remove(&s, "replicaset web");
    stage_remove(&s, "namespace web");
    EXPECT_INT(cluster(&s)->log.end, log);
}

/* --- what selects pods --- */

TEST(apply, a_service_spreads_the_pods_it_selects_while_it_is_there)
{
    AUTO(stage) s = {.config = {.checks_views = true}};
    stage_put(&s, "node n1 cpu=64 memory=64Gi");
    stage_put(&s, "node n2 cpu=16 memory=16Gi");
    stage_put(&s, "pod w label:app=web on=n1");
    stage_put(&s, "pod a cpu=1 label:app=web");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "a"), "assumed on n1"); /* the emptier */
    stage_remove(&s, "pod a");
    stage_put(&s, "service web app=web");
    stage_put(&s, "pod b cpu=1 label:app=web");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "b"), "assumed on n2"); /* where none of them is */
    stage_remove(&s, "pod b");
    stage_put(&s, "service web"); /* without a selector it selects nobody */
    stage_put(&s, "pod c cpu=1 label:app=web");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "c"), "assumed on n1");
    stage_remove(&s, "pod c");
    stage_put(&s, "replicaset web app=web");
    stage_put(&s, "pod d cpu=1 label:app=web owner:ReplicaSet=web");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "d"), "assumed on n2");
    stage_remove(&s, "pod d");
    stage_remove(&s, "replicaset web");
    stage_put(&s, "pod e cpu=1 label:app=web owner:ReplicaSet=web");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "e"), "assumed on n1");
}

TEST(apply, a_namespace_keeps_its_labels_until_it_goes)
{
    AUTO(stage) s = {0};
    stage_put(&s, "namespace team label:a=b");
    const struct cluster *c = cluster(&s);
    sym team = names_find(&c->names, STR("team")), a = names_find(&c->names, STR("a"));
    EXPECT_STR(names_text(&c->names, names_label(&c->names, map_find(&c->namespaces, team), a)),
               "b");
    stage_put(&s, "namespace team label:a=c");
    EXPECT_STR(names_text(&c->names, names_label(&c->names, map_find(&c->namespaces, team), a)),
               "c");
    stage_remove(&s, "namespace team");
    EXPECT_INT(map_find(&c->namespaces, team), MAP_NONE);
}

/* --- a long life --- */

TEST(apply, pods_that_come_and_go_leave_nothing_behind)
{
    AUTO(stage) s = {.config = {.checks_views = true}};
    for (int i = 0; i < 4; i++)
        stage_put(&s, "node n%d cpu=8 memory=32Gi zone=%c", i, 'a' + i % 2);
    stage_put(&s, "service web app=web");
    for (int i = 0; i < 6000; i++) { /* each of a template of its own */
        stage_put(&s, "pod p%d cpu=1 label:app=web label:job=j%d tolerate:t%d:Exists::", i, i, i);
        stage_run(&s);
        if (i >= 10)
            stage_remove(&s, "pod p%d", i - 10);
        if (s.effects.list.n)
            engine_settle(s.engine, 0, s.effects.list.at[0].id, NULL);
    }
    const struct cluster *c = cluster(&s);
    EXPECT_INT(c->pods.n, 10);
    EXPECT(c->names.text.live < 6000);
    EXPECT(c->specs.table.table.live < 4000);
    EXPECT(classes_count(&s.engine->classes) < 4000);
    EXPECT_INT(engine_stats(s.engine).bound, 6000);
}

/* --- partial pods --- */

/* The pod of a line with a digest: as a whole, or what a partial pod has of it. */
static struct pod *pod_with(struct stage *s, const char *line, uint64_t digest, bool is_partial)
{
    struct pod *pod = object_of(&s->mem, line).pod;
    pod->digest = digest;
    pod->is_partial = is_partial;
    if (is_partial)
        pod->spec.containers.n = 0;
    return pod;
}

static void put_with(struct stage *s, const char *line, uint64_t digest, bool is_partial)
{
    struct change change = {CHANGE_PUT,
                            {.kind = KIND_POD, .pod = pod_with(s, line, digest, is_partial)}};
    engine_apply(s->engine, s->now_ms, &change);
}

TEST(apply, a_partial_pod_changes_all_but_the_spec)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=4 memory=4Gi zone=a");
    put_with(&s, "pod a cpu=1 label:app=web", 7, false);
    stage_put(&s, "pod b cpu=1 spread:zone:1:hard:zone=a on=n1");
    put_with(&s, "pod a label:zone=a on=n1", 7, true);
    EXPECT_TEXT(stage_fate(&s, "a"), "bound to n1");
    EXPECT_INT(room(&s, "n1")->cpu_used, 2000);
    const struct cluster *c = cluster(&s);
    pod_id a = pods_find(&c->pods, names_find(&c->names, STR("default")), STR("a"));
    uint32_t n;
    lists_at(&c->names.label_sets, pods_shape(&c->pods, a)->labels, sizeof(struct pair_sym), &n);
    EXPECT_INT(n, 1);
    put_with(&s, "pod a on=n1 label:zone=a deleting", 7, true);
    EXPECT(pods_at(&c->pods, a)->flags & POD_TERMINATING);
    put_with(&s, "pod a on=n1 phase=Succeeded", 7, true);
    EXPECT_TEXT(stage_fate(&s, "a"), "unknown");
    EXPECT_INT(room(&s, "n1")->cpu_used, 1000);
}

TEST(apply, a_partial_pod_is_enough_for_a_pod_with_that_digest)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=4 memory=4Gi");
    put_with(&s, "pod a cpu=1", 7, false);
    put_with(&s, "pod unread cpu=1", 0, false);
    static const struct {
        const char *line;
        uint64_t digest;
        bool is_known;
    } cases[] = {
        {"pod a", 7, true},  {"pod a on=n1", 7, true},
        {"pod a", 8, false}, {"pod a uid=other", 7, false},
        {"pod b", 7, false}, {"pod unread", 0, false},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s", cases[i].line);
        EXPECT_INT(engine_knows(s.engine, pod_with(&s, cases[i].line, cases[i].digest, true)),
                   cases[i].is_known);
    }
    put_with(&s, "pod a cpu=2 on=n1", 9, false); /* resized */
    EXPECT(!engine_knows(s.engine, pod_with(&s, "pod a on=n1", 7, true)));
    EXPECT(engine_knows(s.engine, pod_with(&s, "pod a on=n1", 9, true)));
    EXPECT(!engine_knows(s.engine, pod_with(&s, "pod a", 9, true))); /* set back: another pod */
}

/* A pod with one gate more than a pod may have. */
static void put_excessive(struct stage *s, const char *name, const char *more)
{
    char line[2000];
    int n = snprintf(line, sizeof(line), "pod %s cpu=1 %s", name, more);
    for (int i = 0; i < 65; i++)
        n += snprintf(line + n, sizeof(line) - (size_t)n, " gate:g%d", i);
    stage_put(s, "%s", line);
}

TEST(apply, a_pod_beyond_a_limit_is_told_which_and_holds_up_nobody)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=2 memory=4Gi");
    put_excessive(&s, "much", "priority=9");
    stage_put(&s, "pod plain cpu=1");
    stage_run(&s);
    EXPECT_INT(stage_effect(&s, "much")->kind, EFFECT_FAIL);
    EXPECT_STR(stage_effect(&s, "much")->message,
               "65 scheduling gates, of which a pod may have 64");
    EXPECT_TEXT(stage_fate(&s, "much"), "parked");
    EXPECT_TEXT(stage_fate(&s, "plain"), "assumed on n1");
    stage_put(&s, "node n2 cpu=2 memory=4Gi");
    EXPECT_INT(stage_run(&s), 0);
    stage_put(&s, "pod much cpu=1");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "much"), "assumed on n2");
}

TEST(apply, a_pod_beyond_a_limit_counts_where_it_runs)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=2 memory=4Gi");
    put_excessive(&s, "much", "on=n1 scheduler=another");
    EXPECT_INT(room(&s, "n1")->cpu_used, 1000);
    stage_put(&s, "pod wide cpu=2");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "wide"), "parked");
}
