"""Each cause of tests/cli/causes on a real API server: what the pods of the scene hear from us, and what a pod like theirs hears
from the real kube-scheduler on the same nodes."""

import copy
import importlib.machinery
import importlib.util
import itertools
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
# Runs beside etl-1 until it is gone.
LOST = causes.runs("n0", "etl-0", labels={causes.GROUP + "name": "etl", causes.GROUP + "min-available": "2"})


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
    deadline = time.monotonic() + PATIENCE  # that members are missing is said after 10 s, and why when it is known
    while first_sentence(heard(stage, name)) != first_sentence(wanted) and time.monotonic() < deadline:
        time.sleep(0.02)
    return heard(stage, name)


class Upstream:
    """The real kube-scheduler."""

    def __init__(self, stage):
        self.stage, self.numbers, self.child = stage, itertools.count(), stage.plane.start_scheduler()
        stage.started.append(self.child)

    def told(self, name):
        assert self.child.poll() is None, "kube-scheduler has ended"
        pod = self.stage.plane.get("Pod", name, self.stage.name)
        return "(starts)" if pod["spec"].get("nodeName") else condition(pod).get("message", "")

    def asked(self, first):
        """What it says of a pod like the first one of the scene, when it had its turn."""
        number = next(self.numbers)  # another pod of the same name could hear what is said of this one
        twin, marker = copy.deepcopy(first), causes.pod("marker-%d" % number, nodeSelector={"is": "nowhere"})
        twin["metadata"].update(name="twin-%d" % number, labels={})
        names = [thing["metadata"]["name"] for thing in (twin, marker)]
        for thing in (twin, marker):
            thing["spec"]["schedulerName"] = "default-scheduler"
            put(self.stage, thing)
        until(lambda: self.told(names[1]))  # its turn comes behind the twin's
        said = self.told(names[0]).split(" preemption:")[0]
        for name in names:
            self.stage.plane.delete("Pod", name, self.stage.name)
        return said

    def says(self, first, wanted):
        """What it says once that is wanted, or in the end. Nothing orders its watches of nodes, volumes and
        pods, it binds while the next pod has its turn, and what it said stands until an event would help the
        pod: so it is asked again."""
        deadline = time.monotonic() + PATIENCE
        while (said := self.asked(first)) != wanted and time.monotonic() < deadline:
            pass
        return said


def play(stage, upstream, name, things):
    """Wrong sentences of ours and of kube-scheduler's. Ours is started when the scene is there, and has read all of
    it before it looks at a pod."""
    waiting = [t for t in things if t["kind"] == "Pod" and not t["spec"].get("nodeName")]
    slots = [t for t in things if t["metadata"]["name"].endswith("-slot")]
    for thing in things:
        if thing not in waiting and thing not in slots:
            put(stage, thing)
    if slots:
        put(stage, LOST)
    child = stage.run_synced(name.replace(" ", "-"))
    if slots:
        stage.plane.delete("Pod", LOST["metadata"]["name"], stage.name)
    for thing in waiting:
        put(stage, thing)
    wanted, said = (text.replace("ml/", stage.name + "/") for text in (causes.live(name), causes.upstream(name)))
    ours = wanted and hears(stage, "bert-0", wanted)
    stage.plane.wipe("resourcequotas/")  # of which the twin would want its share
    theirs = upstream.says(waiting[0], said)
    ours = ours or heard(stage, "bert-0")  # who hears nothing has had as much time as the twin
    stage.plane.stop(child)
    stage.started.remove(child)
    stage.plane.wipe(*WIPED)
    stage.plane.wait_for("Pod", lambda p: True, 0, PATIENCE, stage.name)
    stage.plane.wait_for("Node", lambda n: True, 0, PATIENCE)
    if first_sentence(ours) != first_sentence(wanted):
        yield "%s: we say: %s\n  wanted: %s" % (name, ours, wanted)
    if theirs != said:
        yield "%s: kube-scheduler says: %s\n  wanted: %s" % (name, theirs, said)


@test
def each_cause_is_heard_as_the_guide_has_it(stage):
    define(stage)
    for value, policy in PRIORITIES.items():
        stage.plane.create({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "value": value,
                            "preemptionPolicy": policy, "metadata": {"name": "class-%d" % value}})
    upstream = Upstream(stage)
    wrong = [line for name, (things, _) in causes.CASES.items() for line in play(stage, upstream, name, things)]
    assert not wrong, "\n".join(wrong)
