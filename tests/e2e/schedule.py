"""Pods come to nodes, and their owners are told what kube-scheduler would tell them."""

import collections
import json
import re

from client import Refused
from plane import node
from stage import PATIENCE, condition, test, until


def check_no_node_has_more_than(most, where):
    count = collections.Counter(where.values())
    assert max(count.values()) <= most, count


@test
def binds_500_pods_on_50_nodes(stage):
    stage.plane.make_nodes(50, cpu="1")  # there is room for 500 pods of 100m, and for no more
    stage.pods(400)
    child = stage.run_alone()
    stage.pods(100, name="late-%d")
    where = stage.wait_bound(500)
    check_no_node_has_more_than(10, where)
    events = stage.wait_events("Scheduled", 500)
    stage.check_scheduled_once(where)
    for event in events:
        assert event["type"] == "Normal" and event["action"] == "Binding", event
        assert event["reportingController"] == "kubenexus-scheduler", event
        assert "assigned %(namespace)s/%(name)s to" % event["regarding"] in event["note"], event
    assert not stage.warnings(child), stage.warnings(child)


# Pods that fit nowhere, each for another reason.
HOPELESS = {
    "large": {"cpu": "100"},
    "picky": {"nodeSelector": {"disk": "ssd"}},
    "hungry": {"extended": {"example.com/gpu": "1"}},
    "narrow": {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": [{"matchExpressions": [
            {"key": "zone", "operator": "In", "values": ["a"]}]}]}}}},
    "spread": {"labels": {"app": "spread"}, "topologySpreadConstraints": [
        {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule",
         "labelSelector": {"matchLabels": {"app": "spread"}}}]},
}


def without_cause(text):
    """The words of kube-scheduler, which follow those of the cause in our own profile."""
    return re.sub(r"^.*?\. (?=\d+/\d+ nodes are available)", "", text) if text else text


def told(stage, name):
    """What a pod was told, in its condition and in its event; names of schedulers left out."""
    said = stage.wait_refused(name)
    event = stage.wait_events("FailedScheduling", 1, about=name)[0]
    said["message"], event["note"] = without_cause(said["message"]), without_cause(event["note"])
    regarding = event["regarding"]
    host = event["reportingInstance"].removeprefix(event["reportingController"] + "-")
    return {**{"condition." + key: said.get(key) for key in
               ("status", "reason", "message", "observedGeneration")},
            **{"event." + key: event.get(key) for key in
               ("reason", "type", "action", "note", "series", "related")},
            "host": host, "regarding": (regarding["kind"], regarding["apiVersion"]),
            "names": [bool(regarding.get(key)) for key in
                      ("namespace", "name", "uid", "resourceVersion")],
            "event is named after the pod":
                bool(re.fullmatch(re.escape(name) + r"\.[0-9a-f]{16}", event["metadata"]["name"]))}


@test
def says_what_kube_scheduler_says(stage):
    stage.plane.create(node("small", cpu="1"))
    stage.plane.create(node("tainted", taints=[{"key": "kept", "effect": "NoSchedule"}]))
    stage.plane.create(node("closed", unschedulable=True))
    stage.started += [stage.plane.start_scheduler(), stage.run_alone()]
    for name, how in {**HOPELESS, "fine": {}}.items():
        stage.pod("theirs-" + name, scheduler="default-scheduler", **how)
        stage.pod("ours-" + name, **how)
    assert stage.wait_bound(2) == {"theirs-fine": "small", "ours-fine": "small"}
    by = {e["regarding"]["name"]: e["reportingController"]
          for e in stage.wait_events("Scheduled", 2)}
    assert by == {"theirs-fine": "default-scheduler", "ours-fine": "kubenexus-scheduler"}, by
    for name in HOPELESS:
        theirs, ours = told(stage, "theirs-" + name), told(stage, "ours-" + name)
        assert ours == theirs, "%s:\n%s\n%s" % (name, ours, theirs)


