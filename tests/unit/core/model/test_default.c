#include "core/model/default.h"

#include "core/wire/json_read.h"
#include "support/test.h"

static struct object object_of(enum kind kind, struct str json, struct arena *mem)
{
    const struct kind_info *info = kind_info_get(kind);
    struct object object = {.kind = kind, .meta = arena_alloc(mem, info->size)};
    struct error e = {0};
    size_t where;
    if (!json_read(json, info->fields, object.meta, mem, &where, &e))
        EXPECT_TEXT(e.text, "");
    object_default(&object, mem);
    object_default(&object, mem); /* a second time changes nothing */
    return object;
}

TEST(object_default, gives_a_pod_what_a_stored_pod_has)
{
    AUTO(arena) mem = {0};
    struct pod *pod =
        object_of(KIND_POD, STR("{\"metadata\":{\"name\":\"a\"},\"spec\":{\"containers\":[{}]}}"),
                  &mem)
            .pod;
    EXPECT_STR(pod->meta.namespace, "default");
    EXPECT_STR(pod->meta.uid, "Pod/default/a");
    EXPECT_STR(pod->spec.scheduler_name, "default-scheduler");
    EXPECT_STR(pod->status.phase, "Pending");
    EXPECT(!pod->spec.has_priority);
    EXPECT_INT(pod->spec.containers.at[0].resources.requests.n, 0);
}

TEST(object_default, leaves_what_is_there)
{
    AUTO(arena) mem = {0};
    struct pod *pod =
        object_of(KIND_POD,
                  STR("{\"metadata\":{\"name\":\"a\",\"namespace\":\"n\",\"uid\":\"u\"},"
                      "\"spec\":{\"schedulerName\":\"s\"},"
                      "\"status\":{\"phase\":\"Failed\"}}"),
                  &mem)
            .pod;
    EXPECT_STR(pod->meta.namespace, "n");
    EXPECT_STR(pod->meta.uid, "u");
    EXPECT_STR(pod->spec.scheduler_name, "s");
    EXPECT_STR(pod->status.phase, "Failed");
}

TEST(object_default, makes_requests_of_limits_that_have_none)
{
    AUTO(arena) mem = {0};
    struct pod *pod =
        object_of(KIND_POD,
                  STR("{\"spec\":{\"containers\":[{\"resources\":{\"limits\":{\"cpu\":2,\"memory\":"
                      "\"1Gi\"},"
                      "\"requests\":{\"cpu\":1}}}],\"initContainers\":[{\"resources\":{\"limits\":"
                      "{\"cpu\":3}}}],\"resources\":{\"limits\":{\"cpu\":4}}}}"),
                  &mem)
            .pod;
    amount_list requests = pod->spec.containers.at[0].resources.requests;
    REQUIRE(requests.n == 2);
    EXPECT_STR(requests.at[0].name, "cpu");
    EXPECT_INT(quantity_value(requests.at[0].quantity), 1);
    EXPECT_STR(requests.at[1].name, "memory");
    EXPECT_INT(quantity_value(requests.at[1].quantity), 1 << 30);
    EXPECT_INT(pod->spec.init_containers.at[0].resources.requests.n, 1);
    EXPECT_INT(pod->spec.resources->requests.n,
               0); /* the pod's own come at creation, not by default */
}

TEST(object_default, opens_the_ports_of_a_pod_in_the_hosts_network_on_the_host)
{
    AUTO(arena) mem = {0};
    struct str spec =
        STR("{\"spec\":{\"hostNetwork\":true,\"containers\":[{\"ports\":[{\"containerPort\":80},"
            "{\"containerPort\":81,\"hostPort\":82,\"protocol\":\"UDP\"}]}]}}");
    struct pod *pod = object_of(KIND_POD, spec, &mem).pod;
    const struct container_port *ports = pod->spec.containers.at[0].ports.at;
    EXPECT_INT(ports[0].host_port, 80);
    EXPECT_STR(ports[0].protocol, "TCP");
    EXPECT_INT(ports[1].host_port, 82);
    EXPECT_STR(ports[1].protocol, "UDP");

    spec = STR("{\"spec\":{\"containers\":[{\"ports\":[{\"containerPort\":80}]}]}}");
    pod = object_of(KIND_POD, spec, &mem).pod;
    EXPECT_INT(pod->spec.containers.at[0].ports.at[0].host_port, 0);
}

