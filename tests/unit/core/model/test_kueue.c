#include "core/model/kueue.h"

#include "support/objects.h"
#include "support/test.h"

#define BEGIN                                                                                      \
    "{'apiVersion':'kueue.x-k8s.io/v1beta1','kind':'Workload','metadata':{'name':'w',"             \
    "'namespace':'default'"

TEST(kueue, a_workload_waits_until_it_has_its_quota_or_is_over)
{
    static const struct {
        const char *meta, *spec, *conditions; /* "Type=Status …" */
        bool waits;
    } cases[] = {
        {"", "", "", true},
        {"", "", "QuotaReserved=False", true},
        {"", "", "PodsReady=True", true}, /* that is not about its quota */
        {"", "", "QuotaReserved=True", false},
        {"", "", "Admitted=True", false},
        {"", "", "Finished=True", false},
        {"", "", "Admitted=False Finished=True", false},
        {"", ",'active':false", "", false},
        {"", ",'active':true", "", true},
        {",'deletionTimestamp':'2026-01-01T00:00:00Z'", "", "", false},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        AUTO(arena) mem = {0};
        AUTO(buf) json = {0};
        test_case("%s%s %s", cases[i].meta, cases[i].spec, cases[i].conditions);
        buf_printf(&json, BEGIN "%s},'spec':{'queueName':'q'%s},'status':{'conditions':[",
                   cases[i].meta, cases[i].spec);
        for (struct str rest = str_of(cases[i].conditions); rest.n;) {
            struct str word = str_take(&rest, ' '), type = str_take(&word, '=');
            buf_printf(&json, "{'type':'" STR_FMT "','status':'" STR_FMT "'}%s", STR_ARG(type),
                       STR_ARG(word), rest.n ? "," : "");
        }
        buf_printf(&json, "]}}");
        struct object o = object_of_json(&mem, json.p);
        EXPECT_INT(kueue_workload_waits(o.kueue_workload), cases[i].waits);
    }
}

TEST(kueue, a_workload_says_how_many_pods_of_which_kind_will_come)
{
    AUTO(arena) mem = {0};
    struct object o = object_of_json(
        &mem,
        BEGIN "},'spec':{'queueName':'q','podSets':[{'count':4,'template':{'spec':{"
              "'containers':[{'name':'c','resources':{'requests':{'nvidia.com/gpu':'8'}}}]}}},"
              "{'count':1}]}}");
    const struct kueue_workload *w = o.kueue_workload;
    EXPECT_STR(w->queue, "q");
    REQUIRE(w->pod_sets.n == 2);
    EXPECT_INT(w->pod_sets.at[0].count, 4);
    REQUIRE(w->pod_sets.at[0].template && w->pod_sets.at[0].template->spec.containers.n == 1);
    EXPECT(!w->pod_sets.at[1].template);
}

TEST(kueue, a_local_queue_names_its_cluster_queue)
{
    AUTO(arena) mem = {0};
    struct object o = object_of_json(&mem, "{'apiVersion':'kueue.x-k8s.io/v1beta1','kind':"
                                           "'LocalQueue','metadata':{'name':'q','namespace':"
                                           "'default'},'spec':{'clusterQueue':'big'}}");
    EXPECT_STR(o.local_queue->cluster_queue, "big");
}
