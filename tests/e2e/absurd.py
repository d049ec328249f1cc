"""Pods that say more than a pod may say, as the API server takes them: they hold up nobody."""

import time

from gangs import has_bound
from plane import node, pod
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
