"""Gangs on a real API server, in the spellings that users have."""

import collections
import copy

from plane import Plane, node, pod
from stage import AT_ONCE, Stage, grant, test, until

NEXUS, SIGS = "pod-group.scheduling.kubenexus.io/", "pod-group.scheduling.sigs.k8s.io/"
# Made by the test, never by us: what scheduler-plugins installs.
CRD = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
       "metadata": {"name": "podgroups.scheduling.x-k8s.io", "annotations": {
           "api-approved.kubernetes.io": "https://github.com/kubernetes-sigs/scheduler-plugins/pull/50"}},
       "spec": {"group": "scheduling.x-k8s.io", "scope": "Namespaced",
                "names": {"kind": "PodGroup", "plural": "podgroups", "singular": "podgroup",
                          "listKind": "PodGroupList"},
                "versions": [{"name": "v1alpha1", "served": True, "storage": True,
                              "subresources": {"status": {}}, "schema": {
                    "openAPIV3Schema": {"type": "object",
                                        "x-kubernetes-preserve-unknown-fields": True}}}]}}
# What each spelling adds to a pod of the gang "g", and the object it needs.
SPELLINGS = {
    "label": ({"labels": {NEXUS + "name": "g-label", NEXUS + "min-available": "3"}}, {}, None),
    "annotation": ({"annotations": {SIGS + "name": "g-annotation", SIGS + "min-available": "3"}},
                   {}, None),
    "custom": ({"labels": {"scheduling.x-k8s.io/pod-group": "g-custom"}}, {},
               {"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup",
                "spec": {"minMember": 3}}),
    "native": ({}, {"schedulingGroup": {"podGroupName": "g-native"}},
               {"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup",
                "spec": {"schedulingPolicy": {"gang": {"minCount": 3}}}}),
}


def member(stage, name, gang, minimum, **how):
    made = pod(name, namespace=stage.name, schedulerName="kubenexus-scheduler", **how)
    made["metadata"]["labels"] = {NEXUS + "name": gang, NEXUS + "min-available": str(minimum)}
    return stage.plane.create(made)


def spelled(stage, spelling, number):
    meta, spec, _ = SPELLINGS[spelling]
    made = pod("%s-%d" % (spelling, number), namespace=stage.name, memory="1Mi",
               schedulerName="kubenexus-scheduler", extended={"example.com/" + spelling: "1"},
               **spec)
    made["metadata"].update(meta)
    return stage.plane.create(made)


def has_bound(stage):
    return {name: at for name, at in stage.nodes_of().items() if at}


@test
def gangs_of_three_start_with_the_third_device_in_every_spelling(stage):
    stage.plane.create(CRD)
    stage.wait_served("scheduling.x-k8s.io/v1alpha1", "PodGroup")
    stage.plane.create(node("two", extended={"example.com/" + s: "2" for s in SPELLINGS}))
    stage.run_synced()
    for spelling, (_, _, group) in SPELLINGS.items():
        if group:
            stage.plane.create({**group, "metadata": {"name": "g-" + spelling,
                                                      "namespace": stage.name}})
        for number in range(3):
            spelled(stage, spelling, number)
    for spelling in SPELLINGS:
        for number in range(3):
            said = stage.wait_told("%s-%d" % (spelling, number), "2 fit now; short of 1 example.com/" + spelling)
            assert said.startswith("gang g-%s needs 3 x (1 example.com/%s" % (spelling, spelling)), said
            assert stage.wait_refused("%s-%d" % (spelling, number))["reason"] == "Unschedulable"
    assert not has_bound(stage), has_bound(stage)
    stage.plane.create(node("one", extended={"example.com/" + s: "1" for s in SPELLINGS}))
    where = stage.wait_bound(12)
    for spelling in SPELLINGS:
        nodes = sorted(where["%s-%d" % (spelling, number)] for number in range(3))
        assert nodes == ["one", "two", "two"], where


@test
def gangs_that_lack_a_pod_say_so_and_start_when_it_comes(stage):
    stage.plane.create(node("n", cpu="8"))
    stage.run_synced()
    for number in range(2):
        member(stage, "a-%d" % number, "a", 3)
    for number in range(2):
        said = stage.wait_refused("a-%d" % number)
        assert said["message"] == "pod group has 2 pods, needs at least 3", said
    events = stage.wait_events("FailedScheduling", 2, about="a-")
    assert {e["note"] for e in events} == {"pod group has 2 pods, needs at least 3"}, events
    assert not has_bound(stage)
    member(stage, "a-2", "a", 3)
    stage.wait_bound(3)


