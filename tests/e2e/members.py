"""Pods that say what they belong to when they are there already, as Kueue's pods of a StatefulSet do."""

from plane import node, pod
from stage import test

NEXUS = "pod-group.scheduling.kubenexus.io/"
MERGE = "application/merge-patch+json"
GANG = {NEXUS + "name": "late", NEXUS + "min-available": "2"}


def gated(stage, name):
    stage.plane.create(pod(name, namespace=stage.name, schedulerName="kubenexus-scheduler",
                           schedulingGates=[{"name": "example.com/queue"}]))


@test
def takes_pods_that_name_their_gang_late(stage):
    stage.plane.create(node("roomy"))
    scheduler = stage.run_synced()
    stage.pod("late-0", labels=GANG)
    stage.pod("late-1", labels=GANG)
    stage.wait_bound(2)
    label, lift = {"metadata": {"labels": GANG}}, {"spec": {"schedulingGates": None}}
    for name, patches in {"at-once": (label | lift,), "label-first": (label, lift), "gate-first": (lift, label)}.items():
        gated(stage, name)
        for patch in patches:
            stage.plane.request("PATCH", stage.plane.path("Pod", name, stage.name), patch, MERGE)
    assert set(stage.wait_bound(5).values()) == {"roomy"}
    assert scheduler.poll() is None and not stage.warnings(scheduler), stage.log(scheduler)
