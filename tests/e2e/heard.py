"""Each cause of tests/cli/causes on a real API server: what the pods of the scene hear from us, and what a pod like theirs hears
from the real kube-scheduler on the same nodes."""

import copy
import importlib.machinery
import importlib.util
import re
import time

from client import Refused
from reservations import define
from stage import PATIENCE, ROOT, condition, test, until

loader = importlib.machinery.SourceFileLoader("causes_of_dumps", str(ROOT / "tests/cli/causes/run"))
causes = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
loader.exec_module(causes)

PRIORITIES = {-5: "PreemptLowerPriority", 10: "PreemptLowerPriority", 0: "Never"}
WIPED = ("pods/", "minions/", "persistentvolumes/", "persistentvolumeclaims/", "poddisruptionbudgets/",
         "scheduling.kubenexus.io/resourcereservations/", "resourceclaims/", "resourcequotas/", "jobs/")


def class_of(spec):
    """Admission sets priorities: they come from classes."""
    value, policy = spec.pop("priority", 0), spec.pop("preemptionPolicy", None)
    return "class-%d" % value if value or policy else None


def alive(stage, thing):
    """The object as the server takes it."""
    made = copy.deepcopy(thing)
    made["metadata"].pop("creationTimestamp", None)
    if "namespace" in made["metadata"]:
        made["metadata"]["namespace"] = stage.name
    if made["kind"] == "PersistentVolume":
        made["spec"]["claimRef"]["namespace"] = stage.name
    if made["kind"] == "Pod" and (name := class_of(made["spec"])):
        made["spec"]["priorityClassName"] = name
    return made


def is_created(stage, made):
    """A quota that has just come or gone counts a moment later."""
    try:
        stage.plane.create(made)
    except Refused as why:
        if why.code != 403:
            raise
        return False
    return True


def put(stage, thing):
    made = alive(stage, thing)
    until(lambda: is_created(stage, made))
    if made["kind"] == "ResourceQuota":  # the API server itself counts what is used
        made["status"]["used"] = {name: "0" for name in made["status"]["hard"]}
    if made["kind"] in ("PersistentVolume", "PersistentVolumeClaim", "ResourceQuota"):
        stage.plane.patch(made["kind"], made["metadata"]["name"], {"status": made["status"]},
                          made["metadata"].get("namespace"), sub="status")


def heard(stage, name):
    return condition(stage.plane.get("Pod", name, stage.name)).get("message", "")


def first_sentence(text):
    return re.sub(r" until [-\d]+T[:\d]+Z", " until T", text.split(". ")[0].split("; preemption:")[0].rstrip("."))


def hears(stage, name, wanted):
    """What it hears once that is wanted, or in the end."""
    deadline = time.monotonic() + PATIENCE / 3  # that members are missing is said after 10 s, and why when it is known
    while first_sentence(heard(stage, name)) != first_sentence(wanted) and time.monotonic() < deadline:
        time.sleep(0.02)
    return heard(stage, name)


def fate_of_twin(stage, first):
    """What kube-scheduler says of a pod like the first one of the scene."""
    twin = copy.deepcopy(first)
    twin["metadata"].update(name="twin", labels={})
    twin["spec"]["schedulerName"] = "default-scheduler"
    put(stage, twin)
    put(stage, causes.pod("marker", schedulerName="default-scheduler", nodeSelector={"is": "nowhere"}))

    def told(name):
        pod = stage.plane.get("Pod", name, stage.name)
        return "(starts)" if pod["spec"].get("nodeName") else condition(pod).get("message", "")
    until(lambda: told("marker"))  # whose turn comes behind the twin's
    return told("twin").split(" preemption:")[0]


def lose_a_member(stage):
    """etl-0 runs on n0, until it is gone."""
    labels = {causes.GROUP + "name": "etl", causes.GROUP + "min-available": "2"}
    put(stage, causes.runs("n0", "etl-0", labels=labels))
    stage.plane.wait_for("Pod", lambda p: True, 2, PATIENCE, stage.name)
    stage.plane.delete("Pod", "etl-0", stage.name)


def play(stage, name, things):
    """Sentences of ours and of kube-scheduler's."""
    waiting = [t for t in things if t["kind"] == "Pod" and not t["spec"].get("nodeName")]
    slots = [t for t in things if t["metadata"]["name"].endswith("-slot")]
    for thing in things:
        if thing not in waiting and thing not in slots:
            put(stage, thing)
    if slots:
        lose_a_member(stage)
    for thing in waiting:
        put(stage, thing)
    wanted = causes.live(name).replace("ml/", stage.name + "/")
    ours = wanted and hears(stage, "bert-0", wanted)
    stage.plane.wipe("resourcequotas/")  # of which the twin would want its share
    theirs = fate_of_twin(stage, waiting[0])
    ours = ours or heard(stage, "bert-0")  # who hears nothing has had as much time as the twin
    stage.plane.wipe(*WIPED)
    stage.plane.wait_for("Pod", lambda p: True, 0, PATIENCE, stage.name)
    stage.plane.wait_for("Node", lambda n: True, 0, PATIENCE)
    return wanted, ours, theirs


@test
def each_cause_is_heard_as_the_guide_has_it(stage):
    define(stage)
    for value, policy in PRIORITIES.items():
        stage.plane.create({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "value": value,
                            "preemptionPolicy": policy, "metadata": {"name": "class-%d" % value}})
    stage.run_synced()
    stage.started.append(stage.plane.start_scheduler())
    wrong = []
    for name, (things, _) in causes.CASES.items():
        wanted, ours, theirs = play(stage, name, things)
        if first_sentence(ours) != first_sentence(wanted):
            wrong.append("%s: we say: %s\n  wanted: %s" % (name, ours, wanted))
        if theirs != (said := causes.upstream(name).replace("ml/", stage.name + "/")):
            wrong.append("%s: kube-scheduler says: %s\n  wanted: %s" % (name, theirs, said))
    assert not wrong, "\n".join(wrong)
