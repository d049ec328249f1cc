#include "core/engine/step/step.h"
#include "support/stage.h"
#include "support/test.h"

/* Objects at a version, as an API server has them. */
#define SLOW(provisioner)                                                                          \
    "{'apiVersion':'storage.k8s.io/v1','kind':'StorageClass','metadata':{'name':'s'},"             \
    "'provisioner':'" provisioner "','volumeBindingMode':'WaitForFirstConsumer'}"
#define VOLUME(name, version, spec)                                                                \
    "{'apiVersion':'v1','kind':'PersistentVolume','metadata':{'name':'" name                       \
    "','resourceVersion':'" version "'},'spec':{'capacity':{'storage':'1Gi'},'accessModes':"       \
    "['ReadWriteOnce'],'storageClassName':'s'" spec "},'status':{'phase':'Available'}}"
#define CLAIM(name, version, annotations, spec)                                                    \
    "{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'" name                  \
    "','namespace':'default','uid':'u-" name "','resourceVersion':'" version                       \
    "','annotations':{" annotations "}},'spec':{'accessModes':['ReadWriteOnce'],"                  \
    "'storageClassName':'s','resources':{'requests':{'storage':'1Gi'}}" spec "}}"
#define OF(claim) ",'claimRef':{'namespace':'default','name':'" claim "','uid':'u-" claim "'}"
#define FOR_N     "'volume.kubernetes.io/selected-node':'n'"
#define DONE      "'pv.kubernetes.io/bind-completed':'yes'"

static const char no_maker[] = SLOW("kubernetes.io/no-provisioner");

/* The write about the object in the last run; NULL: none. */
static const struct effect *write_of(const struct stage *s, const char *object)
{
    vec_each(&s->effects.list, e)
        if (e->kind == EFFECT_WRITE && str_equal(e->write.name, str_of(object)))
            return e;
    return NULL;
}

static void settle(struct stage *s, const struct effect *e, enum error_kind kind, const char *text)
{
    struct error why = {0};
    if (text)
        error_set(&why, kind, "%s", text);
    engine_settle(s->engine, s->now_ms, e->id, text ? &why : NULL);
}

/* A node, a free volume, and a pod whose claim waits. */
static void open(struct stage *s)
{
    stage_put(s, "node n cpu=8");
    stage_put(s, "%s", no_maker);
    stage_put(s, VOLUME("v", "5", ""));
    stage_put(s, CLAIM("c", "7", "", ""));
    stage_put(s, "pod p claim:c cpu=1");
    stage_run(s);
}

TEST(prebind, a_volume_is_told_whose_it_is_and_the_pod_is_bound_when_its_claim_is)
{
    AUTO(stage) s = {0};
    open(&s);
    EXPECT_TEXT(stage_fate(&s, "p"), "assumed on n");
    EXPECT_INT(s.effects.list.n, 2);
    EXPECT_INT(s.effects.list.at[0].kind, EFFECT_NOMINATE);
    EXPECT_STR(s.effects.list.at[0].node, "n");
    const struct effect *e = write_of(&s, "v");
    REQUIRE(e);
    EXPECT_INT(e->write.kind, KIND_PERSISTENT_VOLUME);
    EXPECT_INT(e->write.version, 5);
    REQUIRE(e->write.n_patches == 1);
    EXPECT_STR(e->write.patches[0].meta,
               "\"annotations\":{\"pv.kubernetes.io/bound-by-controller\":\"yes\"}");
    EXPECT_STR(e->write.patches[0].body,
               "\"spec\":{\"claimRef\":{\"apiVersion\":\"v1\",\"kind\":\"PersistentVolumeClaim\","
               "\"name\":\"c\",\"namespace\":\"default\",\"resourceVersion\":\"7\",\"uid\":"
               "\"u-c\"}}");

    settle(&s, e, 0, NULL);
    stage_put(&s, VOLUME("v", "8", OF("c")));
    EXPECT_INT(stage_run(&s), 0); /* nobody has bound the claim yet */
    stage_put(&s, CLAIM("c", "9", DONE, ",'volumeName':'v'"));
    EXPECT_INT(engine_next_ms(s.engine, s.now_ms), s.now_ms);
    EXPECT_INT(stage_run(&s), 1);
    EXPECT_INT(stage_effect(&s, "p")->kind, EFFECT_BIND);
    EXPECT_STR(stage_effect(&s, "p")->node, "n");
    EXPECT_INT(stage_effect(&s, "p")->attempt, 1);
    EXPECT_INT(s.engine->prebind->all.n, 0);
}