def by_type(pod):
    return {c["type"]: c for c in pod["status"].get("conditions", [])}


def make_room(stage, who, scheduler):
    """A node that is full, an important pod that wants to go there, and what all are told; uids and
    names of schedulers left out. Without a kubelet the victim stays until it is sent away."""
    where = {"nodeSelector": {"who": who}}
    stage.plane.create(node(who, cpu="2", labels={"who": who}))
    stage.pod(who + "-low", scheduler, cpu="2", **where)
    stage.plane.wait_for("Pod", lambda p: p["metadata"]["name"] == who + "-low"
                         and bool(p["spec"].get("nodeName")), 1, PATIENCE, stage.name)
    high = stage.pod(who + "-high", scheduler, cpu="1", priorityClassName="high", **where)
    until(lambda: stage.plane.get("Pod", who + "-low", stage.name)["metadata"]
          .get("deletionTimestamp"))
    until(lambda: stage.plane.get("Pod", who + "-high", stage.name)["status"]
          .get("nominatedNodeName"))
    event = stage.wait_events("Preempted", 1, about=who)[0]
    refusal = stage.wait_events("FailedScheduling", 1, about=who)[0]
    victim = by_type(stage.plane.get("Pod", who + "-low", stage.name))["DisruptionTarget"]
    waits = stage.plane.get("Pod", who + "-high", stage.name)
    found = {"event": {key: event.get(key) for key in ("type", "action", "note", "related")},
             "victim": {key: victim.get(key) for key in
                        ("status", "reason", "message", "observedGeneration")},
             "waits": {key: condition(waits).get(key) for key in ("status", "reason")},
             "message": without_cause(condition(waits)["message"]),
             "nominee": waits["status"]["nominatedNodeName"], "note": without_cause(refusal["note"])}
    stage.plane.delete("Pod", who + "-low", stage.name)
    stage.plane.wait_for("Pod", lambda p: p["metadata"]["name"] == who + "-high"
                         and bool(p["spec"].get("nodeName")), 1, PATIENCE, stage.name)
    for old, new in ((high["metadata"]["uid"], "UID"), (scheduler, "SCHEDULER"), (who, "WHO")):
        found = json.loads(json.dumps(found).replace(old, new))
    return found


@test
def makes_room_as_kube_scheduler_does(stage):
    stage.plane.create({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
                        "metadata": {"name": "high"}, "value": 1000})
    stage.started += [stage.plane.start_scheduler(), stage.run_alone()]
    theirs = make_room(stage, "theirs", "default-scheduler")
    stage.plane.delete("Node", "theirs")
    ours = make_room(stage, "ours", "kubenexus-scheduler")
    assert ours == theirs, "%s\n%s" % (ours, theirs)
    stage.plane.delete("PriorityClass", "high")


@test
def binds_a_pod_when_a_node_comes_that_suits_it(stage):
    stage.plane.create(node("small", cpu="1"))
    stage.run_alone()
    stage.pod("waits", cpu="2")
    assert stage.wait_refused("waits")["reason"] == "Unschedulable"
    stage.plane.create(node("large", cpu="4"))
    assert stage.wait_bound(1) == {"waits": "large"}
    is_bound = condition(stage.plane.get("Pod", "waits", stage.name))
    assert is_bound["status"] == "True", is_bound


@test
def leaves_pods_of_others_alone_but_counts_them(stage):
    stage.plane.create(node("shared", cpu="4"))
    stage.run_alone()
    stage.pod("theirs", scheduler="another", cpu="3")
    stage.pod("before", cpu="1")  # seen after theirs, for which there is still room
    assert stage.wait_bound(1) == {"before": "shared"}
    assert stage.nodes_of()["theirs"] is None
    stage.bind("theirs", "shared")
    stage.pod("after", cpu="1")
    said = stage.wait_refused("after")
    cause, _, words = said["message"].partition(". ")
    assert cause.startswith("the pod needs 1 cpu") and "no node has room now" in cause, said
    assert words.startswith("0/1 nodes are available: 1 Insufficient cpu."), said
    stage.plane.delete("Pod", "theirs", stage.name)
    assert stage.wait_bound(2) == {"before": "shared", "after": "shared"}


