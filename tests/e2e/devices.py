"""Pods get the devices that their resource claims ask for, and keep them apart."""

from plane import node
from schedule import told
from stage import test, until

API = "resource.k8s.io/v1"
FINALIZER = "resource.kubernetes.io/delete-protection"


def supply(stage, **devices):
    """A class and, for each node, a pool of so many devices; names are the stage's own."""
    driver = stage.name + ".example.com"
    config = [{"opaque": {"driver": driver, "parameters": {"kind": "Plain", "level": 3}}}]
    stage.plane.create({"apiVersion": API, "kind": "DeviceClass", "metadata": {"name": stage.name}, "spec": {
        "selectors": [{"cel": {"expression": "device.driver == '%s'" % driver}}], "config": config}})
    for name, count in devices.items():
        stage.plane.create(node(name))
        stage.plane.create({"apiVersion": API, "kind": "ResourceSlice",
                            "metadata": {"name": "%s-%s" % (stage.name, name)}, "spec": {
                                "driver": driver, "nodeName": name,
                                "pool": {"name": name, "generation": 1, "resourceSliceCount": 1},
                                "devices": [{"name": "d%d" % i, "attributes": {"index": {"int": i}}}
                                            for i in range(count)]}})
    return driver


def make_claim(stage, name, count=1, owners=(), **ask):
    exactly = {"deviceClassName": stage.name, "allocationMode": "ExactCount", "count": count, **ask}
    stage.plane.create({"apiVersion": API, "kind": "ResourceClaim",
                        "metadata": {"name": name, "namespace": stage.name, "ownerReferences": list(owners)},
                        "spec": {"devices": {"requests": [{"name": "r", "exactly": exactly}]}}})


def claimed(name):
    return {"resourceClaims": [{"name": "x", "resourceClaimName": name}]}


def claim_of(stage, name):
    return stage.plane.request("GET", stage.plane.path("ResourceClaim", name, stage.name, API))


def given(claim):
    """Pool and device of each result."""
    return [(r["pool"], r["device"]) for r in claim["status"]["allocation"]["devices"]["results"]]


@test
def gives_each_claim_its_devices(stage):
    supply(stage, one=2, two=2)
    child = stage.run_synced()
    for i in range(4):
        make_claim(stage, "c%d" % i)
        stage.pod("p%d" % i, **claimed("c%d" % i))
    where = stage.wait_bound(4)
    claims = {i: claim_of(stage, "c%d" % i) for i in range(4)}
    taken = [d for c in claims.values() for d in given(c)]
    assert sorted(taken) == [("one", "d0"), ("one", "d1"), ("two", "d0"), ("two", "d1")], taken
    for i, claim in claims.items():
        pool = given(claim)[0][0]
        pod = stage.plane.request("GET", stage.plane.path("Pod", "p%d" % i, stage.name))
        assert where["p%d" % i] == pool
        assert FINALIZER in claim["metadata"]["finalizers"]
        assert [r["uid"] for r in claim["status"]["reservedFor"]] == [pod["metadata"]["uid"]]
        terms = claim["status"]["allocation"]["nodeSelector"]["nodeSelectorTerms"]
        assert terms == [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [pool]}]}], terms
        config = claim["status"]["allocation"]["devices"]["config"]
        assert config[0]["source"] == "FromClass" and config[0]["opaque"]["parameters"]["level"] == 3, config
    make_claim(stage, "late")
    stage.pod("late", **claimed("late"))
    assert "cannot allocate all claims" in stage.wait_refused("late")["message"]
    stage.plane.request("DELETE", stage.plane.path("Pod", "p0", stage.name),
                        {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0})
    gone = claim_of(stage, "c0")  # what kube-controller-manager does when the last pod has gone
    gone["status"] = {}
    stage.plane.request("PUT", stage.plane.path("ResourceClaim", "c0", stage.name, API, sub="status"), gone)
    until(lambda: stage.nodes_of().get("late"))
    assert given(claim_of(stage, "late")) == given(claims[0])
    assert not stage.warnings(child), stage.warnings(child)


@test
def shares_a_claim_that_has_its_devices(stage):
    supply(stage, here=1, there=1)
    stage.run_synced()
    make_claim(stage, "both")
    stage.pod("first", **claimed("both"))
    where = stage.wait_bound(1)["first"]
    for i in range(3):
        stage.pod("more-%d" % i, **claimed("both"))
    assert set(stage.wait_bound(4).values()) == {where}
    assert len(claim_of(stage, "both")["status"]["reservedFor"]) == 4


@test
def waits_for_the_claim_of_a_template(stage):
    supply(stage, here=1)
    stage.run_synced()
    pod = stage.pod("p", resourceClaims=[{"name": "x", "resourceClaimTemplateName": "t"}])
    stage.pod("plain")
    assert stage.wait_bound(1) == {"plain": "here"}  # and p is not even tried
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": pod["metadata"]["uid"], "controller": True}
    make_claim(stage, "made", owners=[owner])  # what kube-controller-manager does, and tells the pod:
    stage.plane.patch("Pod", "p", {"status": {"resourceClaimStatuses": [
        {"name": "x", "resourceClaimName": "made"}]}}, stage.name, sub="status")
    assert stage.wait_bound(2)["p"] == "here"
    assert given(claim_of(stage, "made")) == [("here", "d0")]