TEST(prebind, a_claim_is_told_for_which_node_a_volume_is_to_be_made)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n cpu=8");
    stage_put(&s, SLOW("d.example"));
    stage_put(&s, CLAIM("c", "7", "", ""));
    stage_put(&s, "pod p claim:c");
    stage_run(&s);
    const struct effect *e = write_of(&s, "c");
    REQUIRE(e);
    EXPECT_STR(e->write.namespace, "default");
    EXPECT_STR(e->write.patches[0].meta,
               "\"annotations\":{\"volume.kubernetes.io/selected-node\":\"n\"}");
    EXPECT_STR(e->write.patches[0].body, "");
    settle(&s, e, 0, NULL);
    stage_put(&s, CLAIM("c", "8", FOR_N, ""));
    EXPECT_INT(stage_run(&s), 0);
    stage_put(&s, CLAIM("c", "9", FOR_N "," DONE, ",'volumeName':'new'"));
    EXPECT_INT(stage_run(&s), 0); /* the volume has not come */
    stage_put(&s, VOLUME("new", "10", OF("c")));
    stage_run(&s);
    EXPECT_INT(stage_effect(&s, "p")->kind, EFFECT_BIND);
}

TEST(prebind, one_volume_is_never_given_to_two_pods)
{
    AUTO(stage) s = {0};
    open(&s);
    REQUIRE(write_of(&s, "v"));
    settle(&s, write_of(&s, "v"), 0, NULL);
    stage_put(&s, CLAIM("d", "8", "", ""));
    stage_put(&s, "pod q claim:d");
    stage_run(&s);
    EXPECT_INT(stage_effect(&s, "q")->kind, EFFECT_REFUSE);
    stage_put(&s, VOLUME("v", "5", "")); /* the same version again says nothing new */
    stage_put(&s, "node m");             /* and q looks again */
    s.now_ms = 60000;
    stage_run(&s);
    REQUIRE(stage_effect(&s, "q"));
    EXPECT_INT(stage_effect(&s, "q")->kind, EFFECT_REFUSE);
}

TEST(prebind, a_write_that_fails_gives_back_what_was_taken)
{
    AUTO(stage) s = {0};
    open(&s);
    REQUIRE(write_of(&s, "v"));
    settle(&s, write_of(&s, "v"), ERROR_DENIED, "persistentvolumes \"v\" is forbidden");
    EXPECT_INT(stage_run(&s), 2);
    EXPECT_INT(s.effects.list.at[0].kind, EFFECT_FAIL);
    EXPECT_STR(s.effects.list.at[0].message,
               "running PreBind plugin \"VolumeBinding\": persistentvolumes \"v\" is forbidden");
    EXPECT_INT(s.effects.list.at[1].kind, EFFECT_NOMINATE);
    EXPECT_STR(s.effects.list.at[1].node, "");
    EXPECT_TEXT(stage_fate(&s, "p"), "backing off");
    EXPECT_INT(s.engine->prebind->all.n, 0);

    stage_put(&s, CLAIM("d", "8", "", "")); /* another may have the volume */
    stage_put(&s, "pod q claim:d");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "q"), "assumed on n");
    REQUIRE(write_of(&s, "v"));
}

TEST(prebind, after_a_conflict_the_object_decides)
{
    for (int was_ours = 0; was_ours < 2; was_ours++) {
        test_case("was ours: %d", was_ours);
        AUTO(stage) s = {0};
        open(&s);
        REQUIRE(write_of(&s, "v"));
        settle(&s, write_of(&s, "v"), ERROR_CONFLICT, "the object has been modified");
        stage_run(&s);
        EXPECT_TEXT(stage_fate(&s, "p"), "assumed on n"); /* it may have been our own write */
        stage_put(&s, CLAIM("d", "8", "", ""));
        stage_put(&s, "pod q claim:d");
        stage_run(&s);
        EXPECT_TEXT(stage_fate(&s, "q"), "parked");
        if (was_ours)
            stage_put(&s, VOLUME("v", "9", OF("c")));
        else
            stage_put(&s, VOLUME("v", "9", ""));
        stage_run(&s);
        EXPECT_TEXT(stage_fate(&s, "p"), was_ours ? "assumed on n" : "backing off");
        if (was_ours)
            continue;
        EXPECT_STR(s.effects.list.at[0].message,
                   "running PreBind plugin \"VolumeBinding\": the object has been modified");
        REQUIRE(write_of(&s, "v")); /* now q may have it */
        EXPECT_INT(write_of(&s, "v")->write.version, 9);
    }
}

