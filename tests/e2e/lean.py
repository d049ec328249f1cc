"""With the rights of deploy/rbac.yaml alone: what can be done without the others is done, and the log says what is not."""

import re

from plane import node
from stage import test, until

GPU = "nvidia.com/gpu"
GANG = {"pod-group.scheduling.kubenexus.io/name": "lean", "pod-group.scheduling.kubenexus.io/min-available": "3"}


@test
def schedules_gangs_with_the_rights_that_it_cannot_do_without(stage):
    stage.plane.create(node("n", extended={GPU: "2"}))
    child = stage.run_alone(stage.plane.kubeconfig("lean"))
    stage.until_says(child, '"synced"')
    stage.pods(3, "lean-%d", labels=GANG, extended={GPU: "1"})
    for number in range(3):
        stage.wait_refused("lean-%d" % number)
    stage.plane.create(node("m", extended={GPU: "1"}))
    stage.wait_bound(3)
    missing = set(re.findall(r'"not allowed, goes on without" what="([^"]+)"', stage.log(child)))
    wanted = {"bounds by quotas for room that is held", "pods that claim devices", "taints of devices"}
    assert wanted <= missing, missing


@test
def who_may_evict_nobody_says_so_and_goes_on(stage):
    stage.plane.create({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
                        "metadata": {"name": "lean-high"}, "value": 1000})
    try:
        stage.plane.create(node("n", extended={GPU: "1"}))
        child = stage.run_alone(stage.plane.kubeconfig("lean"))
        stage.pod("low", extended={GPU: "1"})
        stage.wait_bound(1)
        stage.pod("high", extended={GPU: "1"}, priorityClassName="lean-high")
        stage.until_says(child, "cannot delete resource")
        stage.pod("plain")
        until(lambda: stage.nodes_of()["plain"])
        assert stage.nodes_of()["low"] == "n" and not stage.nodes_of()["high"]
    finally:
        stage.plane.delete("PriorityClass", "lean-high")
