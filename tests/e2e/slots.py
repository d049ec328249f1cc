"""The room of lost members is kept for those who come in their place, and for nobody else."""

from plane import node, pod
from stage import test, until

GANG = {"pod-group.scheduling.kubenexus.io/name": "lost", "pod-group.scheduling.kubenexus.io/min-available": "4"}
GPU = "nvidia.com/gpu"


def lose(stage, name):
    """Its kubelet has stopped it: it was going, then it is gone."""
    stage.plane.request("DELETE", stage.plane.path("Pod", name, stage.name), {
        "kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 30})
    stage.plane.request("DELETE", stage.plane.path("Pod", name, stage.name), {
        "kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0})


def start(stage):
    """A gang fills a node; whoever comes next waits for its room."""
    stage.plane.create(node("full", extended={GPU: "8"}))
    job = stage.plane.create({
        "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "lost", "namespace": stage.name},
        "spec": {"suspend": True, "template": {"spec": pod("x")["spec"] | {"restartPolicy": "Never"}}}})
    stage.run_synced()
    for number in range(4):
        made = pod("lost-%d" % number, namespace=stage.name, labels=GANG, extended={GPU: "2"},
                   schedulerName="kubenexus-scheduler")
        made["metadata"]["ownerReferences"] = [
            {"apiVersion": "batch/v1", "kind": "Job", "name": "lost", "uid": job["metadata"]["uid"]}]
        stage.plane.create(made)
    stage.wait_bound(4)
    for number in range(2):
        stage.pod("next-%d" % number, extended={GPU: "4"})
        stage.wait_refused("next-%d" % number)


@test
def the_room_of_a_gang_that_is_gone_with_its_owner_is_free_at_once(stage):
    start(stage)
    for number in range(4):
        lose(stage, "lost-%d" % number)
    stage.plane.request("DELETE", stage.plane.path("Job", "lost", stage.name))
    until(lambda: all(stage.nodes_of()["next-%d" % n] == "full" for n in range(2)), 25)  # kept, it would be for 30 s


@test
def the_room_of_a_member_whose_gang_goes_on_is_kept(stage):
    start(stage)
    for number in range(2):
        lose(stage, "lost-%d" % number)
    stage.pod("small", extended={GPU: "1"})  # has come and been judged behind those who are gone
    stage.wait_refused("small")
    for number in (4, 5):
        stage.pod("lost-%d" % number, labels=GANG, extended={GPU: "2"})
    stage.wait_bound(4)
    where = stage.nodes_of()
    assert [name for name, at in sorted(where.items()) if at] == ["lost-2", "lost-3", "lost-4", "lost-5"], where