TEST(prebind, what_is_written_already_is_only_waited_for)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n");
    stage_put(&s, "%s", no_maker);
    stage_put(&s, VOLUME("v", "5", OF("c")));
    stage_put(&s, CLAIM("c", "7", "", ""));
    stage_put(&s, "pod p claim:c");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "p"), "assumed on n");
    EXPECT(!write_of(&s, "v"));
    stage_put(&s, CLAIM("c", "9", DONE, ",'volumeName':'v'"));
    stage_run(&s);
    EXPECT_INT(stage_effect(&s, "p")->kind, EFFECT_BIND);
}

TEST(prebind, ends_in_these_ways_too)
{
    static const struct {
        const char *name, *put, *remove, *why;
        int64_t after_ms;
    } cases[] = {
        {"the volume is nobody's", VOLUME("v", "9", ""), NULL, "ClaimRef got reset for pv \"v\"",
         0},
        {"it is out of reach",
         VOLUME("v", "9",
                OF("c") ",'nodeAffinity':{'required':{'nodeSelectorTerms':[{'matchExpressions':[{"
                        "'key':'a','operator':'Exists'}]}]}}"),
         NULL, "pv \"v\" node affinity doesn't match node \"n\": no matching NodeSelectorTerms", 0},
        {"the volume is gone", NULL, VOLUME("v", "9", ""),
         "failed to check binding: persistentvolumes \"v\" not found", 0},
        {"the claim is gone", NULL, CLAIM("c", "9", "", ""),
         "failed to check binding: persistentvolumeclaims \"default/c\" not found", 0},
        {"the node is gone", NULL, "node n", "failed to get node \"n\": node \"n\" not found", 0},
        {"nobody binds it", NULL, NULL, "context deadline exceeded", 600000},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        test_case("%s", cases[i].name);
        AUTO(stage) s = {0};
        open(&s);
        REQUIRE(write_of(&s, "v"));
        settle(&s, write_of(&s, "v"), 0, NULL);
        if (cases[i].put)
            stage_put(&s, "%s", cases[i].put);
        if (cases[i].remove)
            stage_remove(&s, "%s", cases[i].remove);
        EXPECT(cases[i].after_ms == 0 || stage_run(&s) == 0);
        EXPECT_INT(engine_next_ms(s.engine, s.now_ms), s.now_ms + cases[i].after_ms);
        s.now_ms += cases[i].after_ms;
        stage_run(&s);
        REQUIRE(s.effects.list.n >= 2);
        AUTO(buf) why = {0};
        buf_printf(&why, "running PreBind plugin \"VolumeBinding\": binding volumes: %s",
                   cases[i].why);
        EXPECT_STR(s.effects.list.at[0].message, why.p);
        EXPECT_TEXT(stage_fate(&s, "p"), "backing off");
        EXPECT_INT(s.engine->prebind->all.n, 0);
    }
}

TEST(prebind, whoever_makes_volumes_may_say_that_he_cannot)
{
    static const char *const claims[][2] = {
        {CLAIM("c", "9", "'a':'b'", ""), "provisioning failed for PVC \"c\""},
        {CLAIM("c", "9", "", ""), "selectedNode annotation reset for PVC \"c\""},
    };
    for (size_t i = 0; i < LEN(claims); i++) {
        AUTO(stage) s = {0};
        stage_put(&s, "node n cpu=8");
        stage_put(&s, SLOW("d.example"));
        stage_put(&s, CLAIM("c", "7", "", ""));
        stage_put(&s, "pod p claim:c");
        stage_run(&s);
        REQUIRE(write_of(&s, "c"));
        settle(&s, write_of(&s, "c"), 0, NULL);
        stage_put(&s, CLAIM("c", "8", FOR_N, ""));
        stage_run(&s);
        stage_put(&s, "%s", claims[i][0]);
        stage_run(&s);
        REQUIRE(s.effects.list.n);
        EXPECT(str_ends(s.effects.list.at[0].message, str_of(claims[i][1])));
    }
}

TEST(prebind, a_pod_that_goes_leaves_only_what_is_under_way)
{
    static const char *const ways[] = {"pod p", "pod p claim:c cpu=1 deleting"};
    for (size_t i = 0; i < LEN(ways); i++) {
        test_case("%s", ways[i]);
        AUTO(stage) s = {0};
        open(&s);
        const struct effect *e = write_of(&s, "v");
        REQUIRE(e);
        effect_id id = e->id;
        if (i == 0)
            stage_remove(&s, "%s", ways[i]);
        else
            stage_put(&s, "%s", ways[i]);
        EXPECT_INT(s.engine->cluster->nodes.first_pod[0], ID_NONE);
        EXPECT_INT(s.engine->prebind->all.n, 1); /* its write may still be carried out */
        EXPECT_INT(stage_run(&s), 0);
        struct error why = {0};
        error_set(&why, ERROR_BUSY, "no");
        engine_settle(s.engine, 0, id, &why);
        EXPECT_INT(s.engine->prebind->all.n, 0);
        stage_put(&s, CLAIM("d", "8", "", ""));
        stage_put(&s, "pod q claim:d");
        stage_run(&s);
        EXPECT(write_of(&s, "v"));
    }
}

