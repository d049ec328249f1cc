"""Standing in line: what was learned of run times outlives a restart."""

import json

from plane import node, pod
from reservations import GPU, EARLIER, define, kubectl
from stage import test, until

CONFIG = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {kubeconfig: %s}
leaderElection: {leaderElect: false, resourceName: e2e}
profiles:
- schedulerName: kubenexus-scheduler
  plugins:
    multiPoint:
      enabled: [{name: Coscheduling}, {name: LinePolicy}]
  pluginConfig:
  - name: LinePolicy
    args: {policy: easy}
"""
MEMORY = "scheduling.kubenexus.io/run-times"


def run(stage, name):
    file = stage.plane.folder / "lines.yaml"
    file.write_text(CONFIG % stage.plane.kubeconfig("kubenexus"))
    child = stage.run("--config", file, name=name)
    stage.until_says(child, '"synced"')
    return child


def put(stage, name, gpus, runs=None):
    made = pod(name, namespace=stage.name, extended={GPU: str(gpus)}, schedulerName="kubenexus-scheduler")
    if runs:
        made["metadata"]["annotations"] = {"scheduling.kubenexus.io/expected-duration": runs}
    stage.plane.create(made)


def end(stage, name):
    kubectl(stage, "patch", "pod", name, "-n", stage.name, "--subresource=status", "-p",
            json.dumps({"status": {"phase": "Succeeded"}}))


def memory(stage):
    """How many ends are written down, times the ways in which each is noted."""
    found = json.loads(kubectl(stage, "get", "rr", "-n", "kube-system", "-o", "json"))["items"]
    texts = [r["metadata"].get("annotations", {}).get(MEMORY) for r in found
             if r["metadata"]["name"] == "e2e-run-times"]
    return int(texts[0].split()[1]) if texts else 0


@test
def knows_after_a_restart_how_long_pods_run(stage):
    define(stage)
    stage.plane.create(node("n", extended={GPU: "8"}))
    first = run(stage, "first")
    names = ["train-%d" % i for i in range(5)]
    for name in names:
        put(stage, name, 1)
    stage.wait_bound(5)
    for name in names:
        end(stage, name)
    until(lambda: memory(stage) == 15)
    stage.plane.stop(first)

    second = run(stage, "second")
    put(stage, "busy", 7, "1h")
    until(lambda: stage.nodes_of()["busy"])
    put(stage, "head", 8)
    stage.wait_refused("head")
    put(stage, "train-9", 1)  # would have to wait if nobody knew that it ends before the hour
    until(lambda: stage.nodes_of()["train-9"])
    assert not stage.nodes_of()["head"]
    stage.plane.stop(second)

    kubectl(stage, "annotate", "rr", "e2e-run-times", "-n", "kube-system", "--overwrite", MEMORY + "=1 15 garbage")
    third = run(stage, "third")
    stage.until_says(third, "cannot be read")
    end(stage, "train-9")
    put(stage, "train-10", 1)  # nobody knows any more
    until(lambda: "would delay" in stage.wait_refused("train-10")["message"])
    kubectl(stage, "delete", "crd", EARLIER["metadata"]["name"])
