"""States a pod can be in, and what real objects carry that no scheduler reads."""

from objects import amounts, bind, obj, terminate


def gates(scene):
    rng = scene.rng
    target = scene.target
    if rng.chance(0.4):
        target["spec"]["schedulingGates"] = [
            {"name": n} for n in rng.sample(["example.com/quota", "wait", "b.example/ready"], rng.randint(1, 3))]
    elif rng.chance(0.3) and scene.nodes:  # asked about a pod that runs: where would it go?
        bind(target, rng.choice(scene.node_names()), rng)
    if rng.chance(0.15):
        terminate(target)
    for p in scene.pods:
        if rng.chance(0.3):
            terminate(p)
        elif rng.chance(0.2):
            p["status"]["phase"] = rng.pick("Succeeded", "Failed", "Pending", "Unknown")
    for _ in range(rng.randint(0, 3)):  # pods that wait take no room
        p = scene.add_pod(None)
        if rng.chance(0.5):
            p["spec"]["schedulingGates"] = [{"name": "wait"}]
    for _ in range(rng.randint(0, 2)):  # nor do pods on a node that is gone
        scene.add_pod({"metadata": {"name": "gone"}})


VOLUMES = [
    {"emptyDir": {"medium": "Memory", "sizeLimit": "64Mi"}},
    {"configMap": {"name": "settings", "items": [{"key": "a", "path": "a"}]}},
    {"secret": {"secretName": "token", "defaultMode": 420}},
    {"hostPath": {"path": "/var/log", "type": "Directory"}},
    {"projected": {"sources": [{"serviceAccountToken": {"path": "token", "expirationSeconds": 3607}},
                               {"downwardAPI": {"items": [{"path": "name", "fieldRef": {
                                   "fieldPath": "metadata.name"}}]}}]}},
    {"nfs": {"server": "nfs.example", "path": "/"}},
]


def _grown(rng, p):
    """A pod as a real API server shows it."""
    p["metadata"].update({
        "annotations": {"example.com/note": "line one\nline \"two\": {not: yaml} # nor a comment"},
        "creationTimestamp": "2026-03-01T07:59:59Z", "generation": 1, "generateName": "x-",
        "resourceVersion": str(rng.randint(1000, 9999)),
        "managedFields": [{"manager": "kubectl", "operation": "Update", "apiVersion": "v1",
                           "time": "2026-03-01T07:59:59Z", "fieldsType": "FieldsV1",
                           "fieldsV1": {"f:metadata": {"f:labels": {".": {}, "f:app": {}}}}}]})
    spec = p["spec"]
    spec.update({"restartPolicy": "Always", "dnsPolicy": "ClusterFirst", "enableServiceLinks": True,
                 "terminationGracePeriodSeconds": 30, "securityContext": {"runAsUser": 1000},
                 "serviceAccountName": "default", "preemptionPolicy": "PreemptLowerPriority"})
    spec.setdefault("schedulerName", "default-scheduler")
    spec["volumes"] = spec.get("volumes", []) + [
        {"name": "v%d" % i, **v} for i, v in enumerate(rng.some(VOLUMES, 3))]
    c = spec["containers"][0]
    c.update({"imagePullPolicy": "IfNotPresent", "terminationMessagePath": "/dev/termination-log",
              "terminationMessagePolicy": "File", "command": ["sh", "-c", "sleep 1e9"],
              "env": [{"name": "EMPTY"}, {"name": "YES", "value": "yes"},
                      {"name": "IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}],
              "readinessProbe": {"httpGet": {"path": "/", "port": 80}, "periodSeconds": 10}})
    p["status"].setdefault("conditions", []).append(
        {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "lastProbeTime": None,
         "lastTransitionTime": "2026-03-01T08:00:00Z", "message": "0/3 nodes are available: …"})


def noise(scene):
    rng = scene.rng
    for p in scene.pods + [scene.target]:
        if rng.chance(0.5):
            _grown(rng, p)
    for n in scene.nodes:
        if rng.chance(0.5):
            n["metadata"]["annotations"] = {"volumes.kubernetes.io/controller-managed-attach-detach": "true"}
            n["spec"].update({"podCIDR": "10.0.0.0/24", "podCIDRs": ["10.0.0.0/24"],
                              "providerID": "example://" + n["metadata"]["name"]})
            n["status"].update({
                "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}],
                "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
                "nodeInfo": {"architecture": "amd64", "operatingSystem": "linux", "bootID": "", "machineID": "",
                             "kernelVersion": "6.1.0", "kubeletVersion": "v1.37.0", "systemUUID": "",
                             "containerRuntimeVersion": "containerd://2.0", "kubeProxyVersion": "",
                             "osImage": "Debian GNU/Linux 12 (bookworm)"}})
            n["status"]["capacity"].update(amounts(rng, storage=1 << 40))
    known = {o["metadata"]["name"] for o in scene.others if o["kind"] == "Namespace"}
    for name in scene.NAMESPACES:
        if rng.chance(0.4) and name not in known:
            scene.others.append(obj("Namespace", name, spec={"finalizers": ["kubernetes"]}, status={"phase": "Active"}))
    if rng.chance(0.3):
        scene.others.append(obj("PriorityClass", "high", api="scheduling.k8s.io/v1", value=100, description="more"))
    if rng.chance(0.3):
        scene.others.append(obj("PodDisruptionBudget", "pdb", scene.namespace, api="policy/v1", spec={
            "minAvailable": 1, "selector": {"matchLabels": {"app": "a"}}}, status={
            "disruptionsAllowed": 1, "currentHealthy": 2, "desiredHealthy": 1, "expectedPods": 2}))
    if rng.chance(0.2):
        scene.others.append(obj("Job", "batch", scene.namespace, api="batch/v1", spec={
            "parallelism": 2, "completions": 2, "completionMode": "Indexed", "template": {
                "metadata": {"labels": {"app": "a"}}, "spec": {
                    "restartPolicy": "Never", "containers": [{"name": "c", "image": "x"}]}}}))