TEST(prebind, others_go_on_meanwhile_and_room_is_kept)
{
    AUTO(stage) s = {0};
    open(&s);
    stage_put(&s, "pod q cpu=7");
    stage_put(&s, "pod r cpu=1");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "q"), "assumed on n");
    EXPECT_INT(stage_effect(&s, "q")->kind, EFFECT_BIND);
    EXPECT_TEXT(stage_fate(&s, "r"), "parked");
}

TEST(prebind, what_is_taken_in_a_transaction_is_given_back_with_it)
{
    AUTO(stage) s = {0};
    stage_put(&s, "node n cpu=8");
    stage_put(&s, "%s", no_maker);
    stage_put(&s, VOLUME("v", "5", ""));
    stage_put(&s, CLAIM("c", "7", "", ""));
    stage_put(&s, "pod p claim:c cpu=1");
    struct engine *k = s.engine;
    struct cluster *c = k->cluster;
    pod_id pod = {0};
    struct class *class = classes_of(&k->classes, pods_at(&c->pods, pod)->shape);
    struct txn t = txn_begin(c);
    cluster_place(c, pod, (node_id){0});
    engine_reserve(k, pod, class, &s.effects.mem);
    sym v = names_find(&c->names, STR("v"));
    EXPECT(volumes_volume(&c->volumes, v)->claim_name != SYM_NONE);
    EXPECT(volumes_told_volume(&c->volumes, v)->claim_name == SYM_NONE);
    txn_undo(c, t);
    engine_give_up(k, pod);
    EXPECT(volumes_volume(&c->volumes, v)->claim_name == SYM_NONE);
    EXPECT_INT(k->prebind->all.n, 0);
    stage_run(&s);
    EXPECT(write_of(&s, "v"));
}

TEST(prebind, a_pod_that_must_give_way_meanwhile_waits_again_and_is_not_deleted)
{
    AUTO(stage) s = {0};
    open(&s);
    REQUIRE(write_of(&s, "v"));
    effect_id write = write_of(&s, "v")->id;
    stage_put(&s, "pod high cpu=8 priority=9");
    stage_run(&s);
    bool is_told = false, is_news = false;
    vec_each(&s.effects.list, e) {
        EXPECT(e->kind != EFFECT_EVICT);
        is_news |= e->kind == EFFECT_WARN && str_equal(e->by_uid, STR("high")) &&
                   str_equal(e->message,
                             STR("Preempted by pod high on node n (in kube-scheduler memory)."));
        is_told |=
            e->kind == EFFECT_FAIL &&
            str_equal(e->message, STR("running PreBind plugin \"VolumeBinding\": preempted by "
                                      "DefaultPreemption"));
    }
    EXPECT(is_told && is_news);
    EXPECT_TEXT(stage_fate(&s, "p"), "backing off");
    engine_settle(s.engine, s.now_ms, write, NULL);
    EXPECT_INT(s.engine->prebind->all.n, 0);
    s.now_ms = 1000;
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "high"), "assumed on n");
}

TEST(prebind, no_more_is_decided_than_can_be_settled)
{
    AUTO(stage) s = {.config = {.max_unsettled = 1}};
    open(&s);
    REQUIRE(write_of(&s, "v"));
    effect_id write = write_of(&s, "v")->id;
    stage_put(&s, "pod q cpu=1");
    EXPECT_INT(stage_run(&s), 0);
    engine_settle(s.engine, s.now_ms, write, NULL);
    EXPECT_INT(stage_run(&s), 1); /* p waits, and q is bound */
}

TEST(prebind, who_waits_for_a_volume_gets_one_that_is_given_back)
{
    AUTO(stage) s = {0};
    open(&s);
    REQUIRE(write_of(&s, "v"));
    effect_id write = write_of(&s, "v")->id;
    stage_put(&s, CLAIM("d", "8", "", ""));
    stage_put(&s, "pod q claim:d");
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "q"), "parked");
    struct error why = {0};
    error_set(&why, ERROR_DENIED, "no");
    engine_settle(s.engine, s.now_ms, write, &why);
    stage_run(&s);
    EXPECT_TEXT(stage_fate(&s, "q"), "assumed on n");
}
