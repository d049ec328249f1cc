"""The controllers whose pods the scenes are about, as their projects build and ship them: the definitions of their kinds,
their webhooks, and what a user of them writes."""

import base64
import pathlib
import re
import subprocess

from client import Refused
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


# One certificate is its own authority, under every name that a controller looks for before it makes another.
NAMES = ("IP:127.0.0.1,DNS:kueue-ca,DNS:kueue-webhook-service.kueue-system.svc,"
         "DNS:training-operator-ca,DNS:training-operator.kubeflow.svc")
KUEUE = """\
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
namespace: kueue-system
health: {healthProbeBindAddress: "127.0.0.1:%d"}
metrics: {bindAddress: "127.0.0.1:%d"}
webhook: {port: %d, host: 127.0.0.1, certDir: %s}
leaderElection: {leaderElect: false}
internalCertManagement: {enable: true}
integrations: {frameworks: [batch/job, pod, statefulset]}
"""
QUEUE = {"kueue.x-k8s.io/queue-name": "team"}


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


def queued_stateful_set(name):
    """Its pods are made one after the other, and Kueue admits them as a group."""
    labels = {"app": name}
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": name, "labels": QUEUE},
            "spec": {"replicas": 3, "selector": {"matchLabels": labels}, "template": template(labels=labels)}}


def queued_job(name):
    """Kueue holds it suspended until there is quota."""
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "labels": QUEUE}, "spec": {
        "parallelism": 3, "completions": 3, "completionMode": "Indexed",
        "template": template(restart="Never", annotations=AUTO)}}


def queued_pod(name, number):
    """One of a group that nobody but its user made: Kueue lifts its gate."""
    made = template(restart="Never", name="%s-%d" % (name, number), annotations={"kueue.x-k8s.io/pod-group-total-count": "3"},
                    labels={**QUEUE, "kueue.x-k8s.io/pod-group-name": name})
    return {"apiVersion": "v1", "kind": "Pod", **made}


def queued_pods(name):
    return [queued_pod(name, number) for number in range(3)]


def kubeflow(kind, field, container, name, **replicas):
    """A job of Kubeflow with so many pods of each role."""
    made = template(annotations=AUTO)
    del made["spec"]["restartPolicy"]
    made["spec"]["containers"][0]["name"] = container
    return {"apiVersion": "kubeflow.org/v1", "kind": kind, "metadata": {"name": name}, "spec": {field: {
        role: {"replicas": n, "restartPolicy": "OnFailure", "template": made} for role, n in replicas.items()}}}


def pytorch_job(name):
    return kubeflow("PyTorchJob", "pytorchReplicaSpecs", "pytorch", name, Master=1, Worker=2)


def tf_job(name):
    return kubeflow("TFJob", "tfReplicaSpecs", "tensorflow", name, PS=1, Worker=2)


