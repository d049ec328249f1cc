"""Gangs whose sizes stand in the objects of their owners. There are no operators here: the objects are what users write,
the pods what operators make of them; Jobs have their own controller."""

import re

from plane import node, pod
from stage import condition, test, until

AUTO = {"kubenexus.io/gang": "auto"}
MERGE = "application/merge-patch+json"
# Of each kind: where it lives, what it says, and the labels and the controller of each of its four pods.
OWNERS = {
    "JobSet": ("jobset.x-k8s.io/v1alpha2", {"replicatedJobs": [
        {"name": "leader", "template": {"spec": {"parallelism": 1}}},
        {"name": "workers", "replicas": 3, "template": {"spec": {"parallelism": 1, "completions": 1}}}]},
        [({"jobset.sigs.k8s.io/jobset-name": "own", "jobset.sigs.k8s.io/replicatedjob-name": role,
           "batch.kubernetes.io/job-name": "own-" + name}, ("batch/v1", "Job", "own-" + name))
         for role, name in (("leader", "leader-0"), *(("workers", "workers-%d" % i) for i in range(3)))]),
    "MPIJob": ("kubeflow.org/v2beta1", {"mpiReplicaSpecs": {"Launcher": {}, "Worker": {"replicas": 3}}},
               [({"training.kubeflow.org/job-name": "own", "training.kubeflow.org/job-role": "launcher",
                  "batch.kubernetes.io/job-name": "own-launcher"}, ("batch/v1", "Job", "own-launcher"))] +
               [({"training.kubeflow.org/job-name": "own", "training.kubeflow.org/job-role": "worker"},
                 ("kubeflow.org/v2beta1", "MPIJob", "own"))] * 3),
    "TFJob": ("kubeflow.org/v1", {"tfReplicaSpecs": {"PS": {"replicas": 1}, "Worker": {"replicas": 3}}},
              [({"training.kubeflow.org/job-name": "own"}, ("kubeflow.org/v1", "TFJob", "own"))] * 4),
    "RayCluster": ("ray.io/v1", {"headGroupSpec": {}, "workerGroupSpecs": [
        {"groupName": "gpu", "replicas": 1, "numOfHosts": 3}]},
        [({"ray.io/cluster": "own"}, ("ray.io/v1", "RayCluster", "own"))] * 4),
}


def plural(kind):
    return kind.lower() + "s"


