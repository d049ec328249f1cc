"""Room that is reserved for a group is kept for it, whoever asks first."""

import calendar
import json
import subprocess
import time

from plane import node, pod, program
from stage import ROOT, test, until

GROUP = "scheduling.kubenexus.io"
GPU = "nvidia.com/gpu"
OWN = {"pod-group.scheduling.kubenexus.io/name": "own"}
# As an earlier release had it: one shape, no GPUs, a column that counts a map.
TEXT = {"type": "string"}
EARLIER = {
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
    "metadata": {"name": "resourcereservations." + GROUP},
    "spec": {"group": GROUP, "scope": "Namespaced",
             "names": {"kind": "ResourceReservation", "plural": "resourcereservations",
                       "singular": "resourcereservation", "shortNames": ["rr"]},
             "versions": [{"name": "v1alpha1", "served": True, "storage": True, "subresources": {"status": {}},
                           "additionalPrinterColumns": [{"name": "Reservations", "type": "integer",
                                                         "jsonPath": ".spec.reservations"}],
                           "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                               "spec": {"type": "object", "required": ["reservations"], "properties": {
                                   "reservations": {"type": "object", "additionalProperties": {
                                       "type": "object", "required": ["node", "cpu", "memory"],
                                       "properties": {"node": TEXT, "cpu": TEXT, "memory": TEXT}}}}},
                               "status": {"type": "object",
                                          "x-kubernetes-preserve-unknown-fields": True}}}}}]}}


def kubectl(stage, *arguments, given=None):
    return subprocess.run([program("kubectl"), "--kubeconfig", stage.plane.kubeconfig("admin"), *arguments],
                          check=True, input=given and json.dumps(given), text=True, capture_output=True).stdout


def reserve(stage, name, *options, **spec):
    return json.loads(kubectl(stage, "create", "-o", "json", "-f", "-", *options, given={
        "apiVersion": GROUP + "/v1alpha1", "kind": "ResourceReservation",
        "metadata": {"name": name, "namespace": stage.name, "labels": {"pod-group": "own"}}, "spec": spec}))


def define(stage, how=None):
    """The kind is served, as we ship it or as it was."""
    kubectl(stage, "apply", "-f", "-" if how else ROOT / "deploy/crd.yaml", given=how)
    kubectl(stage, "wait", "--for=condition=Established", "--timeout=20s", "crd/" + EARLIER["metadata"]["name"])

    def is_in_force():
        entry = {"node": "", "cpu": "1", "memory": "1", "gpu": "1"}
        made = reserve(stage, "trial", "--dry-run=server", "--validate=ignore", reservations={"a": entry})
        return ("gpu" in made["spec"]["reservations"]["a"]) == (how is None)
    until(is_in_force)


def lasts(stage, name, seconds):
    """So long from now on, however long the test took until here."""
    age = time.time() - calendar.timegm(time.strptime(look(stage, name)["metadata"]["creationTimestamp"], "%Y-%m-%dT%H:%M:%SZ"))
    kubectl(stage, "patch", "rr", name, "-n", stage.name, "--type=merge", "-p", json.dumps(
        {"spec": {"duration": "%ds" % (age + seconds)}}))


def look(stage, name):
    """The reservation; None if it is gone."""
    found = kubectl(stage, "get", "rr", name, "-n", stage.name, "-o", "json", "--ignore-not-found")
    return found and json.loads(found)


def condition(stage, name, kind="ReservationActive"):
    """Its status and reason."""
    return next((c["status"] + " " + c["reason"] for c in look(stage, name).get("status", {}).get("conditions", ())
                 if c["type"] == kind), None)


def events(stage, name):
    found = stage.plane.request("GET", "/apis/events.k8s.io/v1/namespaces/%s/events" % stage.name)
    return {e["reason"] for e in found["items"] if e["regarding"]["name"] == name}


@test
def says_what_becomes_of_a_reservation(stage):
    define(stage)
    stage.plane.create(node("gpus", extended={GPU: "8"}))
    stage.run_alone()
    reserve(stage, "r", duration="1h", reservations={"a": {"node": "gpus", "gpu": "4"}, "b": {"node": "", "gpu": "4"}})
    until(lambda: condition(stage, "r") == "True Held")
    assert look(stage, "r")["status"]["held"] == 2
    until(lambda: "Reserved" in events(stage, "r"))
    stage.pod("member", labels=OWN, extended={GPU: "4"})
    until(lambda: look(stage, "r")["status"].get("pods") == {"a": "member"})
    version = look(stage, "r")["metadata"]["resourceVersion"]
    stage.pod("second", labels=OWN, extended={GPU: "4"})
    until(lambda: condition(stage, "r", "GangComplete") == "True Taken")
    kubectl(stage, "delete", "pod", "second", "-n", stage.name, "--grace-period=0", "--force")
    until(lambda: condition(stage, "r") == "True Held")
    assert int(look(stage, "r")["metadata"]["resourceVersion"]) > int(version)
    lasts(stage, "r", 3)
    until(lambda: condition(stage, "r") == "False Expired")
    until(lambda: "Expired" in events(stage, "r"))
    kubectl(stage, "delete", "crd", EARLIER["metadata"]["name"])