def check_room_is_exact(stage, nodes, slots):
    """Whoever fills what is left finds each place that is free, and none that is taken."""
    ours = {"node-%d" % i for i in range(nodes)}
    taken = [where for where in stage.nodes_of().values() if where in ours]
    left = nodes * slots - len(taken)
    stage.pods(left, name="fill-%d")
    stage.plane.wait_for("Pod", lambda p: p["metadata"]["name"].startswith("fill-")
                         and bool(p["spec"].get("nodeName")), left, PATIENCE, stage.name)
    count = collections.Counter(where for where in stage.nodes_of().values() if where in ours)
    assert count == {name: slots for name in ours}, count


@test
def shares_its_pods_with_another_scheduler(stage):
    """Who binds every other pod as soon as it is made, elsewhere: one of the two is refused, and
    what we had set aside must be free again."""
    stage.plane.make_nodes(20, cpu="2")
    stage.plane.create(node("far", cpu="100", taints=[{"key": "far", "effect": "NoSchedule"}],
                            pods="1000"))
    child = stage.run_synced()
    refused = []

    def make(number):
        name = "pod-%d" % number
        stage.pod(name)
        if number % 2:
            try:
                stage.bind(name, "far")
            except Refused as why:
                assert why.code == 409, why
                refused.append(name)
    stage.plane.in_parallel(make, range(300))
    where = stage.wait_bound(300)
    print("# %d bound by us, they lost %d, we lost %d" % (
        sum(place != "far" for place in where.values()), len(refused),
        stage.log(child).count('"not carried out"')))
    check_room_is_exact(stage, 20, 20)


@test
def tells_pods_of_one_name_apart(stage):
    """Deleted and made again under their names, while they are being bound."""
    stage.plane.make_nodes(4, cpu="2")
    stage.run_synced()
    for _ in range(5):
        stage.pods(20, name="same-%d")
        stage.plane.in_parallel(lambda i: stage.plane.delete("Pod", "same-%d" % i, stage.name),
                                range(20))
    stage.pods(20, name="same-%d")
    stage.wait_bound(20)
    check_room_is_exact(stage, 4, 20)


@test
def survives_a_node_that_goes_while_pods_are_bound_to_it(stage):
    stage.plane.make_nodes(5, cpu="2")
    stage.run_synced()
    stage.pods(30)
    stage.plane.in_parallel(
        lambda i: stage.plane.delete("Node", "node-0") if i == 20 else stage.pod("more-%d" % i),
        range(40))
    until(lambda: all(stage.nodes_of().values()))
    stage.plane.create(node("node-0", cpu="2"))  # with the pods that are bound to this name
    check_room_is_exact(stage, 5, 20)


@test
def does_not_press_a_namespace_that_is_going(stage):
    """The server refuses bindings in it: that is no missing right, and not tried all the time."""
    going = stage.name + "-going"
    stage.plane.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": going}})
    stage.plane.make_pods(3, "left-%d", namespace=going, schedulerName="kubenexus-scheduler",
                          cpu="4")
    child = stage.run_synced()
    until(lambda: all(condition(p).get("status") == "False"
                      for p in stage.plane.list("Pod", going)))
    stage.plane.delete("Namespace", going)
    until(lambda: stage.plane.get("Namespace", going)["status"]["phase"] == "Terminating")
    stage.plane.create(node("large", cpu="64"))
    stage.until_says(child, '"not carried out"', times=6)  # twice for each, seconds apart
    log = stage.log(child)
    stage.pod("elsewhere")
    stage.wait_bound(1)
    assert "being terminated" in log and "not allowed" not in log, log
    assert log.count('"not carried out"') < 12, log
    stage.plane.request("DELETE", "/api/v1/namespaces/%s/pods" % going)