@test
def frees_a_claim_that_only_stands_in_the_way(stage):
    supply(stage, here=1)
    make_claim(stage, "lost")
    claim = claim_of(stage, "lost")
    claim["metadata"]["finalizers"] = [FINALIZER]
    claim = stage.plane.request("PUT", stage.plane.path("ResourceClaim", "lost", stage.name, API), claim)
    claim["status"] = {"allocation": {
        "devices": {"results": [{"request": "r", "driver": stage.name + ".example.com", "pool": "gone", "device": "d0"}]},
        "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [
            {"key": "metadata.name", "operator": "In", "values": ["gone"]}]}]}}}
    stage.plane.request("PUT", stage.plane.path("ResourceClaim", "lost", stage.name, API, sub="status"), claim)
    stage.run_synced()
    stage.pod("p", **claimed("lost"))
    assert stage.wait_bound(1) == {"p": "here"}
    assert given(claim_of(stage, "lost")) == [("here", "d0")]


def stand_for(stage, resource):
    """The stage's class stands for an extended resource."""
    stage.plane.patch("DeviceClass", stage.name, {"spec": {"extendedResourceName": resource}}, api=API)


def made_for(stage, pod):
    """Claims that were made for the pod's extended resources."""
    return [c for c in stage.plane.list("ResourceClaim", stage.name, API)
            if [o["name"] for o in c["metadata"].get("ownerReferences", [])] == [pod]]


def plain(claim):
    """What does not depend on which pod it was made for, nor on who made it."""
    meta = claim["metadata"]
    owner = {k: v for k, v in meta["ownerReferences"][0].items() if k not in ("name", "uid")}
    results = [{k: v for k, v in r.items() if k != "device"}
               for r in claim["status"]["allocation"]["devices"]["results"]]
    return (meta["annotations"], meta["finalizers"], owner, claim["spec"], results,
            claim["status"]["allocation"]["nodeSelector"], [r["resource"] for r in claim["status"]["reservedFor"]])


@test
def makes_claims_for_extended_resources(stage):
    supply(stage, here=4)
    resource = stage.name + ".example.com/gpu"
    stand_for(stage, resource)
    stage.started.append(stage.plane.start_scheduler())
    claims, uses = {}, {}
    for name, scheduler in (("theirs", "default-scheduler"), ("ours", "kubenexus-scheduler")):
        stage.pod(name, scheduler=scheduler, extended={resource: "2"})
        if name == "ours":  # it has read the other's claim before it looks at a pod
            child = stage.run_alone()
        until(lambda name=name: stage.nodes_of().get(name))
        claims[name], = made_for(stage, name)
        pod = stage.plane.request("GET", stage.plane.path("Pod", name, stage.name))
        status = pod["status"]["extendedResourceClaimStatus"]
        assert claims[name]["metadata"]["name"] == status["resourceClaimName"]
        assert claims[name]["metadata"]["name"].startswith(name + "-extended-resources-")
        assert [r["uid"] for r in claims[name]["status"]["reservedFor"]] == [pod["metadata"]["uid"]]
        uses[name] = status["requestMappings"]
    assert uses["ours"] == uses["theirs"], uses
    assert plain(claims["ours"]) == plain(claims["theirs"]), claims
    taken = [d for c in claims.values() for d in given(c)]
    assert sorted(taken) == [("here", "d%d" % i) for i in range(4)], taken
    stage.pod("late", extended={resource: "1"})
    assert "cannot allocate all claims" in stage.wait_refused("late")["message"]
    assert not made_for(stage, "late")
    assert not stage.warnings(child), stage.warnings(child)


@test
def removes_a_claim_that_an_earlier_try_left(stage):
    supply(stage, here=1)
    resource = stage.name + ".example.com/gpu"
    stand_for(stage, resource)
    pod = stage.pod("p", extended={resource: "1"})
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": pod["metadata"]["uid"], "controller": True}
    make_claim(stage, "left", owners=[owner])
    stage.plane.patch("ResourceClaim", "left", {"metadata": {
        "annotations": {"resource.kubernetes.io/extended-resource-claim": "true"}, "finalizers": [FINALIZER]}},
        stage.name, api=API)
    stage.run_synced()
    assert stage.wait_bound(1) == {"p": "here"}
    claim, = made_for(stage, "p")
    assert claim["metadata"]["name"] != "left" and given(claim) == [("here", "d0")]


@test
def says_of_devices_what_kube_scheduler_says(stage):
    supply(stage, here=1)
    make_claim(stage, "many", count=3)
    make_claim(stage, "classless", deviceClassName="nowhere")
    stage.started += [stage.plane.start_scheduler(), stage.run_alone()]
    for name in ("many", "classless"):
        stage.pod("theirs-" + name, scheduler="default-scheduler", **claimed(name))
        stage.pod("ours-" + name, **claimed(name))
        theirs, ours = told(stage, "theirs-" + name), told(stage, "ours-" + name)
        assert ours == theirs, "%s:\n%s\n%s" % (name, ours, theirs)