@test
def gangs_survive_a_kill_in_between(stage):
    gangs, size = 20, 5
    stage.plane.make_nodes(20, cpu="5", memory="8Gi")
    stage.plane.create_all([
        {**pod("g%d-%d" % (gang, number), namespace=stage.name, cpu="1", memory="1Mi",
               schedulerName="kubenexus-scheduler"),
         "metadata": {"name": "g%d-%d" % (gang, number), "namespace": stage.name,
                      "labels": {NEXUS + "name": "g%d" % gang,
                                 NEXUS + "min-available": str(size)}}}
        for gang in range(gangs) for number in range(size)])
    first = stage.run_alone()
    until(lambda: has_bound(stage))
    stage.plane.stop(first)  # kill -9
    begun = has_bound(stage)
    second = stage.run("--leader-elect=false", "--kubeconfig", stage.plane.kubeconfig("kubenexus"),
                       name="second")
    where = stage.wait_bound(gangs * size)
    assert begun.items() <= where.items()  # nobody was bound twice
    count = collections.Counter(where.values())
    assert max(count.values()) == 5, count
    assert not stage.warnings(second), stage.warnings(second)


@test
def gangs_replace_a_member_that_is_lost(stage):
    stage.plane.create(node("n", cpu="3", memory="8Gi"))
    stage.run_synced()
    for number in range(3):
        member(stage, "a-%d" % number, "a", 3, cpu="1", memory="1Mi")
    stage.wait_bound(3)
    stage.plane.delete("Pod", "a-1", stage.name)
    member(stage, "a-3", "a", 3, cpu="1", memory="1Mi")
    where = stage.wait_bound(3)
    assert set(where) == {"a-0", "a-2", "a-3"}, where


def volcano():
    """The other custom kind, whose status is no resource of its own, as Volcano's own definition has it."""
    made = copy.deepcopy(CRD)
    made["spec"]["versions"][0].pop("subresources")
    made["metadata"] = {"name": "podgroups.scheduling.volcano.sh"}
    made["spec"]["group"] = "scheduling.volcano.sh"
    made["spec"]["versions"][0]["name"] = "v1beta1"
    return made


@test
def gangs_are_seen_in_the_status_of_their_podgroups(stage):
    groups = {"native": SPELLINGS["native"], "custom": SPELLINGS["custom"],
              "volcano": ({"annotations": {"scheduling.k8s.io/group-name": "g-volcano"}}, {},
                          {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup",
                           "spec": {"minMember": 3}})}
    for kind, version in ((CRD, "scheduling.x-k8s.io/v1alpha1"), (volcano(), "scheduling.volcano.sh/v1beta1")):
        if not stage.is_served(version, "PodGroup"):
            stage.plane.create(kind)
        stage.wait_served(version, "PodGroup")
    stage.plane.create(node("two", extended={"example.com/" + g: "2" for g in groups}))
    scheduler = stage.run_synced()

    def status(group):
        api = groups[group][2]["apiVersion"]
        path = "/apis/%s/namespaces/%s/podgroups/g-%s" % (api, stage.name, group)
        return stage.plane.request("GET", path).get("status", {})

    def says(group, kind, **wanted):
        return any(c["type"] == kind and wanted.items() <= c.items() for c in status(group).get("conditions", ()))

    for name, (meta, spec, group) in groups.items():
        stage.plane.create({**group, "metadata": {"name": "g-" + name, "namespace": stage.name}})
        for number in range(3):
            made = pod("%s-%d" % (name, number), namespace=stage.name, memory="1Mi",
                       schedulerName="kubenexus-scheduler", extended={"example.com/" + name: "1"}, **spec)
            made["metadata"].update(meta)
            stage.plane.create(made)
    until(lambda: says("native", "PodGroupInitiallyScheduled", status="False", reason="Unschedulable"))
    until(lambda: says("volcano", "Unschedulable", status="True", reason="NotEnoughResources"))
    until(lambda: status("custom").get("phase") == "Scheduling" and status("volcano")["phase"] == "Inqueue")
    said = [c["message"] for c in status("native")["conditions"]]
    assert "short of 1 example.com/native" in said[0] and "attempt" in said[0], said
    assert stage.wait_events("FailedScheduling", 1, about="g-custom")
    stage.plane.create(node("one", extended={"example.com/" + g: "1" for g in groups}))
    stage.wait_bound(9)
    until(lambda: says("native", "PodGroupInitiallyScheduled", status="True", reason="Scheduled"))
    until(lambda: says("volcano", "Scheduled", status="True") and status("volcano")["phase"] == "Running")
    assert not says("volcano", "Unschedulable"), status("volcano")
    assert stage.wait_events("Scheduled", 1, about="g-custom")
    assert not [w for w in stage.warnings(scheduler) if 'verb="patch"' in w], stage.warnings(scheduler)


