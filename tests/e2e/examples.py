"""What examples/ shows, applied as it stands to what deploy/ installs: nobody runs while there is room for
all but one."""

import json

from plane import node
from reservations import GPU, kubectl
from stage import ROOT, condition, test

MEMBERS = 4  # of each example
PYTORCH_JOB = {
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
    "metadata": {"name": "pytorchjobs.kubeflow.org"},
    "spec": {"group": "kubeflow.org", "scope": "Namespaced",
             "names": {"kind": "PyTorchJob", "plural": "pytorchjobs"},
             "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {
                 "type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}}


def apply(stage, name):
    kubectl(stage, "apply", "-n", stage.name, "-f", ROOT / "examples" / (name + ".yaml"))


def make_room(stage, name, gpus, **labels):
    stage.plane.create(node(name, cpu="16", extended={GPU: str(gpus)}, labels=labels))


def wait_refused(stage, count):
    def refused(pod):
        return condition(pod).get("status") == "False" and not pod["spec"].get("nodeName")
    stage.plane.wait_for("Pod", refused, count, 60, stage.name)


def all_or_nothing(stage, gpus):
    """With one GPU too few all wait, with it all run."""
    make_room(stage, "few", gpus - 1)
    stage.run_installed()
    wait_refused(stage, MEMBERS)
    make_room(stage, "one", 1)
    stage.wait_bound(MEMBERS)


def run_jobs(stage, name, gpus, check=all_or_nothing, gates=()):
    """The pods of Jobs are made as they are everywhere."""
    controllers = stage.plane.start_controller_manager("--controllers=job-controller", *gates)
    try:
        apply(stage, name)
        check(stage, gpus)
    finally:
        stage.plane.stop(controllers)
        of_jobs = ("jobs", "pods", "podgroups", "workloads")  # nobody ends them now
        stage.plane.wipe(*("%s/%s/" % (kind, stage.name) for kind in of_jobs))


def beside_a_group_of_the_job(stage, gpus):
    """Kubernetes 1.37 may put the pods of each Job into a PodGroup that asks for nothing."""
    all_or_nothing(stage, gpus)
    for made in stage.plane.list("Pod", stage.name):
        name = made["spec"]["schedulingGroup"]["podGroupName"]
        group = stage.plane.get("PodGroup", name, stage.name, api="scheduling.k8s.io/v1beta1")
        assert "basic" in group["spec"]["schedulingPolicy"], group


@test
def runs_the_example_of_pytorch(stage):
    run_jobs(stage, "pytorch", 4)


@test
def runs_the_example_of_tensorflow(stage):
    run_jobs(stage, "tensorflow", 4)


@test
def runs_the_example_of_mpi(stage):
    run_jobs(stage, "mpi", 3)


WITH_OWN_GROUPS = ("--feature-gates=GenericWorkload=true,WorkloadWithJob=true",)


@test
def runs_the_example_of_tensorflow_beside_groups_of_its_jobs(stage):
    run_jobs(stage, "tensorflow", 4, beside_a_group_of_the_job, WITH_OWN_GROUPS)


@test
def runs_the_example_of_mpi_beside_groups_of_its_jobs(stage):
    run_jobs(stage, "mpi", 3, beside_a_group_of_the_job, WITH_OWN_GROUPS)


def ranks_along_racks(stage, gpus):
    rack = "network.kubenexus.io/rack-id"
    make_room(stage, "a", gpus // 2, **{rack: "r1"})
    make_room(stage, "b", gpus // 2, **{rack: "r2"})
    stage.run_installed()
    stage.wait_bound(MEMBERS)
    pods = stage.plane.request("GET", stage.plane.path("Pod", namespace=stage.name))["items"]
    found = sorted((p["metadata"]["annotations"]["kubenexus.io/rank"],
                    p["metadata"]["annotations"]["kubenexus.io/domain"]) for p in pods)
    assert found == [(str(i), "%s=r%d" % (rack, 1 + i // 2)) for i in range(MEMBERS)], found


@test
def runs_the_example_of_ranks(stage):
    run_jobs(stage, "ranks", MEMBERS, ranks_along_racks)


def make_replicas(stage, job):
    """The pods of a PyTorchJob, named and labelled as the training operator does."""
    for kind, replica in job["spec"]["pytorchReplicaSpecs"].items():
        template = replica["template"]
        for index in range(replica["replicas"]):
            labels = {"training.kubeflow.org/job-name": job["metadata"]["name"],
                      "training.kubeflow.org/operator-name": "pytorchjob-controller",
                      "training.kubeflow.org/replica-index": str(index),
                      "training.kubeflow.org/replica-type": kind.lower(), **template["metadata"]["labels"]}
            owner = {"apiVersion": job["apiVersion"], "kind": job["kind"], "name": job["metadata"]["name"],
                     "uid": job["metadata"]["uid"], "controller": True}
            name = "%s-%s-%d" % (job["metadata"]["name"], kind.lower(), index)
            stage.plane.create({"apiVersion": "v1", "kind": "Pod", "spec": template["spec"], "metadata": {
                "name": name, "namespace": stage.name, "labels": labels, "ownerReferences": [owner]}})


@test
def runs_the_example_of_kubeflow(stage):
    kubectl(stage, "apply", "-f", "-", given=PYTORCH_JOB)
    kubectl(stage, "wait", "--for=condition=Established", "--timeout=20s", "crd/pytorchjobs.kubeflow.org")
    apply(stage, "kubeflow")
    job = kubectl(stage, "get", "-n", stage.name, "pytorchjobs.kubeflow.org", "bert", "-o", "json")
    make_replicas(stage, json.loads(job))
    all_or_nothing(stage, 4)
    kubectl(stage, "delete", "crd", "pytorchjobs.kubeflow.org")


def run_driver(stage, name, worker, labels):
    """The driver waits until its workers fit, and has their room when they come: less than half of
    the cluster, which is what a namespace may hold."""
    make_room(stage, "busy", 4)
    stage.pod("other", extended={GPU: "4"}, nodeName="busy")
    make_room(stage, "few", 2)
    apply(stage, name)
    stage.run_installed()
    wait_refused(stage, 1)
    make_room(stage, "one", 1)
    stage.wait_bound(2)
    stage.pod("thief", extended={GPU: "1"})
    stage.wait_refused("thief")
    for index in range(MEMBERS - 1):
        stage.pod("%s-%d" % (worker, index), cpu="1", memory="1Gi", labels=labels, extended={GPU: "1"})
    bound = stage.wait_bound(1 + MEMBERS)
    assert "thief" not in bound, bound


@test
def runs_the_example_of_spark(stage):
    run_driver(stage, "spark", "pi-exec", {"spark-app-id": "spark-pi", "spark-role": "executor"})


@test
def runs_the_example_of_ray(stage):
    run_driver(stage, "ray", "rllib-worker", {"ray.io/cluster": "rllib", "ray.io/node-type": "worker"})
