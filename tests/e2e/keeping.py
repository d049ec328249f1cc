"""Room is kept for who starves, whatever its pods must have beside it."""

import time

from gangs import has_bound, member
from plane import node
from stage import test, until
from waking import CONFIG, GPU, wait_started

RACK = "scheduling.kubenexus.io/required-topology"


def starve(stage, seconds=3):
    """The scheduler runs, and who has waited longer than so many seconds starves."""
    file = stage.plane.folder / "keeping.yaml"
    file.write_text(CONFIG % (stage.plane.kubeconfig("kubenexus"), seconds))
    stage.until_says(stage.run("--config", file), '"synced"')


def fill(stage, name, gpus, **how):
    """A node of so many GPUs, each of which a pod has."""
    stage.plane.create(node(name, extended={GPU: str(gpus)}, **how))
    for i in range(gpus):
        stage.pod("full-%s-%d" % (name, i), extended={GPU: "1"})
        stage.bind("full-%s-%d" % (name, i), name)


def empty(stage, name, gpus):
    """The pods of the node end one after the other, and each time a small one waits for the room."""
    for i in range(gpus):
        small = "small-%s-%d" % (name, i)
        stage.pod(small, extended={GPU: "1"})
        stage.wait_refused(small)
        full = "full-%s-%d" % (name, i)
        stage.plane.delete("Pod", full, stage.name)
        until(lambda full=full: full not in stage.nodes_of())


@test
def small_pods_do_not_take_the_rack_of_a_gang_that_starves(stage):
    """Four pods that take whole nodes, all in one rack; room is freed one GPU at a time."""
    for i in range(5):
        fill(stage, "n%d" % i, 2, labels={"example.com/rack": "a" if i < 4 else "b"})
    starve(stage)
    for i in range(4):
        member(stage, "big-%d" % i, "big", 4, extended={GPU: "2"},
               annotations={RACK: "example.com/rack"})
    stage.wait_refused("big-0")
    begin = time.monotonic()
    until(lambda: time.monotonic() > begin + 4)
    for i in range(4):
        empty(stage, "n%d" % i, 2)
    wait_started(stage, "big", 4)
    assert not [p for p in has_bound(stage) if p.startswith("small-")], has_bound(stage)