@test
def gangs_of_four_on_two_racks_lie_in_one(stage):
    racks = {"a1": ("r1", 2), "a2": ("r1", 1), "b1": ("r2", 2), "b2": ("r2", 2)}
    for name, (rack, devices) in racks.items():
        made = node(name, extended={"example.com/near": str(devices)})
        made["metadata"].setdefault("labels", {})["network.kubenexus.io/rack-id"] = rack
        stage.plane.create(made)
    stage.run_synced()
    for number in range(4):
        member(stage, "near-%d" % number, "near", 4, extended={"example.com/near": "1"})
    where = stage.wait_bound(4)
    assert [where["near-%d" % number] for number in range(4)] == ["b1", "b1", "b2", "b2"], where


@test
def gangs_of_a_higher_priority_class_go_first(stage):
    for name, value in (("high", 1000), ("low", 10)):
        if not any(c["metadata"]["name"] == "gangs-" + name for c in stage.plane.list("PriorityClass")):
            stage.plane.create({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
                                "metadata": {"name": "gangs-" + name}, "value": value})
    stage.plane.create(node("n", cpu="2", memory="8Gi"))
    for gang in ("low", "high"):  # the less important one is older
        for number in range(2):
            member(stage, "%s-%d" % (gang, number), gang, 2, cpu="1", memory="1Mi",
                   priorityClassName="gangs-" + gang)
    stage.run_alone()
    where = stage.wait_bound(2)
    assert set(where) == {"high-0", "high-1"}, where
    stage.wait_refused("low-0")


def told(stage, name):
    found = stage.plane.request("GET", stage.plane.path("Pod", name, stage.name))
    notes = found["metadata"].get("annotations", {})
    return notes.get("kubenexus.io/rank"), notes.get("kubenexus.io/domain")


@test
def gangs_are_told_their_ranks_and_who_replaces_one_has_its_rank(stage):
    rack, clique = "network.kubenexus.io/rack-id", "nvidia.com/gpu.clique"
    for name, where in {"w": "a", "x": "b", "y": "a", "z": "b"}.items():
        stage.plane.create(node(name, cpu="1", labels={rack: where, clique: "c." + where}))
    first = stage.run_synced()
    for number in range(4):
        member(stage, "a-%d" % number, "a", 4, cpu="1")
    assert stage.wait_bound(4) == {"a-0": "w", "a-1": "y", "a-2": "x", "a-3": "z"}
    domains = ["%s=%s,%s=c.%s" % (rack, r, clique, r) for r in "aabb"]
    assert [told(stage, "a-%d" % i) for i in range(4)] == [(str(i), domains[i]) for i in range(4)]
    stage.plane.stop(first)
    stage.plane.request("DELETE", stage.plane.path("Pod", "a-1", stage.name), AT_ONCE)
    stage.run_synced()  # what ranks the others have is written on them, and nowhere else
    member(stage, "again", "a", 4, cpu="1")
    until(lambda: stage.nodes_of().get("again"))
    assert told(stage, "again") == ("1", domains[1])


@test
def gangs_of_an_older_version_of_podgroups_start_and_say_so(stage):
    """On a server that serves PodGroups as v1alpha3 alone."""
    api = "scheduling.k8s.io/v1alpha3"
    with Plane(("--feature-gates=GenericWorkload=true", "--runtime-config=%s=true" % api)) as plane:
        grant(plane)
        with Stage(plane, "older") as there:
            there.leaves_all = True
            plane.create(node("few", extended={"example.com/older": "2"}))
            scheduler = there.run_synced()
            plane.create({"apiVersion": api, "kind": "PodGroup", "metadata": {"name": "g", "namespace": there.name},
                          "spec": {"schedulingPolicy": {"gang": {"minCount": 3}}, "disruptionMode": {"all": {}}}})
            for number in range(3):
                there.pod("older-%d" % number, extended={"example.com/older": "1"},
                          schedulingGroup={"podGroupName": "g"})

            def condition():
                group = plane.request("GET", "/apis/%s/namespaces/%s/podgroups/g" % (api, there.name))
                found = group.get("status", {}).get("conditions", [{}])[0]
                return found.get("type"), found.get("status"), found.get("reason")
            until(lambda: condition() == ("PodGroupInitiallyScheduled", "False", "Unschedulable"))
            assert not has_bound(there)
            plane.create(node("one", extended={"example.com/older": "1"}))
            there.wait_bound(3)
            until(lambda: condition() == ("PodGroupInitiallyScheduled", "True", "Scheduled"))
            assert not there.warnings(scheduler), there.warnings(scheduler)
