"""What drivers tell of GPUs decides, at once, and what was decided is handed over with the binding."""

from plane import node, pod
from reservations import kubectl
from stage import AT_ONCE, test, until

API = "resource.k8s.io/v1"
VRAM = "scheduling.kubenexus.io/vram-request"


def gpu(number, memory="80Gi", domain="x"):
    return {"name": "gpu-%d" % number, "capacity": {"memory": {"value": memory}},
            "attributes": {"uuid": {"string": "GPU-%d" % number}, "nvlinkDomain": {"string": domain},
                           "resource.kubernetes.io/numaNode": {"int": number % 2}}}


def supply(stage, name, *gpus, generation=1):
    """A slice of the node, made or changed."""
    path = stage.plane.path("ResourceSlice", name, api=API)
    slice_ = {"apiVersion": API, "kind": "ResourceSlice", "metadata": {"name": name}, "spec": {
        "driver": "gpu.example.com", "nodeName": name, "devices": list(gpus),
        "pool": {"name": name, "generation": generation, "resourceSliceCount": 1}}}
    if generation == 1:
        return stage.plane.create(slice_)
    slice_["metadata"] = stage.plane.request("GET", path)["metadata"]
    return stage.plane.request("PUT", path, slice_)


def ask(stage, name, count, **annotations):
    made = pod(name, namespace=stage.name, schedulerName="kubenexus-scheduler",
               extended={"nvidia.com/gpu": str(count)} if count else {})
    made["metadata"]["annotations"] = annotations
    return stage.plane.create(made)


def handed_over(stage, name):
    until(lambda: stage.nodes_of().get(name))
    found = stage.plane.request("GET", stage.plane.path("Pod", name, stage.name))
    return {key.split("/")[1]: value for key, value in found["metadata"].get("annotations", {}).items()
            if key.startswith("kubenexus.io/")}


@test
def hands_gpus_over_and_finds_them_after_a_restart(stage):
    stage.plane.create(node("four", extended={"nvidia.com/gpu": "4"}))
    supply(stage, "four", *[gpu(i, domain="ab"[i % 2]) for i in range(4)])
    first = stage.run_synced()
    ask(stage, "a", 1)
    assert handed_over(stage, "a") == {"gpus": "0", "gpu-uuids": "GPU-0"}
    ask(stage, "b", 2)
    assert handed_over(stage, "b") == {"gpus": "1,3", "gpu-uuids": "GPU-1,GPU-3"}
    stage.pod("plain")
    assert handed_over(stage, "plain") == {}
    stage.plane.stop(first)
    stage.plane.request("DELETE", stage.plane.path("Pod", "a", stage.name), AT_ONCE)
    stage.run_synced()
    ask(stage, "c", 2)  # whoever forgot what b has would give the same once more
    assert handed_over(stage, "c") == {"gpus": "0,2", "gpu-uuids": "GPU-0,GPU-2"}


@test
def follows_what_drivers_tell_of_gpus(stage):
    stage.plane.create(node("one-gpu", extended={"nvidia.com/gpu": "1"},
                            labels={"nvidia.com/gpu.memory": "81920"}))
    supply(stage, "one-gpu", gpu(0, memory="40Gi"))
    stage.run_synced()
    ask(stage, "large", 1, **{VRAM: "70Gi"})
    assert "GPUs with too little memory" in stage.wait_refused("large")["message"]
    supply(stage, "one-gpu", gpu(0, memory="80Gi"), generation=2)
    assert handed_over(stage, "large")["gpus"] == "0"


@test
def shares_a_gpu_and_keeps_whole_ones_apart(stage):
    stage.plane.create(node("two-gpus", extended={"nvidia.com/gpu": "2"}))
    supply(stage, "two-gpus", gpu(0), gpu(1))
    stage.run_synced()
    ask(stage, "half", 0, **{"gpu-fraction": "0.5"})
    assert handed_over(stage, "half") == {"gpus": "0", "gpu-uuids": "GPU-0"}
    ask(stage, "other-half", 0, **{"gpu-memory": "40960"})  # MiB of 80Gi
    assert handed_over(stage, "other-half") == {"gpus": "0", "gpu-uuids": "GPU-0"}
    ask(stage, "whole", 1)
    assert handed_over(stage, "whole") == {"gpus": "1", "gpu-uuids": "GPU-1"}
    ask(stage, "late", 0, **{"gpu-fraction": "0.1"})
    assert "too little left of their GPUs" in stage.wait_refused("late")["message"]


NRT = "topology.node.k8s.io/v1alpha2"


