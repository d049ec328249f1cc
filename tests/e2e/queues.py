"""Queues of teams on a real API server: who waits is told which queue refuses, Queues say how they stand, and what a pod is
charged to outlives a restart."""

import contextlib
import subprocess

from installed import kubectl
from plane import bound, node, pod
from stage import PROGRAM, ROOT, test, until

API, GPU = "scheduling.kubenexus.io/v1alpha1", "nvidia.com/gpu"
QUEUE, CHARGED = "scheduling.kubenexus.io/queue", "scheduling.kubenexus.io/charged-to"


@contextlib.contextmanager
def queues(stage):
    """The kind is there; and no Queue is left for other tests, whose pods would be in queues."""
    kubectl(stage.plane, "apply", "-f", ROOT / "deploy/crd-queue.yaml")
    stage.wait_served(API, "Queue")
    try:
        yield
    finally:
        kubectl(stage.plane, "delete", "queues", "--all")


def queue(stage, name, **spec):
    stage.plane.create({"apiVersion": API, "kind": "Queue", "metadata": {"name": name},
                        "spec": {"namespaces": {"names": [stage.name]}, **spec}})


def put(stage, name, in_queue, gpus, gang=None):
    labels = {QUEUE: in_queue}
    if gang:
        labels |= {"pod-group.scheduling.kubenexus.io/name": gang[0],
                   "pod-group.scheduling.kubenexus.io/min-available": str(gang[1])}
    return stage.plane.create(pod(name, namespace=stage.name, extended={GPU: str(gpus)}, labels=labels,
                                  schedulerName="kubenexus-scheduler"))


def status(stage, name):
    return stage.plane.get("Queue", name, api=API).get("status", {})


def amounts(stage, name):
    rows = [row for row in status(stage, name).get("resources", []) if row["name"] == GPU]
    return rows[0] if rows else {}


def condition(stage, name, kind):
    found = [c for c in status(stage, name).get("conditions", []) if c["type"] == kind]
    return (found[0]["status"], found[0]["reason"]) if found else None


def scheduled(stage, name):
    """What the pod was told."""
    found = stage.plane.get("Pod", name, stage.name)["status"].get("conditions", [])
    return next(((c["reason"], c["message"]) for c in found if c["type"] == "PodScheduled"), (None, None))


@test
def three_teams_have_what_their_queues_say(stage):
    """And who waits is told why, and starts when that ends."""
    with queues(stage):
        queue(stage, "research", guaranteed={GPU: 4}, max={GPU: 4})
        queue(stage, "product", guaranteed={GPU: 2})
        queue(stage, "students", weight=3)
        stage.plane.create(node("n", extended={GPU: "8"}))
        stage.run_synced()
        for i in range(3):
            put(stage, "r%d" % i, "research", 2)
        until(lambda: len([p for p in stage.plane.list("Pod", stage.name) if bound(p)]) == 2)
        waits = until(lambda: next((p["metadata"]["name"] for p in stage.plane.list("Pod", stage.name) if not bound(p)
                                    and scheduled(stage, p["metadata"]["name"])[0]), None))
        want = ("QueueWaiting", "queue research may use 4 nvidia.com/gpu: 4 used, 2 wanted")
        until(lambda: scheduled(stage, waits) == want)
        until(lambda: amounts(stage, "research").get("used") == "4" and amounts(stage, "research")["waiting"] == "2")
        assert amounts(stage, "research")["guaranteed"] == "4", amounts(stage, "research")
        assert status(stage, "research")["jobs"] == {"running": 2, "waiting": 1, "blocked": 1}
        assert condition(stage, "research", "Active") == ("True", "Open")
        assert condition(stage, "research", "Backed") == ("True", "Backed")
        line = next(line.split() for line in kubectl(stage.plane, "get", "kq").splitlines() if "research" in line)
        assert line[2:7] == ["4/4/4", "2", "1", "0.000000000", "True"], line

        said = subprocess.run([PROGRAM, "queues", "--kubeconfig", stage.plane.kubeconfig("admin")], text=True,
                              capture_output=True, check=True).stdout
        line = next(line.split() for line in said.splitlines() if line.startswith("research"))
        assert line == ["research", "1", "4", "4", "4", "0", "0", "2", "0.000", "Open"], said

        put(stage, "s", "students", 2)  # of what is left
        until(lambda: bound(stage.plane.get("Pod", "s", stage.name)))
        until(lambda: amounts(stage, "students").get("borrowed") == "2")
        put(stage, "none", "nowhere", 1)
        until(lambda: scheduled(stage, "none") == ("QueueWaiting", "queue nowhere does not exist"))
        stage.plane.delete("Pod", "r0" if waits != "r0" else "r1", stage.name)
        until(lambda: bound(stage.plane.get("Pod", waits, stage.name)))


