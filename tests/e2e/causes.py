"""Why gangs wait, live: the condition's first sentence is the cause, and what `kubenexus explain` says first of a dump of the
same cluster. Beside it what kube-scheduler says of such pods: of each by itself."""

import json
import os
import subprocess

from plane import node, pod
from stage import PROGRAM, test

NEXUS = "pod-group.scheduling.kubenexus.io/"
RACK = "network.kubenexus.io/rack-id"
# Each has nodes and devices of its own (DEVICE stands for their name), so that none is in another's way.
TAINTED = [{"key": "team", "value": "a", "effect": "NoSchedule"}]
CAUSES = {
    "resource": dict(ask="DEVICEE", says="no node offers {device}e (nearest: {device}); each pod of gang g-resource wants 1 {device}e"),
    "size": dict(count=9, says="no node has more than 8 {device}; each pod of gang g-size wants 9 {device}"),
    "sum": dict(size=5, count=8, nodes=2,
                says="gang g-sum needs 5 x (8 {device}, 100m cpu, 64Mi memory); 2 fit now; short of 24 {device}; "
                     "the nodes hold 2, even when empty"),
    "key": dict(spec={"nodeSelector": {"acelerator": "h100"}}, labels={"accelerator": "h100"},
                says="no node has the label acelerator, which gang g-key selects; nearest: accelerator"),
    "selector": dict(spec={"nodeSelector": {"pool": "serving"}}, labels={"pool": "training"},
                     says="no node that is large enough has pool=serving, which gang g-selector selects"),
    "taint": dict(taints=TAINTED, says="gang g-taint does not tolerate the taint team=a:NoSchedule of 1 node"),
    "cordon": dict(unschedulable=True, says="1 node that would do is cordoned"),
    "never": dict(size=3, count=8, nodes=4, racks=2, notes={"scheduling.kubenexus.io/required-topology": RACK},
                  says="gang g-never wants 3 pods in one rack (network.kubenexus.io/rack-id); the largest, never-0, holds 2 even "
                       "when empty: never"),
    "rack": dict(size=2, count=8, nodes=4, racks=2, notes={"scheduling.kubenexus.io/required-topology": RACK}, busy=[0, 2],
                 says="gang g-rack wants 2 pods in one rack (network.kubenexus.io/rack-id); rack-0 has most room: 1 now"),
    "full": dict(count=8, busy=[0],
                 says="gang g-full needs 2 x (8 {device}, 100m cpu, 64Mi memory); 1 fit now; short of 8 {device}", nodes=2),
    "cpu": dict(busy_cpu="7900m", cpu="1",
                says="gang g-cpu needs 2 x (1 {device}, 1 cpu, 64Mi memory); 0 fit now; 1 node with the rest free has too little cpu"),
    "member": dict(missing=1, says="pod group has 1 pods, needs at least 2"),
}


def device(name):
    return "example.com/" + name


