"""Who waits starts with the event that lets it, and in its turn."""

import time

from gangs import has_bound, member
from plane import node
from stage import test, until

GPU = "example.com/gpu"
SOON = 30  # seconds: no clock is waited for (the queue's is five minutes), and the machine may be busy
CONFIG = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {kubeconfig: %s}
leaderElection: {leaderElect: false}
profiles:
- schedulerName: kubenexus-scheduler
  plugins:
    multiPoint:
      enabled: [{name: KubeNexus}]
  pluginConfig:
  - name: Coscheduling
    args: {starvationThresholdSeconds: %d}
"""


def gang(stage, name, members, **how):
    for i in range(members):
        member(stage, "%s-%d" % (name, i), name, members, extended={GPU: "1"}, **how)


def wait_started(stage, name, members, timeout=SOON):
    def started():
        return [p for p in has_bound(stage) if p.startswith(name + "-")]
    return until(lambda: len(started()) == members, timeout)


@test
def a_gang_starts_with_the_node_that_becomes_usable(stage):
    """Uncordoned, freed of a taint (as nodes that an autoscaler adds), or labelled: at once."""
    taint = {"key": "node.example.com/starting", "effect": "NoSchedule"}
    out = {"cordoned": ({"unschedulable": True}, {"spec": {"unschedulable": None}}),
           "tainted": ({"taints": [taint]}, {"spec": {"taints": None}}),
           "bare": ({}, {"metadata": {"labels": {"pool": "bare"}}})}
    for name, (spec, _) in out.items():
        pool = {"pool": name}
        stage.plane.create(node(name + "-two", extended={GPU: "2"}, labels=pool))
        stage.plane.create(node(name, extended={GPU: "2"}, labels={} if name == "bare" else pool,
                                **spec))
    stage.run_synced()
    for name, (_, patch) in out.items():
        gang(stage, name, 4, nodeSelector={"pool": name})
        for i in range(4):
            stage.wait_told("%s-%d" % (name, i), "room for 2 of 4 pods")
        begin = time.monotonic()
        stage.plane.patch("Node", name, patch)
        wait_started(stage, name, 4)
        print("# %s: started after %.2f s" % (name, time.monotonic() - begin), flush=True)


@test
def who_was_refused_a_second_ago_keeps_its_turn(stage):
    stage.plane.create({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
                        "metadata": {"name": "sooner"}, "value": 5,
                        "preemptionPolicy": "Never"})
    stage.plane.create(node("n", extended={GPU: "2"}))
    stage.pod("full", extended={GPU: "2"})
    stage.bind("full", "n")
    stage.run_synced()
    gang(stage, "older", 2)
    stage.wait_refused("older-1")
    begin = time.monotonic()
    until(lambda: time.monotonic() > begin + 3)  # kube-scheduler's wait for a first refusal is over
    gang(stage, "higher", 2, priorityClassName="sooner")
    stage.wait_refused("higher-1")
    stage.plane.delete("Pod", "full", stage.name)
    wait_started(stage, "higher", 2)
    assert not [p for p in has_bound(stage) if p.startswith("older-")], has_bound(stage)


@test
def small_pods_do_not_take_the_room_of_a_gang_that_starves(stage):
    """Room is freed one GPU at a time, and there is always a small pod that waits."""
    stage.plane.create(node("n", extended={GPU: "4"}, labels={"pool": "gpu"},
                            taints=[{"key": "gpu", "effect": "NoSchedule"}]))
    tolerates = [{"key": "gpu", "operator": "Exists"}]
    for i in range(4):
        stage.pod("full-%d" % i, extended={GPU: "1"}, tolerations=tolerates)
        stage.bind("full-%d" % i, "n")
    file = stage.plane.folder / "waking.yaml"
    file.write_text(CONFIG % (stage.plane.kubeconfig("kubenexus"), 3))
    stage.until_says(stage.run("--config", file), '"synced"')
    gang(stage, "big", 4, nodeSelector={"pool": "gpu"}, tolerations=tolerates)
    stage.wait_refused("big-0")
    begin = time.monotonic()
    until(lambda: time.monotonic() > begin + 4)  # it starves
    for i in range(4):
        stage.pod("small-%d" % i, extended={GPU: "1"}, tolerations=tolerates)
        stage.wait_refused("small-%d" % i)
        stage.plane.delete("Pod", "full-%d" % i, stage.name)
        until(lambda i=i: "full-%d" % i not in stage.nodes_of())
    wait_started(stage, "big", 4)
    assert not [p for p in has_bound(stage) if p.startswith("small-")], has_bound(stage)