@test
def lets_a_namespace_with_reservations_of_earlier_releases_go(stage):
    define(stage)
    stage.run_synced()
    left = reserve(stage, "left", reservations={"a": {"node": "gpus", "gpu": "4"}})
    kubectl(stage, "patch", "rr", "left", "-n", stage.name, "--type=merge", "-p", json.dumps(
        {"metadata": {"finalizers": ["scheduling.kubenexus.io/reservation-protection"]}}))
    assert left["metadata"]["name"] == "left"
    kubectl(stage, "delete", "rr", "left", "-n", stage.name, "--timeout=20s")
    assert not look(stage, "left")
    kubectl(stage, "delete", "crd", EARLIER["metadata"]["name"])


@test
def shows_what_it_holds_itself_and_leaves_nothing_behind(stage):
    define(stage)
    stage.plane.create(node("n", cpu="8"))
    first = stage.run_alone()
    driver = pod("driver", cpu="1", namespace=stage.name, labels={"spark-app-id": "app"},
                 schedulerName="kubenexus-scheduler")
    driver["metadata"]["annotations"] = {"kubenexus.io/executor-count": "2", "kubenexus.io/executor-cpu": "1",
                                         "kubenexus.io/executor-memory": "1Mi"}
    stage.plane.create(driver)
    until(lambda: look(stage, "driver-workers"))
    until(lambda: condition(stage, "driver-workers") == "True Held")
    made = look(stage, "driver-workers")["metadata"]
    assert made["labels"]["scheduling.kubenexus.io/app-id"] == "app", made
    assert made["ownerReferences"][0]["name"] == "driver" and not made.get("finalizers"), made
    stage.plane.stop(first)
    reserve(stage, "old", "--validate=ignore", reservations={"a": {"node": "n", "cpu": "8"}})
    kubectl(stage, "label", "rr", "old", "-n", stage.name, "app.kubernetes.io/managed-by=kubenexus-scheduler")
    stage.run_alone()  # knows the one again, and counts neither
    stage.pod("other", cpu="5")
    stage.wait_bound(2)
    until(lambda: not look(stage, "old"))
    assert look(stage, "driver-workers")["metadata"]["uid"] == made["uid"]
    for name in ("w-0", "w-1"):
        stage.pod(name, cpu="1", labels={"spark-app-id": "app"})
    stage.wait_bound(4)
    until(lambda: not look(stage, "driver-workers"))
    kubectl(stage, "delete", "crd", EARLIER["metadata"]["name"])


@test
def keeps_reserved_room_for_its_group(stage):
    define(stage, EARLIER)
    stage.plane.create(node("gpus", cpu="16", extended={GPU: "8"}))
    reserve(stage, "early", reservations={"own-member-0": {"node": "gpus", "cpu": "2", "memory": "1Gi"}})
    define(stage)  # over the other, with an object of its kind there
    reserve(stage, "late", podGroupName="own", resources={GPU: 4}, duration="1h")
    stage.run_alone()
    stage.pod("foreign", extended={GPU: "5"})
    assert "1 Insufficient nvidia.com/gpu" in stage.wait_refused("foreign")["message"]
    stage.pod("greedy", cpu="15")
    assert "1 Insufficient cpu" in stage.wait_refused("greedy")["message"]
    stage.pod("member", labels=OWN, extended={GPU: "4"})
    stage.pod("modest", extended={GPU: "4"})
    assert stage.wait_bound(2) == {"member": "gpus", "modest": "gpus"}
    kubectl(stage, "delete", "crd", EARLIER["metadata"]["name"])


@test
def gives_reserved_room_back_when_its_time_is_over(stage):
    define(stage)
    stage.plane.create(node("gpus", extended={GPU: "8"}))
    reserve(stage, "short", duration="1h", reservations={"a": {"node": "gpus", "gpu": "8"}})
    stage.run_alone()
    stage.pod("foreign", extended={GPU: "1"})
    stage.wait_refused("foreign")
    lasts(stage, "short", 3)
    assert stage.wait_bound(1) == {"foreign": "gpus"}
    kubectl(stage, "delete", "crd", EARLIER["metadata"]["name"])
