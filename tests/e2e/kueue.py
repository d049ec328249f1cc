"""Beside Kueue: its queues say whose pods these are, what waits in them keeps islands whole, and what it holds back is
left alone. There is no controller here; the objects are what it would write."""

import re
import time

from plane import node, pod
from stage import PATIENCE, test, until

GROUP = "kueue.x-k8s.io"
VERSIONS = ["v1beta1", "v1beta2"]  # as Kueue serves them today; only the newer one is read
VERSION = GROUP + "/" + VERSIONS[-1]
GPU, TIER = "nvidia.com/gpu", "tenant.kubenexus.io/tier"
KINDS = {"ClusterQueue": "Cluster", "LocalQueue": "Namespaced", "Workload": "Namespaced"}
MERGE = "application/merge-patch+json"


def install(stage):
    for kind, scope in KINDS.items():
        plural = kind.lower() + "s"
        if not stage.is_served(VERSION, kind):
            stage.plane.create({
                "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
                "metadata": {"name": plural + "." + GROUP, "annotations": {
                    "api-approved.kubernetes.io": "https://github.com/kubernetes-sigs/kueue"}},
                "spec": {"group": GROUP, "scope": scope,
                         "names": {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": kind + "List"},
                         "versions": [{"name": name, "served": True, "storage": name == VERSIONS[-1], "schema": {
                             "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}
                                      for name in VERSIONS]}})
        stage.wait_served(VERSION, kind)


def queues(stage, tier):
    """A team's queue; its ClusterQueue says the tier."""
    stage.plane.create({"apiVersion": VERSION, "kind": "ClusterQueue",
                        "metadata": {"name": stage.name, "labels": {TIER: tier}}})
    stage.plane.create({"apiVersion": VERSION, "kind": "LocalQueue", "metadata": {"name": "team", "namespace": stage.name},
                        "spec": {"clusterQueue": stage.name}})


def queued(stage, name, gpus=1, **how):
    labels = {GROUP + "/queue-name": "team", **how.pop("labels", {})}
    return stage.plane.create(pod(name, namespace=stage.name, schedulerName="kubenexus-scheduler", labels=labels,
                                  extended={GPU: str(gpus)}, **how))


def asked(stage):
    """Requests that the server had for Kueue's objects and for namespaces, watches aside."""
    text = stage.plane.request("GET", "/metrics")
    lines = re.findall(r'^apiserver_request_total\{(.*)\} (\d+)', text, re.M)
    return sum(int(count) for labels, count in lines
               if re.search(r'resource="(clusterqueues|localqueues|workloads|namespaces)"', labels)
               and re.search(r'verb="(GET|LIST)"', labels))


@test
def a_tier_follows_its_queue_within_a_second_and_without_a_request(stage):
    install(stage)
    for tier in ("premium", "economy"):
        stage.plane.create(node(tier, extended={GPU: "8"}, labels={"hardware.kubenexus.io/tier": tier}))
    queues(stage, "gold")
    stage.run_synced()
    queued(stage, "first")
    assert stage.wait_bound(1)["first"] == "premium"
    stage.plane.request("PATCH", "/apis/%s/clusterqueues/%s" % (VERSION, stage.name),
                        {"metadata": {"labels": {TIER: "bronze"}}}, MERGE)
    before, begin, turns, where = asked(stage), time.monotonic(), [], ""
    while where != "economy" and time.monotonic() < begin + PATIENCE:
        name, start = "then-%d" % len(turns), time.monotonic()
        queued(stage, name)
        where = until(lambda sought=name: stage.nodes_of()[sought])
        stage.plane.delete("Pod", name, stage.name)
        turns.append(time.monotonic() - start)
    took = time.monotonic() - begin
    print("# followed after %.2f s; a pod takes up to %.2f s" % (took, max(turns)))
    assert took < 1 + 3 * max(turns), "and the machine is not that busy"
    for number in range(5):
        queued(stage, "later-%d" % number)
    where = stage.wait_bound(6)
    assert {where["later-%d" % number] for number in range(5)} == {"economy"}, where
    assert asked(stage) == before, "it follows by asking"


@test
def a_pending_workload_keeps_the_last_clean_island_clean(stage):
    install(stage)
    stage.plane.create({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "namespace": stage.name},
                        "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]}})
    for name, zone in (("started", "a"), ("clean", "b")):
        stage.plane.create(node(name, extended={GPU: "8"}, labels={"topology.kubernetes.io/zone": zone}))
    stage.plane.create({
        "apiVersion": VERSION, "kind": "Workload", "metadata": {"name": "train", "namespace": stage.name},
        "spec": {"queueName": "team", "podSets": [{"name": "main", "count": 1, "template": {"spec": {"containers": [
            {"name": "c", "image": "i", "resources": {"requests": {GPU: "8"}}}]}}}]}})
    replica = {"app": "web", "workload.kubenexus.io/type": "inference"}
    stage.plane.create(pod("old", namespace=stage.name, labels=replica, extended={GPU: "1"}, nodeName="started"))
    stage.run_synced()
    queued(stage, "web-0", labels=replica)
    assert stage.wait_bound(2)["web-0"] == "started"
    stage.plane.request("PATCH", "/apis/%s/namespaces/%s/workloads/train" % (VERSION, stage.name), {"status": {
        "conditions": [{"type": "Admitted", "status": "True", "reason": "Admitted", "message": "",
                        "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}, MERGE)
    queued(stage, "train-0", gpus=8)
    assert stage.wait_bound(3)["train-0"] == "clean"


@test
def what_kueue_holds_back_is_left_alone_until_it_is_admitted(stage):
    install(stage)
    stage.plane.create(node("gpus", extended={GPU: "8"}))
    stage.run_synced()
    queued(stage, "held", labels={GROUP + "/managed": "true"}, schedulingGates=[{"name": GROUP + "/admission"}])
    stage.plane.create(pod("foreign", namespace=stage.name, schedulerName="yunikorn", extended={GPU: "1"}))
    queued(stage, "free")
    assert set(name for name, at in stage.wait_bound(1).items() if at) == {"free"}
    held = stage.plane.get("Pod", "held", stage.name)
    assert [c["reason"] for c in held["status"]["conditions"]] == ["SchedulingGated"], held["status"]
    stage.plane.request("PATCH", "/api/v1/namespaces/%s/pods/held" % stage.name,
                        {"spec": {"schedulingGates": None, "nodeSelector": {"kubernetes.io/hostname": "gpus"}}}, MERGE)
    where = stage.wait_bound(2)
    assert where["held"] == "gpus" and not where.get("foreign"), where
    assert not stage.plane.get("Pod", "foreign", stage.name)["status"].get("conditions")