@test
def a_queue_that_is_held_starts_nothing_until_it_is_not(stage):
    with queues(stage):
        queue(stage, "held", stop="Hold")
        stage.plane.create(node("n", extended={GPU: "8"}))
        stage.run_synced()
        put(stage, "p", "held", 1)
        until(lambda: scheduled(stage, "p") == ("QueueWaiting", "queue held is held"))
        until(lambda: condition(stage, "held", "Active") == ("False", "Held"))
        kubectl(stage.plane, "patch", "kq", "held", "--type=merge", "-p", '{"spec": {"stop": "None"}}')
        until(lambda: bound(stage.plane.get("Pod", "p", stage.name)))
        until(lambda: condition(stage, "held", "Active") == ("True", "Open"))


@test
def what_a_pod_is_charged_to_outlives_a_restart_and_its_label(stage):
    with queues(stage):
        queue(stage, "one", max={GPU: 2})
        queue(stage, "other", max={GPU: 2})
        stage.plane.create(node("n", extended={GPU: "8"}))
        first = stage.run_synced("first")
        put(stage, "p", "one", 2)
        until(lambda: bound(stage.plane.get("Pod", "p", stage.name)))
        found = stage.plane.get("Pod", "p", stage.name)
        assert found["metadata"]["annotations"][CHARGED] == "one", found["metadata"]
        stage.plane.patch("Pod", "p", {"metadata": {"labels": {QUEUE: "other"}}}, stage.name)
        stage.plane.stop(first)
        stage.run_synced("second")
        put(stage, "q", "one", 1)
        put(stage, "r", "other", 1)
        until(lambda: bound(stage.plane.get("Pod", "r", stage.name)))
        until(lambda: scheduled(stage, "q") == ("QueueWaiting", "queue one may use 2 nvidia.com/gpu: 2 used, 1 wanted"))


@test
def a_queue_that_an_older_kind_let_through_is_held_and_says_why(stage):
    """Others go on as before."""
    with queues(stage):
        crd = stage.plane.get("CustomResourceDefinition", "queues.scheduling.kubenexus.io")
        schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        loose = {"spec": {"versions": [{**crd["spec"]["versions"][0], "schema": {"openAPIV3Schema": schema}}]}}
        stage.plane.request("PATCH", stage.plane.path("CustomResourceDefinition", "queues.scheduling.kubenexus.io"), loose,
                            "application/merge-patch+json")
        try:
            def takes_it():
                try:
                    queue(stage, "odd", weight=0)
                    return True
                except Exception:  # not yet heard of
                    return False
            until(takes_it)
            queue(stage, "fine")
            stage.plane.create(node("n", extended={GPU: "8"}))
            stage.run_synced()
            put(stage, "p", "odd", 1)
            put(stage, "q", "fine", 1)
            until(lambda: bound(stage.plane.get("Pod", "q", stage.name)))
            until(lambda: condition(stage, "odd", "Active") == ("False", "Invalid"))
            message = next(c["message"] for c in status(stage, "odd")["conditions"] if c["type"] == "Active")
            assert message == "spec.weight: 0 is not in 1 to 1000000", message
            reason, text = scheduled(stage, "p")
            assert reason == "QueueWaiting" and "is not active" in text, (reason, text)
        finally:
            kubectl(stage.plane, "delete", "kq", "odd", "--ignore-not-found")
            kubectl(stage.plane, "apply", "-f", ROOT / "deploy/crd-queue.yaml")


def going(stage):
    return sorted(p["metadata"]["name"] for p in stage.plane.list("Pod", stage.name)
                  if p["metadata"].get("deletionTimestamp"))


@test
def a_queue_takes_back_what_is_lent_and_gangs_go_whole(stage):
    """Research is guaranteed 4 of 8 GPUs that students have borrowed, in two gangs and alone."""
    with queues(stage):
        queue(stage, "research", guaranteed={GPU: 4})
        queue(stage, "students")
        stage.plane.create(node("n", extended={GPU: "8"}))
        first = stage.run_synced("first")

        def gang(name, in_queue, size):
            for i in range(size):
                put(stage, "%s-%d" % (name, i), in_queue, 1, gang=(name, size))
        for number, (name, size) in enumerate((("old", 3), ("young", 3))):
            gang(name, "students", size)
            stage.wait_bound(3 * (number + 1))
        for i in range(2):
            put(stage, "alone-%d" % i, "students", 1)
        stage.wait_bound(8)
        gang("train", "research", 4)
        until(lambda: len(going(stage)) >= 4)
        gone = going(stage)
        assert len([name for name in gone if name.startswith("old")]) in (0, 3), gone
        assert len([name for name in gone if name.startswith("young")]) in (0, 3), gone
        stage.plane.stop(first)  # in mid-plan: the next one goes on from what is there
        stage.run_synced("second")
        for name in gone:
            stage.plane.delete("Pod", name, stage.name)
        trained = stage.plane.wait_for("Pod", lambda p: p["metadata"]["name"].startswith("train") and bound(p), 4, 60,
                                       stage.name)
        assert all(p["metadata"]["annotations"][CHARGED] == "research" for p in trained.values())
        assert going(stage) == [], going(stage)  # nobody else went
        until(lambda: amounts(stage, "research").get("used") == "4")
