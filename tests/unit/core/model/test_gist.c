#include "core/model/gist.h"

#include "core/model/check.h"
#include "core/wire/proto.h"
#include "support/test.h"

static struct envelope json(const char *kind, const char *text)
{
    return (struct envelope){ENCODING_JSON, STR("v1"), str_of(kind), str_of(text)};
}

#define POD(spec)                                                                                  \
    "{\"metadata\":{\"name\":\"p\",\"namespace\":\"s\",\"uid\":\"u\",\"labels\":7},\"spec\":{"     \
    "\"nodeName\":\"n\",\"schedulerName\":\"x\",\"priority\":9," spec "}}"

TEST(gist, has_who_and_where_a_pod_is_and_what_it_requests)
{
    struct arena mem = {0};
    struct object o;
    struct envelope v = json(
        "Pod",
        POD("\"tolerations\":\"none\",\"overhead\":{\"cpu\":\"1\"},\"containers\":[{\"name\":"
            "\"c\",\"ports\":[true],\"resources\":{\"requests\":{\"cpu\":\"2\",\"memory\":"
            "\"much\"}}}],\"initContainers\":[{\"name\":\"i\",\"restartPolicy\":\"Always\"}]"));
    EXPECT(gist_read(&v, STR("why"), &mem, &o));
    EXPECT_INT(o.kind, KIND_POD);
    EXPECT_STR(o.pod->unread, "why");
    EXPECT_STR(o.pod->meta.name, "p");
    EXPECT_STR(o.pod->meta.uid, "u");
    EXPECT_STR(o.pod->spec.node_name, "n");
    EXPECT_STR(o.pod->spec.scheduler_name, "x");
    EXPECT_INT(o.pod->spec.priority, 9);
    EXPECT_INT(o.pod->spec.overhead.n, 1);
    EXPECT_STR(o.pod->spec.init_containers.at[0].restart_policy, "Always");
    const amount_list *requests = &o.pod->spec.containers.at[0].resources.requests;
    EXPECT_INT(requests->n, 2);
    EXPECT_INT(quantity_milli(requests->at[0].quantity), 2000);
    EXPECT(quantity_value(requests->at[1].quantity) > (int64_t)1 << 46); /* more than there is */
    arena_done(&mem);
}

TEST(gist, of_a_pod_with_too_long_a_list_has_its_requests)
{
    struct arena mem = {0};
    AUTO(buf) pod = {0};
    struct object o;
    struct error e;
    size_t meta = proto_open(&pod, 1);
    proto_put_str(&pod, 1, STR("p"));
    proto_close(&pod, meta);
    size_t spec = proto_open(&pod, 2);
    proto_put_str(&pod, 10, STR("n"));
    for (int i = 0; i <= PROTO_COUNT_MOST; i++)
        proto_close(&pod, proto_open(&pod, 22)); /* a toleration */
    proto_close(&pod, spec);
    struct envelope v = {ENCODING_PROTO, STR("v1"), STR("Pod"), buf_str(&pod)};
    EXPECT(!envelope_object(&v, &mem, &o, &e));
    EXPECT(gist_read(&v, str_of(e.text), &mem, &o));
    EXPECT_STR(o.pod->spec.node_name, "n");
    EXPECT_STR(o.pod->unread, "Pod: spec.tolerations: more than 131072 elements");
    arena_done(&mem);
}

TEST(gist, of_a_node_is_that_it_takes_nobody)
{
    struct arena mem = {0};
    struct object o;
    struct envelope v =
        json("Node", "{\"metadata\":{\"name\":\"n\",\"uid\":\"u\"},\"spec\":{\"taints\":3}}");
    EXPECT(gist_read(&v, STR("why"), &mem, &o));
    EXPECT(o.node->spec.unschedulable);
    EXPECT_STR(o.node->meta.name, "n");
    v = json("Service", "{}");
    EXPECT(!gist_read(&v, STR("why"), &mem, &o));
    arena_done(&mem);
}
