"""The controllers whose pods the scenes are about, as their projects build and ship them: the definitions of their kinds,
their webhooks, and what a user of them writes."""

import base64
import re
import subprocess

from plane import free_port
from reservations import GPU, kubectl
from stage import until

AUTO = {"kubenexus.io/gang": "auto"}
CONFIG = """\
apiVersion: config.%s.x-k8s.io/v1alpha1
kind: Configuration
health: {healthProbeBindAddress: "127.0.0.1:%d"}
metrics: {bindAddress: "127.0.0.1:%d"}
webhook: {port: %d, host: 127.0.0.1, certDir: %s}
leaderElection: {leaderElect: false}
internalCertManagement: {enable: false}
"""


def template(scheduler="kubenexus-scheduler", restart="Always", **meta):
    return {"metadata": meta, "spec": {"schedulerName": scheduler, "restartPolicy": restart, "containers": [
        {"name": "w", "image": "app:1", "resources": {"requests": {"cpu": "100m"}, "limits": {GPU: "1"}}}]}}


def job_set(name, meta=None, replicas=3, parallelism=1):
    return {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": name, **(meta or {})},
            "spec": {"replicatedJobs": [{"name": "w", "replicas": replicas, "template": {"spec": {
                "parallelism": parallelism, "completions": parallelism, "completionMode": "Indexed",
                "template": template(restart="Never", annotations=AUTO)}}}]}}


def exclusive_job_set(name):
    """A domain for each of its jobs, whose second pod is made when the first has a node."""
    return job_set(name, {"annotations": {"alpha.jobset.sigs.k8s.io/exclusive-topology": "rack"}}, 2, 2)


def leader_worker_set(name, policy="LeaderCreated"):
    return {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "metadata": {"name": name},
            "spec": {"replicas": 1, "startupPolicy": policy, "leaderWorkerTemplate": {
                "size": 3, "workerTemplate": template()}}}


def ready_leader_worker_set(name):
    return leader_worker_set(name, "LeaderReady")


def ray_cluster(name):
    def part():
        made = template(annotations=AUTO)
        made["spec"]["containers"][0]["image"] = "rayproject/ray:2.49.0"
        return made
    return {"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": {"name": name}, "spec": {
        "rayVersion": "2.49.0", "headGroupSpec": {"rayStartParams": {}, "template": part()},
        "workerGroupSpecs": [{"groupName": "gpu", "replicas": 2, "minReplicas": 2, "maxReplicas": 2,
                              "rayStartParams": {}, "template": part()}]}}


def volcano_job(name):
    return {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": name}, "spec": {
        "minAvailable": 3, "schedulerName": "volcano", "queue": "default", "maxRetry": 3, "tasks": [
            {"name": "w", "replicas": 3, "template": template("volcano", "OnFailure")}]}}


class Controllers:
    """All of them, on one plane."""

    def __init__(self, plane, folder):
        self.plane, self.folder, self.certs = plane, folder, plane.folder / "webhooks"
        self.certs.mkdir()
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                        "-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1",
                        "-keyout", self.certs / "tls.key", "-out", self.certs / "tls.crt"],
                       check=True, capture_output=True)

    def start(self):
        for name in ("jobset", "lws", "ray", "volcano"):
            for kind in sorted((self.folder / (name + ".kinds")).iterdir()):
                kubectl(self, "create", "-f", kind)
        until(lambda: all("Established" in [c["type"] for c in kind["status"].get("conditions") or () if c["status"] == "True"]
                          for kind in self.plane.list("CustomResourceDefinition")))
        self.plane.known.clear()
        self.with_webhooks("jobset", "jobset")
        self.with_webhooks("lws", "lws")
        self.run("ray", "--enable-leader-election=false", "--metrics-addr=0",
                 "--health-probe-bind-address=127.0.0.1:%d" % free_port())
        self.run("volcano", "--leader-elect=false", "--controllers=+job-controller,+pg-controller,+gc-controller",
                 "--listen-address=127.0.0.1:%d" % free_port())
        self.plane.create({"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue",
                           "metadata": {"name": "default"}, "spec": {"weight": 1}})
        return self

    def run(self, name, *options):
        return self.plane.start(name, self.folder / name, "--kubeconfig=%s" % self.plane.kubeconfig("admin"), *options)

    def with_webhooks(self, name, group):
        port, config = free_port(), self.plane.folder / (name + ".yaml")
        config.write_text(CONFIG % (group, free_port(), free_port(), port, self.certs))
        child = self.run(name, "--config=%s" % config)
        until(lambda: "Serving webhook server" in self.plane.log(name) or child.poll() is not None)
        assert child.poll() is None, self.plane.log(name)
        bundle = base64.b64encode((self.certs / "tls.crt").read_bytes()).decode()
        text = re.sub(r"service:\n +name: .*\n +namespace: .*\n +path: (.*)\n",
                      lambda found: "url: https://127.0.0.1:%d%s\n    caBundle: %s\n" % (port, found[1], bundle),
                      (self.folder / (name + ".webhooks")).read_text())
        text = re.sub(r"name: (\w+)-webhook-configuration", r"name: %s-\1" % name, text)
        made = self.plane.folder / (name + "-webhooks.yaml")
        made.write_text(text)
        kubectl(self, "create", "-f", made)