def serve(stage, kind):
    group, version = OWNERS[kind][0].split("/")
    if stage.is_served(OWNERS[kind][0], kind):
        return
    stage.plane.create({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": plural(kind) + "." + group, "annotations": {
            "api-approved.kubernetes.io": "https://github.com/kubernetes-sigs/jobset"}},
        "spec": {"group": group, "scope": "Namespaced",
                 "names": {"kind": kind, "plural": plural(kind), "singular": kind.lower(), "listKind": kind + "List"},
                 "versions": [{"name": version, "served": True, "storage": True, "schema": {
                     "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}})
    stage.wait_served(OWNERS[kind][0], kind)


def watchers(stage, kind):
    """How many watch the kind now."""
    text = stage.plane.request("GET", "/metrics")
    found = re.findall(r'^apiserver_longrunning_requests\{.*resource="%s".*\} (\d+)' % plural(kind), text, re.M)
    return sum(map(int, found))


def make_pods(stage, kind):
    for number, (labels, (api, owner, name)) in enumerate(OWNERS[kind][2]):
        made = pod("%s-%d" % (kind.lower(), number), namespace=stage.name, labels=labels,
                   schedulerName="kubenexus-scheduler", extended={"example.com/" + kind.lower(): "1"})
        made["metadata"]["annotations"] = AUTO
        made["metadata"]["ownerReferences"] = [
            {"apiVersion": api, "kind": owner, "name": name, "uid": "uid-" + name, "controller": True}]
        stage.plane.create(made)


def bound(stage):
    return sorted(name for name, at in stage.nodes_of().items() if at)


@test
def owners_that_say_how_many_pods_they_make_have_them_at_once(stage):
    for kind in OWNERS:
        serve(stage, kind)
    stage.plane.create(node("few", extended={"example.com/" + kind.lower(): "3" for kind in OWNERS}))
    scheduler = stage.run_synced()
    until(lambda: not any(watchers(stage, kind) for kind in OWNERS))  # nobody has asked yet
    for kind, (api, spec, _) in OWNERS.items():
        make_pods(stage, kind)
        if kind != "JobSet":  # whose object comes later
            stage.plane.create({"apiVersion": api, "kind": kind, "spec": spec,
                                "metadata": {"name": "own", "namespace": stage.name}})
    for kind in OWNERS:
        wanted = ("pod group own does not exist: waiting for a JobSet of jobset.x-k8s.io" if kind == "JobSet" else
                  "gang own needs 4 x (1 example.com/" + kind.lower())
        assert stage.wait_told("%s-0" % kind.lower(), wanted).startswith(wanted)
    assert not bound(stage), bound(stage)
    until(lambda: all(watchers(stage, kind) == 1 for kind in OWNERS))
    api, spec, _ = OWNERS["JobSet"]
    stage.plane.create({"apiVersion": api, "kind": "JobSet", "spec": spec,
                        "metadata": {"name": "own", "namespace": stage.name}})
    stage.wait_told("jobset-0", "gang own needs 4")
    stage.plane.create(node("one", extended={"example.com/" + kind.lower(): "1" for kind in OWNERS}))
    where = stage.wait_bound(4 * len(OWNERS))
    assert sorted(where.values()).count("one") == len(OWNERS), where
    warned = [w for w in stage.warnings(scheduler) if "(re)initializing" not in w]  # of a kind that is new
    assert not warned, warned


@test
def owners_that_shrink_let_the_rest_start(stage):
    serve(stage, "RayCluster")
    api, spec, _ = OWNERS["RayCluster"]
    stage.plane.create(node("few", extended={"example.com/raycluster": "3"}))
    stage.run_synced()
    stage.plane.create({"apiVersion": api, "kind": "RayCluster", "spec": spec,
                        "metadata": {"name": "own", "namespace": stage.name}})
    make_pods(stage, "RayCluster")
    stage.wait_told("raycluster-0", "short of 1 example.com/raycluster")
    fewer = [{**spec["workerGroupSpecs"][0], "numOfHosts": 2}]
    stage.plane.request("PATCH", "/apis/%s/namespaces/%s/rayclusters/own" % (api, stage.name),
                        {"spec": {"workerGroupSpecs": fewer}}, content_type=MERGE)
    stage.wait_bound(3)


def job(stage, name, template):
    return stage.plane.create({
        "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "namespace": stage.name},
        "spec": {"parallelism": 4, "completions": 4, "completionMode": "Indexed", "template": {
            "metadata": template, "spec": {
                "schedulerName": "kubenexus-scheduler", "restartPolicy": "Never", "containers": [
                    {"name": "w", "image": "app:1", "resources": {"limits": {"example.com/" + name: "1"}}}]}}}})


@test
def owners_that_are_jobs_are_gangs_only_if_they_ask(stage):
    controllers = stage.plane.start_controller_manager("--controllers=job-controller")
    try:
        stage.plane.create(node("few", extended={"example.com/plain": "3", "example.com/asked": "3"}))
        scheduler = stage.run_synced()
        job(stage, "plain", {})
        job(stage, "asked", {"annotations": AUTO})

        def waiting():
            return [p for p in stage.plane.list("Pod", stage.name)
                    if p["metadata"]["labels"]["batch.kubernetes.io/job-name"] == "asked" and
                    condition(p).get("message", "").startswith("gang asked needs 4 x (1 example.com/asked")]
        until(lambda: len(waiting()) == 4)
        until(lambda: len(bound(stage)) == 3)
        assert all(name.startswith("plain") for name in bound(stage)), bound(stage)
        stage.plane.create(node("one", extended={"example.com/asked": "1"}))
        stage.wait_bound(7)
        assert not stage.warnings(scheduler), stage.warnings(scheduler)
    finally:
        stage.plane.stop(controllers)
        stage.plane.wipe("jobs/%s/" % stage.name, "pods/%s/" % stage.name)
