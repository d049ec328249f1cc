"""What is put on the API server: nodes, pods and what is written about them, as bench-client reads
requests."""

import datetime
import json

from plane import node, pod

PATCH = "application/strategic-merge-patch+json"
GPU = "nvidia.com/gpu"
GROUP = "pod-group.scheduling.kubenexus.io/"
SPREAD = [{"maxSkew": 5, "topologyKey": "topology.kubernetes.io/zone",
           "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"app": "bench"}}}]


def line(verb, path, body, content_type="application/json"):
    return "\t".join((verb, path, content_type, json.dumps(body, separators=(",", ":")))) + "\n"


def post(obj, *where):
    return line("POST", "/".join(("/api/v1", *where)), obj)


# Shapes: how the nodes and the pods of one look. There is room for every pod.

def node_of(shape, i):
    labels = {"topology.kubernetes.io/zone": "zone-%d" % (i % 3)}
    return node("node-%d" % i, cpu="32", memory="256Gi", labels=labels,
                extended={GPU: "8"} if shape == "gpu" else None)


def pod_of(shape, i):
    how = {}
    if shape == "gpu":  # every fourth asks for two
        how = {"cpu": "1", "memory": "4Gi", "extended": {GPU: "2" if i % 4 == 0 else "1"}}
    elif shape == "spread":
        how = {"topologySpreadConstraints": SPREAD}
    made = pod("pod-%d" % i, labels={"app": "bench"}, **how)
    if gang_size(shape):
        join(made, shape, i)
    return made


# Gangs: gang-N has two labels on each pod (N = 1: the same, and no gang), native-N a PodGroup of
# Kubernetes' own for each gang.

def gang_size(shape):
    """0: no gangs."""
    kind, _, size = shape.partition("-")
    return int(size) if kind in ("gang", "native") and size.isdigit() else 0


def join(obj, shape, i):
    name, size = "gang-%d" % (i // gang_size(shape)), gang_size(shape)
    if shape.startswith("native"):
        obj["spec"]["schedulingGroup"] = {"podGroupName": name}
    else:
        obj["metadata"]["labels"].update({GROUP + "name": name, GROUP + "min-available": str(size)})


def create_groups(shape, pods):
    if not shape.startswith("native"):
        return ""
    size = gang_size(shape)
    return "".join(line("POST", "/apis/scheduling.k8s.io/v1beta1/namespaces/default/podgroups",
                        {"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup",
                         "metadata": {"name": "gang-%d" % i},
                         "spec": {"schedulingPolicy": {"gang": {"minCount": size}}}})
                   for i in range(pods // size))


def create_nodes(shape, count):
    return "".join(post(node_of(shape, i), "nodes") for i in range(count))


def create_pods(shape, count, nodes=0, scheduler="default-scheduler"):
    """With `nodes`, the pods are bound to them as they are made."""
    def made(i):
        obj = pod_of(shape, i)
        obj["spec"]["schedulerName"] = scheduler
        if nodes:
            obj["spec"]["nodeName"] = "node-%d" % (i % nodes)
        return post(obj, "namespaces/default/pods")
    return "".join(map(made, range(count)))


def delete_pods(count):
    now = {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0}
    return "".join(line("DELETE", "/api/v1/namespaces/default/pods/pod-%d" % i, now)
                   for i in range(count))


def pairs(pods, nodes):
    """Pods with nodes chosen beforehand, round robin."""
    def pair(i, of):
        meta = of["metadata"]
        return "%s %s %s %s node-%d\n" % (meta["namespace"], meta["name"], meta["uid"],
                                         meta["resourceVersion"], i % nodes)
    return "".join(pair(i, of) for i, of in enumerate(pods))


# Noise: what kubelets write all day.

def heartbeats(nodes, pods, seconds, pod_updates):
    """Every node's status once in 10 s, and so many pods' a second, in one stream."""
    per_s = nodes // 10 + pod_updates
    text = []
    for i in range(per_s * seconds):
        second, place = divmod(i, per_s)
        stamp = (datetime.datetime(2030, 1, 1, tzinfo=datetime.timezone.utc)
                 + datetime.timedelta(seconds=second)).strftime("%Y-%m-%dT%H:%M:%SZ")
        if place < pod_updates:
            at = (second * pod_updates + place) % pods
            text.append(line("PATCH", "/api/v1/namespaces/default/pods/pod-%d/status" % at,
                             {"status": {"conditions": [
                                 {"type": "Ready", "status": "True", "lastProbeTime": stamp}]}},
                             PATCH))
        else:
            at = (second * (nodes // 10) + place - pod_updates) % nodes
            text.append(line("PATCH", "/api/v1/nodes/node-%d/status" % at,
                             {"status": {"conditions": [
                                 {"type": "Ready", "status": "True", "lastHeartbeatTime": stamp}]}},
                             PATCH))
    return per_s, "".join(text)
