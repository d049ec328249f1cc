"""Pods that are made one after the other: those who are there start when there is room for all, and nobody takes the
room of those who are still to come."""

from reservations import GPU
from plane import node
from stage import condition, test, until

MERGE = "application/merge-patch+json"
GROUP = "pod-group.scheduling.kubenexus.io/"


def room(stage, name, gpus):
    stage.plane.create(node(name, cpu="16", extended={GPU: str(gpus)}))


def ordered(stage, replicas):
    """A StatefulSet that waits for each of its pods, as Kueue marks the pods of one in a queue."""
    meta = {"labels": {"app": "s", "kueue.x-k8s.io/pod-group-name": "statefulset-s-1234"},
            "annotations": {"kueue.x-k8s.io/pod-group-total-count": str(replicas),
                            "kueue.x-k8s.io/pod-group-fast-admission": "true",
                            "kueue.x-k8s.io/pod-group-serving": "true"}}
    stage.plane.create({
        "apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "s", "namespace": stage.name},
        "spec": {"replicas": replicas, "serviceName": "s", "selector": {"matchLabels": {"app": "s"}},
                 "template": {"metadata": meta, "spec": {"schedulerName": "kubenexus-scheduler", "containers": [
                     {"name": "w", "image": "app:1", "resources": {"limits": {GPU: "1"}}}]}}}})


@test
def turns_of_a_stateful_set_begin_when_all_of_it_has_room(stage):
    controllers = [stage.plane.start_controller_manager("--controllers=statefulset-controller"), stage.plane.start_kwok()]
    try:
        room(stage, "busy", 4)  # what a namespace holds is half of the cluster at most
        stage.pod("other", extended={GPU: "4"}, nodeName="busy")
        room(stage, "few", 2)
        scheduler = stage.run_synced()
        ordered(stage, 4)
        said = stage.wait_refused("s-0")["message"]
        assert "needs" in said and "4" in said, said
        assert not stage.nodes_of()["s-0"], stage.nodes_of()
        room(stage, "more", 2)
        stage.wait_bound(2)
        stage.pod("thief", extended={GPU: "1"})  # while the others are still to come
        where = stage.wait_bound(5)
        assert sorted(where) == ["other", "s-0", "s-1", "s-2", "s-3"], where
        assert "Insufficient" in stage.wait_refused("thief")["message"]
        stage.plane.delete("Pod", "s-1", stage.name)  # and is made again
        stage.plane.wait_for("Pod", lambda p: p["metadata"]["name"] == "s-1" and p["spec"].get("nodeName") ==
                             where["s-1"] and "deletionTimestamp" not in p["metadata"], 1, 60, stage.name)
        assert "thief" not in stage.wait_bound(5)
        assert not stage.warnings(scheduler), stage.warnings(scheduler)
    finally:
        for child in controllers:
            stage.plane.stop(child)
        stage.plane.wipe("statefulsets/%s/" % stage.name, "pods/%s/" % stage.name)


@test
def turns_of_a_driver_with_the_labels_of_a_gang(stage):
    gang = {GROUP + "name": "pi", GROUP + "min-available": "3", "spark-app-id": "spark-pi"}
    stage.plane.create(node("few", cpu="2"))
    stage.run_synced()
    stage.pod("pi-driver", cpu="1", labels={**gang, "spark-role": "driver"})
    assert stage.wait_refused("pi-driver")
    stage.plane.create(node("one", cpu="1"))
    stage.wait_bound(1)
    stage.pod("thief", cpu="1")
    assert "Insufficient cpu" in stage.wait_refused("thief")["message"]
    for index in range(2):
        stage.pod("pi-exec-%d" % index, cpu="1", labels={**gang, "spark-role": "executor"})
    assert "thief" not in stage.wait_bound(3)
    assert condition(stage.plane.get("Pod", "thief", stage.name))["status"] == "False"


@test
def turns_of_a_lifted_gate_are_spoken_of_at_once(stage):
    gang = {GROUP + "name": "g", GROUP + "min-available": "3"}
    stage.plane.create(node("n"))
    stage.run_synced()
    for index in range(3):
        stage.pod("g-%d" % index, labels=gang, schedulingGates=[{"name": "example.com/quota"}] if index else [])

    def says(name):
        return condition(stage.plane.get("Pod", name, stage.name)).get("message", "")

    def lift(name):
        stage.plane.request("PATCH", stage.plane.path("Pod", name, stage.name), {"spec": {"schedulingGates": None}}, MERGE)
    until(lambda: "2 more wait behind scheduling gates" in says("g-0"))
    lift("g-1")
    until(lambda: says("g-1").startswith("pod group has 2 pods") and says("g-0") == says("g-1"), 9)  # it is said after ten without that
    lift("g-2")
    stage.wait_bound(3)
