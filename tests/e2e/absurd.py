"""Pods that say more than a pod may say, as the API server takes them: they hold up nobody."""

import pathlib
import re
import time

from excess import Excess
from gangs import has_bound
from keep import Keeper
from plane import bound, node, pod
from replicas import holder, replica
from stage import condition, test, until

GATES = 12000  # 230 KB; a process with the manifest's memory limit could not read so many once


def absurd(stage, name, scheduler="kubenexus-scheduler"):
    gates = [{"name": "example.com/g%d" % i} for i in range(GATES)]
    stage.plane.create(pod(name, namespace=stage.name, schedulerName=scheduler, schedulingGates=gates))


@test
def a_pod_with_too_many_gates_is_told_so_and_holds_up_nobody(stage):
    """There at the start and coming later, ours and another scheduler's."""
    stage.plane.create(node("n1"))
    absurd(stage, "early")
    absurd(stage, "early-foreign", "another")
    stage.run_synced()
    for turn in ("first", "second"):
        begin = time.monotonic()
        stage.pod(turn)
        until(lambda: turn in has_bound(stage), 5)
        print("# %s: bound after %.2f s" % (turn, time.monotonic() - begin), flush=True)
        if turn == "first":
            absurd(stage, "late")
            absurd(stage, "late-foreign", "another")
    told = "%d scheduling gates, of which a pod may have 64" % GATES
    until(lambda: {p["metadata"]["name"] for p in stage.plane.list("Pod", stage.name)
                   if told in condition(p).get("message", "")} == {"early", "late"}, 10)


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
        begin = time.monotonic()
        stage.pod(turn, cpu="1m")
        until(lambda: bound(stage.plane.get("Pod", turn, stage.name)), 5)
        print("# %s: bound after %.2f s, %.1f MiB, at first %.1f"
              % (turn, time.monotonic() - begin, peak_mb(child), base), flush=True)
        if turn == "first":
            make_all(stage, "late")
    assert child.poll() is None and holder(stage) == led
    assert peak_mb(child) <= base + MOST_MB, (peak_mb(child), base)
    stage.plane.stop(child)
    keeper.close()
