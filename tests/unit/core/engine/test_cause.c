#include "core/engine/step/cause.h"
#include "core/engine/step/step.h"
#include "support/stage.h"
#include "support/test.h"

#define GANG(name, min, rest) "pod " name " gang=a:" #min " " rest
#define IN_ONE_RACK           "note:scheduling.kubenexus.io/required-topology=rack"

/* A cluster and a gang, and the first sentence of what the gang is told. */
static const struct {
    const char *objects[8];
    const char *first;
} stories[] = {
    {{"node n1 cpu=8 example.com/gpu=8", GANG("p", 2, "example.com/gpuu=1"),
      GANG("q", 2, "example.com/gpuu=1")},
     "no node offers example.com/gpuu (nearest: example.com/gpu); each pod of gang a wants 1 "
     "example.com/gpuu"},
    {{"node n1 cpu=8 gpu=8", "node n2 cpu=8 gpu=4", GANG("p", 2, "gpu=16"), GANG("q", 2, "gpu=16")},
     "no node has more than 8 nvidia.com/gpu; each pod of gang a wants 16 nvidia.com/gpu"},
    {{"node n1 cpu=8 gpu=0", "node n2 cpu=1 gpu=4", GANG("p", 2, "cpu=4 gpu=2"),
      GANG("q", 2, "cpu=4 gpu=2")},
     "no node is large enough for one pod: gang a needs 2 x (2 nvidia.com/gpu, 4 cpu)"},
    {{"node n1 cpu=8", "node n2 cpu=8", GANG("p", 2, "cpu=6"), GANG("q", 2, "cpu=6"),
      GANG("r", 3, "cpu=6")},
     "gang a needs 3 x (6 cpu); 2 fit now; short of 6 cpu; the nodes hold 2, even when empty"},
    {{"node n1 cpu=8 label:accelerator=h100", GANG("p", 2, "cpu=1 select:acelerator=h100"),
      GANG("q", 2, "cpu=1 select:acelerator=h100")},
     "no node has the label acelerator, which gang a selects; nearest: accelerator"},
    {{"node n1 cpu=8 label:pool=train", "node n2 cpu=8 label:pool=serve",
      GANG("p", 2, "cpu=1 select:pool=trian"), GANG("q", 2, "cpu=1 select:pool=trian")},
     "no node has pool=trian, which gang a selects; nearest: train"},
    {{"node n1 cpu=8 label:pool=a", "node n2 cpu=8", GANG("p", 2, "cpu=6 require:pool:In:a"),
      GANG("q", 2, "cpu=6 require:pool:In:a")},
     "1 of 2 nodes has pool=a, which gang a selects; room for 1 of 2 pods"},
    {{"node n1 cpu=8 taint:team=x:NoSchedule", "node n2 cpu=8", GANG("p", 2, "cpu=6"),
      GANG("q", 2, "cpu=6")},
     "gang a does not tolerate the taint team=x:NoSchedule of 1 node; the other 1 node has room "
     "for 1 of 2 pods"},
    {{"node n1 cpu=8 cordoned", "node n2 cpu=8 cordoned", GANG("p", 2, "cpu=6"),
      GANG("q", 2, "cpu=6")},
     "2 nodes that would do are cordoned"},
    {{"node n1 cpu=4 label:rack=r1", "node n2 cpu=4 label:rack=r2", "node n3 cpu=8 label:rack=r2",
      GANG("p", 4, "cpu=4 " IN_ONE_RACK), GANG("q", 4, "cpu=4 " IN_ONE_RACK),
      GANG("r", 4, "cpu=4 " IN_ONE_RACK), GANG("s", 4, "cpu=4 " IN_ONE_RACK)},
     "gang a wants 4 pods in one domain (rack); the largest, r2, holds 3 even when empty: never"},
    {{"node n1 cpu=8 label:rack=r1", "node n2 cpu=4 label:rack=r2", "pod x cpu=4 on=n1",
      GANG("p", 2, "cpu=4 " IN_ONE_RACK), GANG("q", 2, "cpu=4 " IN_ONE_RACK)},
     "gang a wants 2 pods in one domain (rack); r1 has most room: 1 now"},
    {{"node n1 cpu=8", "pod x cpu=7 on=n1", GANG("p", 2, "cpu=4"), GANG("q", 2, "cpu=4")},
     "gang a needs 2 x (4 cpu); 0 fit now; short of 8 cpu"},
    {{"node n1 cpu=8 gpu=8", "node n2 cpu=64", "pod x cpu=7 on=n1", GANG("p", 2, "gpu=1 cpu=4"),
      GANG("q", 2, "gpu=1 cpu=4")},
     "gang a needs 2 x (1 nvidia.com/gpu, 4 cpu); 0 fit now; 1 node with the rest free has too "
     "little cpu"},
};

static struct str first_sentence(struct str text)
{
    size_t end = 0;
    while (end < text.n && !(text.p[end] == '.' && end + 1 < text.n && text.p[end + 1] == ' '))
        end++;
    return str_part(text, 0, end);
}