def serve_topologies(stage):
    """What node feature discovery installs, as far as we read it."""
    if stage.is_served(NRT, "NodeResourceTopology"):
        return
    stage.plane.create({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "noderesourcetopologies.topology.node.k8s.io",
                     "annotations": {"api-approved.kubernetes.io": "unapproved, for a test"}},
        "spec": {"group": "topology.node.k8s.io", "scope": "Cluster", "names": {
            "kind": "NodeResourceTopology", "plural": "noderesourcetopologies", "singular": "noderesourcetopology"},
                 "versions": [{"name": "v1alpha2", "served": True, "storage": True, "schema": {"openAPIV3Schema": {
                     "type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}})
    stage.wait_served(NRT, "NodeResourceTopology")


def zones(*cpus):
    def resource(name, has, available):
        return {"name": name, "capacity": has, "allocatable": has, "available": available}
    return [{"name": "node-%d" % i, "type": "Node", "resources": [
        resource("cpu", "8", cpu), resource("memory", "16Gi", "16Gi")]} for i, cpu in enumerate(cpus)]


@test
def counts_what_nodes_report_of_their_numa_nodes(stage):
    serve_topologies(stage)
    stage.plane.create(node("reports", cpu="16", memory="32Gi"))
    report = stage.plane.create({"apiVersion": NRT, "kind": "NodeResourceTopology", "metadata": {"name": "reports"},
                                 "zones": zones("3", "2")})
    stage.run_synced()
    made = pod("strict", namespace=stage.name, schedulerName="kubenexus-scheduler", cpu="4")
    made["metadata"]["annotations"] = {"scheduling.kubenexus.io/numa-policy": "single-numa-node"}
    stage.plane.create(made)
    assert "no room on one NUMA node" in stage.wait_refused("strict")["message"]
    report["zones"] = zones("3", "6")
    stage.plane.request("PUT", stage.plane.path("NodeResourceTopology", "reports", api=NRT), report)
    assert handed_over(stage, "strict") == {"numa": "1"}


def guaranteed(stage, name, cpu, containers=1):
    made = pod(name, namespace=stage.name, schedulerName="kubenexus-scheduler", cpu=cpu, memory="1Gi")
    resources = made["spec"]["containers"][0]["resources"]
    resources["limits"] = dict(resources["requests"])
    made["spec"]["containers"] = [{**made["spec"]["containers"][0], "name": "c%d" % i} for i in range(containers)]
    stage.plane.create(made)


@test
def keeps_pods_off_nodes_whose_kubelet_would_turn_them_away(stage):
    """Policy and scope as node feature discovery's topology updater writes them."""
    serve_topologies(stage)
    stage.plane.create(node("aligns", cpu="16", memory="32Gi"))
    report = stage.plane.create({
        "apiVersion": NRT, "kind": "NodeResourceTopology", "metadata": {"name": "aligns"},
        "topologyPolicies": ["SingleNUMANodePodLevel"],
        "attributes": [{"name": "topologyManagerPolicy", "value": "single-numa-node"},
                       {"name": "topologyManagerScope", "value": "pod"}], "zones": zones("8", "8")})
    stage.run_synced()
    guaranteed(stage, "wide", "9")
    assert "a kubelet that could never align it" in stage.wait_refused("wide")["message"]
    guaranteed(stage, "first", "6")
    assert handed_over(stage, "first") == {"numa": "0"}
    guaranteed(stage, "two", "3", containers=2)
    assert handed_over(stage, "two") == {"numa": "1"}
    guaranteed(stage, "third", "3")
    assert "a kubelet that could not align it" in stage.wait_refused("third")["message"]
    report["attributes"][0]["value"] = "best-effort"
    stage.plane.request("PUT", stage.plane.path("NodeResourceTopology", "aligns", api=NRT), report)
    assert stage.wait_bound(3)["third"] == "aligns"
    stage.plane.request("DELETE", stage.plane.path("CustomResourceDefinition",
                                                   "noderesourcetopologies.topology.node.k8s.io"))


@test
def says_once_which_labels_of_a_node_mean_nothing(stage):
    name = stage.name[:20] + "-wrong"
    labels = {"numa.kubenexus.io/node-count": "two", "gpu.kubenexus.io/vram": "80Gi"}
    stage.plane.create(node(name, labels=labels))
    stage.run_synced()

    def events():
        return [e for e in stage.plane.list("Event", "default", api="events.k8s.io/v1")
                if e["regarding"]["kind"] == "Node" and e["regarding"]["name"] == name]
    until(lambda: len(events()) == 1)
    assert (events()[0]["type"], events()[0]["reason"]) == ("Warning", "MalformedValue"), events()
    assert events()[0]["note"] == ('numa.kubenexus.io/node-count: "two" means nothing, '
                                   "expected is a number from 1 to 8"), events()
    path = stage.plane.path("Node", name)
    for key, value in {"other": "label", "gpu.kubenexus.io/vram": "much"}.items():
        found = stage.plane.request("GET", path)
        found["metadata"]["labels"][key] = value
        stage.plane.request("PUT", path, found)
    until(lambda: len(events()) > 1)  # of the label that is wrong now, not of the other one
    notes = [e["note"] for e in events()]
    assert len(notes) == 2 and any('gpu.kubenexus.io/vram: "much"' in n for n in notes), notes
    assert "MalformedValue" in kubectl(stage, "describe", "node", name)
