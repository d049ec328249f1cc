"""Pods that say more than a pod may say, as the API server takes them: they hold up nobody."""

import pathlib
import re
import time

from excess import Excess
from keep import Keeper
from plane import bound, node, pod
from replicas import holder, replica
from stage import condition, spent, test, until

GATES = 12000  # 230 KB; a process with the manifest's memory limit could not read so many once


def bystander(stage, child, name, **how):
    """It is bound as if nothing was; what is in its way costs seconds of the processor, others' use of which is not
    counted."""
    begin, before = time.monotonic(), spent(child)[0]
    stage.pod(name, **how)
    until(lambda: bound(stage.plane.get("Pod", name, stage.name)))
    used = spent(child)[0] - before
    print("# %s: bound after %.2f s, %.2f of the processor" % (name, time.monotonic() - begin, used), flush=True)
    assert used < 5, used


def absurd(stage, name, scheduler="kubenexus-scheduler"):
    gates = [{"name": "example.com/g%d" % i} for i in range(GATES)]
    stage.plane.create(pod(name, namespace=stage.name, schedulerName=scheduler, schedulingGates=gates))


@test
def a_pod_with_too_many_gates_is_told_so_and_holds_up_nobody(stage):
    """There at the start and coming later, ours and another scheduler's."""
    stage.plane.create(node("n1"))
    absurd(stage, "early")
    absurd(stage, "early-foreign", "another")
    child = stage.run_synced()
    for turn in ("first", "second"):
        bystander(stage, child, turn)
        if turn == "first":
            absurd(stage, "late")
            absurd(stage, "late-foreign", "another")
    told = "%d scheduling gates, of which a pod may have 64" % GATES
    until(lambda: {p["metadata"]["name"] for p in stage.plane.list("Pod", stage.name)
                   if told in condition(p).get("message", "")} == {"early", "late"})


MOST_MB = 64  # beyond what it takes without them; bench/trials has more, and larger ones


def peak_mb(child):
    status = pathlib.Path("/proc/%d/status" % child.pid).read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) / 1024


def make_all(stage, tag):
    """Ours, another scheduler's, and those that run."""
    for who, scheduler, on in (("o", "kubenexus-scheduler", None), ("a", "another", None), ("r", "another", "n1")):
        excess = Excess(stage.name, "%s-%s-" % (tag, who), scheduler, on)
        for what, objects in (("g", excess.gates(GATES) if not on else ()), ("s", excess.constraints(5000)),
                              ("n", excess.resources(5000)), ("d", excess.drivers(25, 100)),
                              ("t", excess.apart(25, 50))):
            excess.tag = "%s-%s-%s" % (tag, who, what)
            stage.plane.create_all(objects)


@test
def what_nobody_expects_costs_little(stage):
    """With the memory that the Deployment has, and a lease that is kept."""
    keeper = Keeper()
    stage.plane.create(node("n1", cpu="64", pods="1000"))
    plain = replica(stage, "plain")
    stage.until_says(plain, '"synced"')
    base = peak_mb(plain)
    stage.plane.stop(plain)
    make_all(stage, "early")
    child = replica(stage, "kept", before=keeper.command)
    stage.until_says(child, "became leader")
    led = holder(stage)
    for turn in ("first", "second", "third"):
        bystander(stage, child, turn, cpu="1m")
        print("# %.1f MiB, at first %.1f" % (peak_mb(child), base), flush=True)
        if turn == "first":
            make_all(stage, "late")
    assert child.poll() is None and holder(stage) == led
    assert peak_mb(child) <= base + MOST_MB, (peak_mb(child), base)
    stage.plane.stop(child)
    keeper.close()