class Controllers:
    """All of them, on one plane."""

    def __init__(self, plane, folder):
        self.plane, self.folder, self.certs = plane, folder, plane.folder / "webhooks"
        self.certs.mkdir()
        self.openssl("genrsa", "-traditional", "-out", self.certs / "tls.key", "2048")
        self.openssl("req", "-x509", "-key", self.certs / "tls.key", "-days", "365", "-subj", "/CN=127.0.0.1",
                     "-addext", "subjectAltName=" + NAMES, "-out", self.certs / "tls.crt")

    def openssl(self, *arguments):
        subprocess.run(["openssl", *arguments], check=True, capture_output=True)

    def start(self):
        for name in ("jobset", "kueue", "lws", "ray", "training", "volcano"):
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
        self.start_training()
        self.start_kueue()
        return self

    def run(self, name, *options, under=()):
        return self.plane.start(name, *under, self.folder / name, "--kubeconfig=%s" % self.plane.kubeconfig("admin"), *options)

    def with_webhooks(self, name, group):
        port, config = free_port(), self.plane.folder / (name + ".yaml")
        config.write_text(CONFIG % (group, free_port(), free_port(), port, self.certs))
        self.until_serves(name, self.run(name, "--config=%s" % config))
        self.announce(name, port)

    def bundle(self):
        return base64.b64encode((self.certs / "tls.crt").read_bytes()).decode()

    def at_home(self, text, port):
        """The services of webhooks are ports of ours."""
        return re.sub(r"( +)service:\n(?:\1 +name(?:space)?: .*\n)+\1 +path: (.*)\n",
                      lambda found: "%surl: https://127.0.0.1:%d%s\n%scaBundle: %s\n"
                      % (found[1], port, found[2], found[1], self.bundle()), text)

    def announce(self, name, port, called=r"%s-\1-webhook-configuration"):
        text = self.at_home((self.folder / (name + ".webhooks")).read_text(), port)
        text = re.sub(r"name: (\w+)-webhook-configuration", "name: " + called.replace("%s", name), text)
        made = self.plane.folder / (name + "-webhooks.yaml")
        made.write_text(text)
        kubectl(self, "create", "-f", made)

    def put_secret(self, namespace, name):
        """The certificate as a controller that makes its own finds it."""
        self.plane.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
        parts = {"ca.crt": "tls.crt", "ca.key": "tls.key", "tls.crt": "tls.crt", "tls.key": "tls.key"}
        self.plane.create({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": namespace}, "data": {
            key: base64.b64encode((self.certs / file).read_bytes()).decode() for key, file in parts.items()}})

    def until_serves(self, name, child):
        until(lambda: "Serving webhook server" in self.plane.log(name) or child.poll() is not None)
        assert child.poll() is None, self.plane.log(name)

    def start_training(self):
        """Its certificates can lie in one place only, which it has for itself."""
        port, place = free_port(), pathlib.Path("/", "tmp", "k8s-webhook-server", "serving-certs")
        self.put_secret("kubeflow", "training-operator-webhook-cert")
        self.announce("training", port, "validator.training-operator.kubeflow.org")
        child = self.run("training", "--metrics-bind-address=0", "--webhook-server-port=%d" % port,
                         "--health-probe-bind-address=127.0.0.1:%d" % free_port(), "--enable-scheme=pytorchjob",
                         "--enable-scheme=tfjob", under=("unshare", "--mount", "sh", "-c",
                         'mkdir -p %s && mount --bind "$0" %s && exec "$@"' % (place, place), self.certs))
        self.until_serves("training", child)

    def start_kueue(self):
        port, config = free_port(), self.plane.folder / "kueue.yaml"
        config.write_text(KUEUE % (free_port(), free_port(), port, self.certs))
        self.put_secret("kueue-system", "kueue-webhook-server-cert")
        for patch in sorted((self.folder / "kueue.patches").iterdir()):
            made = self.plane.folder / patch.name
            made.write_text(self.at_home(patch.read_text(), port))
            kind = re.search(r"name: (\S+kueue\S+)", made.read_text())[1]
            kubectl(self, "patch", "crd", kind, "--type=merge", "--patch-file", made)
        self.announce("kueue", port)
        child = self.run("kueue", "--config=%s" % config, "--feature-gates=VisibilityOnDemand=false")
        self.until_serves("kueue", child)
        for made in self.quota():
            until(lambda made=made: self.takes(made))

    def takes(self, made):
        """Its webhook serves a moment later than it says."""
        try:
            return self.plane.create(made)
        except Refused as why:
            if why.code != 500:
                raise
            return None

    def quota(self):
        """More than any scene wants: room is what is scarce."""
        flavor = {"name": "any", "resources": [{"name": name, "nominalQuota": "1000"} for name in ("cpu", GPU)]}
        yield {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor", "metadata": {"name": "any"}}
        yield {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": {"name": "all"}, "spec": {
            "namespaceSelector": {}, "resourceGroups": [{"coveredResources": ["cpu", GPU], "flavors": [flavor]}]}}
