"""Pods go where their volumes are, and wait for them as kube-scheduler lets them wait."""

from plane import node
from schedule import told
from stage import test, until

BOUND = "pv.kubernetes.io/bind-completed"
NODE = "volume.kubernetes.io/selected-node"


def claimed(name):
    return {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": name}}]}


def make_volume(stage, name, zone):
    """A volume that a zone reaches; the name is its own in the whole cluster."""
    stage.plane.create({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": {
        "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "by-hand",
        "claimRef": {"namespace": stage.name, "name": name}, "hostPath": {"path": "/nowhere"},
        "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [
            {"key": "zone", "operator": "In", "values": [zone]}]}]}}}})


def make_claim(stage, name, notes=None, **spec):
    bound = {BOUND: "yes"} if "volumeName" in spec else {}
    stage.plane.create({"apiVersion": "v1", "kind": "PersistentVolumeClaim",
                        "metadata": {"name": name, "namespace": stage.name,
                                     "annotations": {**bound, **(notes or {})}},
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


def make_class(stage, provisioner):
    """A class whose volumes are bound when a pod needs them."""
    name = stage.name + "-waits"
    stage.plane.create({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name},
                        "provisioner": provisioner, "volumeBindingMode": "WaitForFirstConsumer"})
    return name


def make_free_volume(stage, name, kind, zone):
    stage.plane.create({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": {
        "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": kind,
        "hostPath": {"path": "/nowhere"}, "nodeAffinity": {"required": {"nodeSelectorTerms": [{
            "matchExpressions": [{"key": "zone", "operator": "In", "values": [zone]}]}]}}}})


def claim_of(stage, name):
    return stage.plane.get("PersistentVolumeClaim", name, stage.name)


def start_binder(stage):
    """Who binds claims everywhere: kube-controller-manager's part for that."""
    stage.started.append(stage.plane.start_controller_manager(
        "--controllers=persistentvolume-binder-controller"))


def until_available(stage, names):
    until(lambda: all(stage.plane.get("PersistentVolume", name)["status"].get("phase") == "Available"
                      for name in names))


@test
def free_volumes_are_bound_to_the_claims_of_pods(stage):
    for zone in "abc":
        stage.plane.create(node("in-" + zone, labels={"zone": zone}))
    kind = make_class(stage, "kubernetes.io/no-provisioner")
    names = ["%s-%s" % (stage.name, zone) for zone in "abc"]
    for name, zone in zip(names, "abc"):
        make_free_volume(stage, name, kind, zone)
    start_binder(stage)
    until_available(stage, names)
    stage.run_alone()
    for number in range(4):
        make_claim(stage, "c%d" % number, storageClassName=kind)
        stage.pod("p%d" % number, **claimed("c%d" % number))
    where = stage.wait_bound(3)
    assert sorted(where.values()) == ["in-a", "in-b", "in-c"], where
    for name, there in where.items():
        volume = claim_of(stage, "c" + name[1:])["spec"]["volumeName"]
        assert volume == "%s-%s" % (stage.name, there[-1]), (name, there, volume)
        found = stage.plane.get("PersistentVolume", volume)
        assert found["metadata"]["annotations"]["pv.kubernetes.io/bound-by-controller"] == "yes"
    stage.wait_events("Scheduled", 3)
    left, = {"p%d" % number for number in range(4)} - set(where)
    stage.wait_told(left, "didn't find available persistent volumes to bind")


def provide(stage, name):
    """As a driver's provisioner does: a volume for the claim, where its node reaches it."""
    claim = until(lambda: (c := claim_of(stage, name))["metadata"].get("annotations", {}).get(NODE) and c)
    chosen = claim["metadata"]["annotations"][NODE]
    stage.plane.create({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {
        "name": "pvc-" + claim["metadata"]["uid"]}, "spec": {
            "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"],
            "storageClassName": claim["spec"]["storageClassName"],
            "csi": {"driver": "example.com", "volumeHandle": claim["metadata"]["uid"]},
            "claimRef": {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": stage.name,
                         "name": name, "uid": claim["metadata"]["uid"]},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [
                {"key": "kubernetes.io/hostname", "operator": "In", "values": [chosen]}]}]}}}})
    return chosen


@test
def a_volume_is_made_on_the_chosen_node(stage):
    stage.plane.create(node("small", cpu="1"))
    stage.plane.create(node("large", cpu="4"))
    kind = make_class(stage, "example.com")
    start_binder(stage)
    stage.run_alone()
    make_claim(stage, "made", storageClassName=kind)
    stage.pod("p", cpu="2", **claimed("made"))
    until(lambda: stage.plane.get("Pod", "p", stage.name)["status"].get("nominatedNodeName") == "large")
    stage.pods(2, "other-%d")  # nobody waits for it
    assert set(stage.wait_bound(2)) == {"other-0", "other-1"}
    assert provide(stage, "made") == "large"
    assert stage.wait_bound(3)["p"] == "large"


@test
def a_scheduler_that_is_killed_while_a_volume_is_made_goes_on(stage):
    for name in "ab":
        stage.plane.create(node("n-" + name, cpu="1"))
    kind = make_class(stage, "example.com")
    start_binder(stage)
    child = stage.run_alone()
    make_claim(stage, "made", storageClassName=kind)
    stage.pod("p", cpu="600m", **claimed("made"))
    until(lambda: claim_of(stage, "made")["metadata"].get("annotations", {}).get(NODE))
    stage.plane.stop(child)
    chosen = provide(stage, "made")
    stage.run("--leader-elect=false", "--kubeconfig", stage.plane.kubeconfig("kubenexus"), name="again")
    assert stage.wait_bound(1)["p"] == chosen


@test
def what_cannot_be_made_is_told_as_kube_scheduler_tells_it(stage):
    stage.plane.create(node("n"))
    kind = make_class(stage, "example.com")
    cases = {"reset": {}, "failed": {"kept": "yes"}}
    for case, kept in cases.items():  # before those who are asked begin: they know them before the pods
        for who in ("theirs", "ours"):
            make_claim(stage, who + "-" + case, notes=kept, storageClassName=kind)
    stage.started += [stage.plane.start_scheduler(), stage.run_alone()]
    for case in cases:
        said = {}
        for who, scheduler in (("theirs", "default-scheduler"), ("ours", "kubenexus-scheduler")):
            name = who + "-" + case
            stage.pod(name, scheduler=scheduler, **claimed(name))
            until(lambda name=name: NODE in claim_of(stage, name)["metadata"].get("annotations", {}))
            stage.plane.patch("PersistentVolumeClaim", name, {"metadata": {"annotations": {NODE: None}}},
                              stage.name)
            said[who] = {key: str(value).replace(name, "X") for key, value in told(stage, name).items()}
        assert said["ours"] == said["theirs"], said
