#!/usr/bin/env python3
"""The same pods, one by one, on two real control planes: kube-scheduler decides on one, kubenexus on
the other.

    differential.py [--themes A,B] [--seeds FROM-TO]

Clusters are those of tests/differential/generate.py. Our node must be one that kube-scheduler scores
highest; refusals must carry the same texts. Exit 0: so it is, 1: some differ, 2: bad usage, 77: the programs
cannot be had here.
"""

import argparse
import copy
import json
import re
import sys

sys.dont_write_bytecode = True

from twins import Twins, stage  # noqa: E402  (leaves no files behind only now)
from client import Refused  # noqa: E402
from plane import NoPlane, programs  # noqa: E402
import generate  # noqa: E402
from oracle import NoOracle, Oracle  # noqa: E402
from themes import ALL  # noqa: E402

PODS = 3  # of each case, as long as there is room
BOUND = "pv.kubernetes.io/bind-completed"
# Nobody makes volumes for claims that wait, nor claims from templates of devices.
THEMES = [theme for theme in ALL if theme not in ("waiting", "dra", "extended")]


def split(case):
    """(the pod to place, everything else). Other pods that wait are somebody else's."""
    objects = copy.deepcopy(case["objects"])
    target = next(o for o in objects if o["kind"] == "Pod" and o["metadata"]["name"] == "target")
    target["spec"].pop("nodeName", None)
    target["spec"].pop("schedulerName", None)
    target["status"] = {key: value for key, value in target["status"].items() if key == "nominatedNodeName"}
    objects.remove(target)
    for o in objects:
        if o["kind"] == "Pod" and not o["spec"].get("nodeName"):
            o["spec"]["schedulerName"] = "nobody"
    return target, objects


def waits(target, others):
    """Would the pod be held back until somebody makes its volumes? Nobody does here."""
    late = any(o.get("volumeBindingMode") == "WaitForFirstConsumer" for o in others)
    asked = {v["persistentVolumeClaim"]["claimName"] if "persistentVolumeClaim" in v else "target-" + v["name"]
             for v in target["spec"].get("volumes") or []}
    return late and any(o["kind"] == "PersistentVolumeClaim" and o["metadata"]["name"] in asked
                        and BOUND not in o["metadata"].get("annotations", {}) for o in others)


def told(twin, pod):
    """What the pod and its owner are told, but for the choice among equal nodes."""
    meta = pod["metadata"]
    where = pod["spec"].get("nodeName")
    condition = stage.condition(pod)
    said = {key: condition.get(key) for key in ("status", "reason", "message")}
    event = twin.note(meta["name"], meta["namespace"], "Scheduled" if where else "FailedScheduling")
    text = json.dumps([said, event])
    if where:
        return text.replace("to " + where, "to NODE")
    return re.sub("potential placement for pod on node [^,]*,", "potential placement for pod on node NODE,", text)


def evicted(twin, before):
    """The pods that are being deleted now and were not before."""
    return sorted(name for name in leaving(twin.list("Pod")) if name not in before)


def leaving(pods):
    return {"%(namespace)s/%(name)s" % p["metadata"] for p in pods if "deletionTimestamp" in p["metadata"]}


def choice(want, twin, pod, before):
    """What is wrong with a scheduler's choice, "" if nothing."""
    where = pod["spec"].get("nodeName")
    if want["wouldChoose"]:
        return "" if where in want["wouldChoose"] else "%s is none of %s" % (where, want["wouldChoose"])
    preempts = want.get("preemption") or {"ties": [], "candidates": {}}
    if where:
        return "%s, but none fits" % where
    if not preempts["ties"]:
        return ""
    meta = pod["metadata"]
    nominee = stage.until(lambda: twin.get("Pod", meta["name"], meta["namespace"])["status"].get("nominatedNodeName"))
    if nominee not in preempts["ties"]:
        return "nominated to %s, none of %s" % (nominee, preempts["ties"])
    victims = [name for name in preempts["candidates"][nominee] if name not in before]
    stage.until(lambda: evicted(twin, before) == victims)
    return ""


def place(twins, oracle, pod, start):
    """(what is wrong with one pod's fate, the nodes it came to on both)"""
    seen = twins.theirs.dump()
    before = leaving(o for o in seen if o["kind"] == "Pod")
    made = twins.both(lambda twin: twin.put(pod))
    if start:
        twins.both(lambda twin: twin.schedule())
    key = "%(namespace)s/%(name)s" % made[0]["metadata"]
    want = oracle.answer({"name": key, "pod": key, "text": "".join(
        "---\n" + json.dumps(o) + "\n" for o in [*seen, made[0]])})
    if want.get("failed") or want.get("error") or want.get("gated"):
        return [], None  # no decision to compare
    name, namespace = pod["metadata"]["name"], pod["metadata"]["namespace"]
    fates = twins.both(lambda twin: twin.fate(name, namespace))
    wrong = ["%s: %s" % (who, what) for who, what in zip(
        ("kube-scheduler", "kubenexus"),
        (choice(want, twin, fate, before) for twin, fate in zip((twins.theirs, twins.ours), fates))) if what]
    texts = [told(twin, fate) for twin, fate in zip((twins.theirs, twins.ours), fates)]
    if texts[0] != texts[1]:
        wrong.append("kube-scheduler says %s, kubenexus %s" % (*texts,))
    return wrong, [fate["spec"].get("nodeName") for fate in fates]


def compare(twins, oracle, case):
    """What is wrong, as lines, and how many pods were placed or refused."""
    target, others = split(case)
    if waits(target, others):
        return [], 0
    twins.both(lambda twin: twin.clear())
    twins.both(lambda twin: twin.load(others))
    pod, wrong, count = target, [], 0
    while not wrong and count < PODS:
        wrong, nodes = place(twins, oracle, pod, start=count == 0)
        count += 1
        if not nodes or not all(nodes):
            break
        if nodes[0] != nodes[1]:  # equals: go on from where kube-scheduler put it
            name, namespace = pod["metadata"]["name"], pod["metadata"]["namespace"]
            twins.ours.delete("Pod", name, namespace)
            moved = copy.deepcopy(pod)
            moved["spec"]["nodeName"] = nodes[0]
            twins.ours.put(moved)
        pod = copy.deepcopy(target)
        pod["metadata"]["name"] += "-%d" % (count + 1)
        pod["status"] = {}
    return ["%s, pod %d: %s" % (case["name"], count, line) for line in wrong], count


def run(cases, report, **ours):
    """The lines of all that is wrong; `report` hears of each case."""
    found = []
    with Twins(**ours) as twins, Oracle() as oracle:
        for case in cases:
            try:
                wrong, count = compare(twins, oracle, case)
            except (AssertionError, TimeoutError, Refused) as e:
                wrong, count = ["%s: %s: %s" % (case["name"], type(e).__name__, e)], 0
            found += wrong
            report(case, wrong, count)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    generate.arguments(parser, THEMES)
    options = parser.parse_args()
    cases = pods = 0

    def report(case, wrong, count):
        nonlocal cases, pods
        cases, pods = cases + 1, pods + count
        fine = "%s: %d pods, the same" % (case["name"], count) if count else case["name"] + ": left out"
        print("\n".join(wrong) or fine, flush=True)
    try:
        programs()
        wrong = run(generate.chosen(options), report)
    except (NoPlane, NoOracle) as why:
        print("differential.py: %s" % why, file=sys.stderr)
        return 77
    print("%d cases, %d pods, %d differ" % (cases, pods, len(wrong)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