TEST(object_default, lets_a_node_without_allocatable_give_all_it_has)
{
    AUTO(arena) mem = {0};
    struct node *node =
        object_of(KIND_NODE, STR("{\"status\":{\"capacity\":{\"cpu\":4}}}"), &mem).node;
    EXPECT_INT(node->status.allocatable.n, 1);
    EXPECT_STR(node->meta.namespace, "");
    node = object_of(KIND_NODE, STR("{\"status\":{\"capacity\":{\"cpu\":4},\"allocatable\":{}}}"),
                     &mem)
               .node;
    EXPECT_INT(node->status.allocatable.n, 0);
}

TEST(object_default, labels_a_namespace_with_its_name)
{
    AUTO(arena) mem = {0};
    struct str json = STR("{\"metadata\":{\"name\":\"n\",\"labels\":{\"a\":\"1\",\"z\":\"2\"}}}");
    struct namespace *ns = object_of(KIND_NAMESPACE, json, &mem).namespace;
    REQUIRE(ns->meta.labels.n == 3);
    EXPECT_STR(ns->meta.labels.at[0].key, "a");
    EXPECT_STR(ns->meta.labels.at[1].key, "kubernetes.io/metadata.name");
    EXPECT_STR(ns->meta.labels.at[1].value, "n");
    EXPECT_STR(ns->meta.labels.at[2].key, "z");
    EXPECT_STR(ns->phase, "Active");

    json =
        STR("{\"metadata\":{\"name\":\"n\",\"labels\":{\"kubernetes.io/metadata.name\":\"lie\"}}}");
    ns = object_of(KIND_NAMESPACE, json, &mem).namespace;
    EXPECT_INT(ns->meta.labels.n, 1);
    EXPECT_STR(ns->meta.labels.at[0].value, "n");
}

TEST(object_default, lets_a_replication_controller_select_its_template)
{
    AUTO(arena) mem = {0};
    struct str json = STR("{\"spec\":{\"template\":{\"metadata\":{\"labels\":{\"a\":\"b\"}}}}}");
    struct object rc = object_of(KIND_REPLICATION_CONTROLLER, json, &mem);
    EXPECT_INT(rc.replication_controller->selector.n, 1);
    json = STR("{\"spec\":{\"selector\":{\"x\":\"y\"},\"template\":{\"metadata\":{\"labels\":{"
               "\"a\":\"b\"}}}}}");
    rc = object_of(KIND_REPLICATION_CONTROLLER, json, &mem);
    EXPECT_STR(rc.replication_controller->selector.at[0].key, "x");
}

TEST(object_default, counts_one_pod_for_a_job_that_does_not_say)
{
    AUTO(arena) mem = {0};
    struct job *job = object_of(KIND_JOB, STR("{}"), &mem).job;
    EXPECT_INT(job->parallelism, 1);
    EXPECT_INT(job->completions, 1);
    EXPECT(job->has_completions);
    EXPECT_STR(job->completion_mode, "NonIndexed");
    job = object_of(KIND_JOB, STR("{\"spec\":{\"parallelism\":3}}"), &mem).job;
    EXPECT_INT(job->parallelism, 3);
    EXPECT(!job->has_completions);
}

TEST(object_default, fills_in_what_volumes_leave_out)
{
    AUTO(arena) mem = {0};
    struct persistent_volume *v =
        object_of(KIND_PERSISTENT_VOLUME, STR("{\"spec\":{\"azureDisk\":{}}}"), &mem)
            .persistent_volume;
    EXPECT_STR(v->spec.mode, "Filesystem");
    EXPECT_STR(v->phase, "Pending");
    EXPECT_STR(v->spec.azure_disk->kind, "Shared");
    struct persistent_volume_claim *c =
        object_of(KIND_PERSISTENT_VOLUME_CLAIM, STR("{\"spec\":{\"volumeMode\":\"Block\"}}"), &mem)
            .persistent_volume_claim;
    EXPECT_STR(c->spec.mode, "Block");
    EXPECT_STR(c->phase, "Pending");
    EXPECT_STR(object_of(KIND_STORAGE_CLASS, STR("{}"), &mem).storage_class->binding_mode,
               "Immediate");
    struct str pod =
        STR("{\"spec\":{\"volumes\":[{\"rbd\":{}},{\"azureDisk\":{\"kind\":\"Managed\"}}]}}");
    struct pod *p = object_of(KIND_POD, pod, &mem).pod;
    EXPECT_STR(p->spec.volumes.at[0].rbd->pool, "rbd");
    EXPECT_STR(p->spec.volumes.at[1].azure_disk->kind, "Managed");
}