def make_nodes(stage, name, nodes=1, racks=0, labels=None, taints=None, unschedulable=False, **_):
    for i in range(nodes):
        rack = {RACK: "%s-%d" % (name, i * racks // nodes)} if racks else {}
        spec = {"unschedulable": True} if unschedulable else {}
        made = node("%s-%d" % (name, i), labels={**(labels or {}), **rack}, extended={device(name): "8"}, **spec)
        if taints:
            made["spec"]["taints"] = taints
        stage.plane.create(made)


def keep_busy(stage, name, busy=(), busy_cpu=None, **_):
    for i in busy:
        stage.plane.create(pod("busy-%s-%d" % (name, i), namespace=stage.name, extended={device(name): "8"},
                               nodeName="%s-%d" % (name, i)))
    if busy_cpu:
        stage.plane.create(pod("busy-" + name, namespace=stage.name, cpu=busy_cpu, nodeName=name + "-0"))


def make_gang(stage, name, size=2, count=1, ask=None, spec=None, notes=None, missing=0, cpu="100m", **_):
    for i in range(size - missing):
        resource = device(name) + "e" if ask else device(name)
        made = pod("%s-%d" % (name, i), namespace=stage.name, schedulerName="kubenexus-scheduler", cpu=cpu,
                   extended={resource: str(count)}, **(spec or {}))
        made["metadata"]["labels"] = {NEXUS + "name": "g-" + name, NEXUS + "min-available": str(size)}
        made["metadata"]["annotations"] = notes or {}
        stage.plane.create(made)


def first_sentence(text):
    return text.split(". ")[0].rstrip(".")


def dump(stage, user="admin"):
    """The file, the exit code and what was said."""
    file = stage.plane.folder / ("%s-%s.json" % (stage.name, user))
    done = subprocess.run([PROGRAM, "dump", "--kubeconfig", stage.plane.kubeconfig(user), "-o", file],
                          capture_output=True, text=True, timeout=120)
    return file, done.returncode, done.stderr


def explain(stage, file, *args):
    done = subprocess.run([PROGRAM, "explain", "-f", file, *args, "-o", "json"], capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    return done.returncode, json.loads(done.stdout)["verdict"]


def note(name, ours, theirs):
    """For who writes the table of docs/guide/explain.md: CAUSES_TABLE names a file."""
    if os.environ.get("CAUSES_TABLE"):
        with open(os.environ["CAUSES_TABLE"], "a", encoding="utf-8") as out:
            out.write("| %s | %s | %s |\n" % (name, ours, theirs))


@test
def a_gang_hears_first_what_keeps_it_as_explain_says(stage):
    for name, cause in CAUSES.items():
        make_nodes(stage, name, **cause)
        keep_busy(stage, name, **cause)
    stage.run_synced()
    for name, cause in CAUSES.items():
        make_gang(stage, name, **cause)
    wrong = []
    said = {name: stage.wait_refused(name + "-0")["message"] for name in CAUSES}
    file, code, trouble = dump(stage)
    assert code == 0, trouble
    for name, cause in CAUSES.items():
        wanted = cause["says"].format(device=device(name))
        live = first_sentence(said[name]).split("; preemption:")[0]
        exit_code, verdict = explain(stage, file, "--gang", "%s/g-%s" % (stage.name, name))
        foreseen = verdict["headline"].split("; nobody there is less")[0].split("; evicting all")[0]
        note(name, live, "")
        for what, got in (("live", live), ("explain", foreseen)):
            if got != wanted:
                wrong.append("%s, %s: %s\n  wanted %s" % (name, what, got, wanted))
        if exit_code != 1 or len(verdict["headline"]) > 200:
            wrong.append("%s: exit code %d: %s" % (name, exit_code, verdict["headline"]))
    assert not wrong, "\n".join(wrong)


@test
def a_dump_of_who_may_not_read_all_says_what_it_lacks(stage):
    stage.plane.create(node("n"))
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "1", "controller": True}
    made = pod("train-0", namespace=stage.name, schedulerName="kubenexus-scheduler")
    made["metadata"]["ownerReferences"] = [owner]
    made["metadata"]["annotations"] = {"kubenexus.io/gang": "auto"}
    stage.plane.create(made)
    whole, code, trouble = dump(stage)
    assert code == 0 and not trouble, trouble
    objects = json.loads(whole.read_text())
    assert {"Pod", "Node", "Namespace"} <= {o["kind"] for o in objects["items"]}
    file, code, trouble = dump(stage, "kube-scheduler")
    assert code == 1 and "not allowed to read: " in trouble and "jobs.batch" in trouble, (code, trouble)
    denied = json.loads(file.read_text())["metadata"]["annotations"]["not-read"]
    assert "jobs.batch" in denied.split(","), denied
    lacks = "The files have none of these, which it needs: jobs.batch (not allowed to read)"
    for dumped, wanted in ((file, True), (whole, False)):
        told = subprocess.run([PROGRAM, "explain", "-f", dumped, "--pod", stage.name + "/train-0"], capture_output=True,
                              text=True)
        assert (lacks in " ".join(told.stdout.split())) == wanted, told