TEST(cause, the_first_sentence_is_what_keeps_the_gang_from_starting)
{
    for (size_t i = 0; i < LEN(stories); i++) {
        AUTO(stage) s = {0};
        const char *const *o = stories[i].objects;
        for (size_t n = 0; n < LEN(stories[i].objects) && o[n]; n++)
            stage_put(&s, "%s", o[n]);
        stage_run(&s);
        const struct effect *e = stage_effect(&s, "p");
        REQUIRE(e && e->kind == EFFECT_REFUSE);
        struct str first = first_sentence(e->message);
        EXPECT_STR(first, stories[i].first);
        EXPECT(first.n <= CAUSE_BYTES_MOST);
    }
}

#define OURS "scheduler=kubenexus-scheduler "

/* A cluster and a pod that is alone, and what it is told. */
static const struct {
    const char *objects[6];
    const char *told;
} pods_alone[] = {
    {{"node n1 cpu=8 gpu=8", "pod p " OURS "gpu=16"},
     "no node has more than 8 nvidia.com/gpu; the pod wants 16 nvidia.com/gpu. 0/1 nodes are "
     "available: 1 Insufficient nvidia.com/gpu. preemption: 0/1 nodes are available: 1 Preemption "
     "is not helpful for scheduling."},
    {{"node n1 cpu=8 label:accelerator=h100", "pod p " OURS "cpu=1 select:acelerator=h100"},
     "no node has the label acelerator, which the pod selects; nearest: accelerator. 0/1 nodes are "
     "available: 1 node(s) didn't match Pod's node affinity/selector. preemption: 0/1 nodes are "
     "available: 1 Preemption is not helpful for scheduling."},
    {{"node n1 cpu=8 taint:team=x:NoSchedule", "node n2 cpu=1", "pod p " OURS "cpu=6"},
     "the pod does not tolerate the taint team=x:NoSchedule of 1 node. 0/2 nodes are available: 1 "
     "Insufficient cpu, 1 node(s) had untolerated taint(s). preemption: 0/2 nodes are available: 2 "
     "Preemption is not helpful for scheduling."},
    {{"node n1 cpu=8 gpu=8", "node n2 cpu=8 gpu=8", "node n3 cpu=64", "pod x gpu=6 on=n1",
      "pod p " OURS "gpu=4 cpu=4", "pod y gpu=6 cpu=6 on=n2"},
     "the pod needs 4 nvidia.com/gpu, 4 cpu; no node has room now; 1 node with the rest free has "
     "too little nvidia.com/gpu. 0/3 nodes are available: 1 Insufficient cpu, 3 Insufficient "
     "nvidia.com/gpu. preemption: 0/3 nodes are available: 1 Preemption is not helpful for "
     "scheduling, 2 No preemption victims found for incoming pod."},
    {{"node n1 cpu=8", "pod x cpu=1 on=n1 label:app=a", "pod p " OURS "cpu=1 apart:host:app=a"},
     "node(s) didn't match pod anti-affinity rules: 1 node. 0/1 nodes are available: 1 node(s) "
     "didn't match pod anti-affinity rules. preemption: 0/1 nodes are available: 1 No preemption "
     "victims found for incoming pod."},
    {{"node n1 cpu=8", "pod x cpu=6 priority=-1 on=n1", "pod p " OURS "cpu=4"},
     "starts when 1 pod on n1 is gone. 0/1 nodes are available: 1 Insufficient cpu. preemption: "
     "found a potential placement for pod on node n1, preempting 1 victims"},
    {{"node n1 cpu=8", "pod x cpu=8 on=n1", "pod p " OURS "cpu=1 require:@metadata.name:In:n1"},
     "n1, the only node that the pod may use: Insufficient cpu. 0/1 nodes are available: 1 "
     "Insufficient cpu. preemption: 0/1 nodes are available: 1 No preemption victims found for "
     "incoming pod."},
};

static struct str told(const struct stage *s, const char *pod)
{
    struct str last = STR("nothing");
    vec_each(&s->effects.list, e)
        if (e->kind == EFFECT_REFUSE && str_equal(e->pod, str_of(pod)))
            last = e->message;
    return last;
}

TEST(cause, a_pod_on_its_own_hears_the_cause_before_kube_schedulers_words)
{
    for (size_t i = 0; i < LEN(pods_alone); i++) {
        AUTO(stage) s = {0};
        const char *const *o = pods_alone[i].objects;
        for (size_t n = 0; n < LEN(pods_alone[i].objects) && o[n]; n++)
            stage_put(&s, "%s", o[n]);
        stage_run(&s);
        EXPECT_STR(told(&s, "p"), pods_alone[i].told);
    }
}

TEST(cause, a_profile_without_gangs_has_kube_schedulers_words_alone)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=8");
    stage_put(&s, "pod p cpu=1 select:pool=a");
    stage_run(&s);
    EXPECT(str_starts(told(&s, "p"), STR("0/1 nodes are available: 1 node(s) didn't match")));
}

