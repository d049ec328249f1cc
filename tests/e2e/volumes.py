"""Pods go where their volumes are, and wait for them as kube-scheduler lets them wait."""

from plane import node
from schedule import told
from stage import test

BOUND = "pv.kubernetes.io/bind-completed"


def claimed(name):
    return {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": name}}]}


def make_volume(stage, name, zone):
    """A volume that a zone reaches; the name is its own in the whole cluster."""
    stage.plane.create({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": {
        "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "by-hand",
        "claimRef": {"namespace": stage.name, "name": name}, "hostPath": {"path": "/nowhere"},
        "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [
            {"key": "zone", "operator": "In", "values": [zone]}]}]}}}})


def make_claim(stage, name, **spec):
    stage.plane.create({"apiVersion": "v1", "kind": "PersistentVolumeClaim",
                        "metadata": {"name": name, "namespace": stage.name,
                                     "annotations": {BOUND: "yes"} if "volumeName" in spec else {}},
                        "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "by-hand",
                                 "resources": {"requests": {"storage": "1Gi"}}, **spec}})


@test
def a_pod_goes_where_its_volume_is(stage):
    for zone in "abc":
        stage.plane.create(node("in-" + zone, labels={"zone": zone}))
    name = stage.name + "-early"
    make_volume(stage, name, "b")
    make_claim(stage, name, volumeName=name)
    stage.run_alone()
    stage.pod("early", **claimed(name))
    assert stage.wait_bound(1) == {"early": "in-b"}
    name = stage.name + "-late"
    stage.pod("late", **claimed(name))
    stage.wait_refused("late")
    make_volume(stage, name, "c")
    make_claim(stage, name, volumeName=name)
    assert stage.wait_bound(2)["late"] == "in-c"


@test
def says_of_volumes_what_kube_scheduler_says(stage):
    stage.plane.create(node("in-a", labels={"zone": "a"}))
    far, unbound = stage.name + "-far", stage.name + "-unbound"
    make_volume(stage, far, "b")
    make_claim(stage, far, volumeName=far)
    make_claim(stage, unbound)
    stage.started += [stage.plane.start_scheduler(), stage.run_alone()]
    for name, claim in (("missing", "nowhere"), ("far", far), ("unbound", unbound)):
        stage.pod("theirs-" + name, scheduler="default-scheduler", **claimed(claim))
        stage.pod("ours-" + name, **claimed(claim))
        theirs, ours = told(stage, "theirs-" + name), told(stage, "ours-" + name)
        assert ours == theirs, "%s:\n%s\n%s" % (name, ours, theirs)


@test
def a_claim_that_waits_for_its_pod_is_not_bound_yet(stage):
    stage.plane.create(node("n"))
    kind = stage.name + "-waits"
    stage.plane.create({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": kind},
                        "provisioner": "example.com/made", "volumeBindingMode": "WaitForFirstConsumer"})
    make_claim(stage, "waits", storageClassName=kind)
    stage.run_alone()
    stage.pod("waiting", **claimed("waits"))
    event = stage.wait_events("FailedScheduling", 1, about="waiting")[0]
    assert "not supported yet: binding of PersistentVolumeClaims" in event["note"], event