/* They are of one class, and only the first is told for whom. */
TEST(cause, room_that_is_kept_is_named_to_its_own_namespace)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=3");
    for (int i = 0; i < 3; i++)
        stage_put(&s, "pod a-%d cpu=1 gang=a:3 on=n1 phase=Running", i);
    stage_run(&s);
    s.now_ms = 20000;
    stage_put(&s, "pod a-1 cpu=1 gang=a:3 on=n1 phase=Running deleting");
    stage_remove(&s, "pod a-1");
    stage_put(&s, "pod p " OURS "cpu=1");
    stage_put(&s, "pod q " OURS "cpu=1 namespace=other");
    stage_run(&s);
    EXPECT(
        str_starts(told(&s, "p"),
                   STR("room is kept for a lost member of gang a until 1970-01-01T00:00:50Z; ")));
    EXPECT(str_starts(told(&s, "q"),
                      STR("room is kept for another namespace until 1970-01-01T00:00:50Z; ")));
}

/* The driver runs, and its executors are still to come. */
TEST(cause, room_for_those_who_are_still_to_come_is_named)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n cpu=3 memory=32Gi");
    stage_put(&s, "pod d cpu=1 label:spark-role=driver gang=s:3");
    stage_run(&s);
    stage_put(&s, "pod p " OURS "cpu=1");
    stage_run(&s);
    EXPECT(
        str_starts(told(&s, "p"),
                   STR("room is kept for members to come of gang s until 1970-01-01T00:30:00Z")));
}

/* Not even a full node is passed over in silence, for pods that were told "no node". */
TEST(cause, pods_that_no_node_would_ever_do_for_hear_of_the_first_that_would)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=8 gpu=4");
    stage_put(&s, "pod p " OURS "gpu=8");
    stage_put(&s, "pod q " OURS "gpu=8");
    stage_run(&s);
    EXPECT(str_starts(told(&s, "q"), STR("no node has more than 4 nvidia.com/gpu; the pod wants")));
    stage_put(&s, "pod x gpu=8 on=n2");
    stage_put(&s, "node n2 cpu=8 gpu=8");
    stage_run(&s);
    EXPECT(str_starts(told(&s, "p"), STR("the pod needs 8 nvidia.com/gpu; no node has room now")));
    EXPECT(str_starts(told(&s, "q"), STR("the pod needs 8 nvidia.com/gpu; no node has room now")));
}

/* All nodes are asked once, and again when one is another one; not when others come and go. */
TEST(cause, what_nodes_are_is_asked_once_for_a_class)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=8");
    stage_put(&s, "node n2 cpu=1");
    stage_put(&s, "pod p " OURS "cpu=2 select:pool=a");
    stage_run(&s);
    EXPECT(str_starts(told(&s, "p"), STR("no node has the label pool, which the pod selects. ")));
    const struct cluster *c = s.engine->cluster;
    pod_id p = pods_find(&c->pods, names_find(&c->names, STR("default")), STR("p"));
    struct class *class = classes_of(&s.engine->classes, pods_at(&c->pods, p)->shape);
    const struct class_refusal *told_last = engine_last_refusal(s.engine, class);
    EXPECT(told_last->nature_at == c->log.natures + 1 && told_last->nature.n);
    stage_put(&s, "pod x cpu=2 on=n1");
    stage_run(&s);
    EXPECT(told_last->nature_at == c->log.natures + 1);
    stage_put(&s, "node n2 cpu=1 label:pool=a");
    EXPECT(told_last->nature_at != c->log.natures + 1);
    stage_put(&s, "pod q " OURS "cpu=2 select:pool=a");
    stage_run(&s);
    EXPECT(str_starts(told(&s, "q"), STR("no node that is large enough has pool=a, which the ")));
}

/* What a rule leaves is what the next one is asked about. */
TEST(cause, the_funnel_has_the_nodes_that_each_rule_leaves)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n1 cpu=1");
    stage_put(&s, "node n2 cpu=8 taint:t=v:NoSchedule");
    stage_put(&s, "node n3 cpu=8");
    stage_put(&s, "pod x cpu=6 on=n3");
    stage_put(&s, "pod p cpu=4 gang=a:2");
    stage_put(&s, "pod q cpu=4 gang=a:2");
    struct effects said = {0};
    uint32_t group = engine_gang_of(
        s.engine, pods_find(&s.engine->cluster->pods,
                            names_find(&s.engine->cluster->names, STR("default")), STR("p")));
    struct cause_steps steps;
    struct planner planner = {0};
    EXPECT(engine_try_gang(s.engine, &planner, group, &said) == GANG_HOPELESS);
    engine_list_funnel(s.engine, &planner, group, &steps);
    planner_done(&planner);
    REQUIRE(steps.n == 3);
    EXPECT(steps.at[0].rule == CAUSE_OFFER && steps.at[0].nodes == 2 && steps.at[0].pods == 2);
    EXPECT(steps.at[1].rule == CAUSE_TAINT && steps.at[1].nodes == 1 && steps.at[1].pods == 2);
    EXPECT(steps.at[2].rule == CAUSE_ROOM && steps.at[2].nodes == 0 && steps.at[2].pods == 0);
    effects_done(&said);
}
