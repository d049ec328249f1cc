"""What the tests of this folder share: a stage for each, on one control plane for all."""

import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / os.environ.get("KUBENEXUS_BUILD", "build") / "kubenexus"
sys.path.insert(0, str(ROOT / "tests/cluster"))

from client import Refused  # noqa: E402  (found only now)
from installed import Installed  # noqa: E402  (found only now)
from plane import bound, pod, program  # noqa: E402  (found only now)

# In place of kube-scheduler: pods that name no scheduler are ours.
IN_PLACE = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {kubeconfig: %s}
leaderElection: {leaderElect: false}
profiles:
- schedulerName: default-scheduler
"""
PATIENCE = 60  # seconds until something that must happen has failed: the machine may be busy
RBAC = "rbac.authorization.k8s.io"
AT_ONCE = {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0}
tests = []


def test(check):
    tests.append(check)
    return check


def until(holds, timeout=PATIENCE):
    """What it holds, once that is something."""
    deadline = time.monotonic() + timeout
    while not (held := holds()):
        assert time.monotonic() < deadline, "not within %s s" % timeout
        time.sleep(0.02)
    return held


class Stage:
    """A namespace, and the schedulers that a test starts; all goes when the test ends."""

    def __init__(self, plane, name):
        self.plane, self.name, self.started = plane, name, []
        self.leaves_all = False

    def __enter__(self):
        self.plane.create({"apiVersion": "v1", "kind": "Namespace",
                           "metadata": {"name": self.name}})
        return self

    def __exit__(self, *_):
        for child in self.started:
            if isinstance(child, Installed):
                child.stop()
            elif child in self.plane.children:
                self.plane.stop(child)
        for path in ("/api/v1/namespaces/%s/pods" % self.name, "/api/v1/nodes"):
            if not self.leaves_all:
                self.plane.request("DELETE", path, AT_ONCE)

    # Schedulers

    def is_served(self, version, kind):
        try:
            return kind in str(self.plane.request("GET", "/apis/" + version))
        except Refused as why:
            if why.code != 404:
                raise
            return False

    def wait_served(self, version, kind):
        """Until the server knows the kind, whose definition has just been made."""
        until(lambda: self.is_served(version, kind))
        self.plane.known.clear()

    def run(self, *options, name=None, before=()):
        """kubenexus, as the user whose only rights are those of deploy/rbac.yaml; `before` is a
        command that runs it."""
        name = "%s-%s" % (self.name, name or "kubenexus")
        child = self.plane.start(name, *before, PROGRAM, "run", "-v", "2", "--secure-port=0", *options)
        self.started.append(child)
        return child

    def run_alone(self, kubeconfig=None, name=None):
        kubeconfig = kubeconfig or self.plane.kubeconfig("kubenexus")
        return self.run("--leader-elect=false", "--kubeconfig", kubeconfig, name=name)

    def run_synced(self, name=None):
        child = self.run_alone(name=name)
        self.until_says(child, '"synced"')
        return child

    def run_installed(self):
        """As deploy/ has it: its arguments, its configuration, its account."""
        installed = Installed(self.plane, self.name + "-installed")
        self.started.append(installed)
        installed.start()

    def log(self, child):
        return self.plane.log(child.name)

    def until_says(self, child, text, times=1):
        def says():
            assert child.poll() is None, "it ended:\n" + self.log(child)
            return self.log(child).count(text) >= times
        until(says)

    def warnings(self, child):
        return re.findall(r"^W.*", self.log(child), re.MULTILINE)

    # What they are given

    def pod(self, name, scheduler="kubenexus-scheduler", **how):
        return self.plane.create(pod(name, namespace=self.name, schedulerName=scheduler, **how))

    def pods(self, count, name="pod-%d", scheduler="kubenexus-scheduler", **how):
        self.plane.make_pods(count, name, namespace=self.name, schedulerName=scheduler, **how)

    def bind(self, pod, node):
        """As another scheduler would."""
        self.plane.request("POST", self.plane.path("Pod", pod, self.name, sub="binding"),
                           {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": pod},
                            "target": {"kind": "Node", "name": node}})

    # What became of it

    def wait_bound(self, count, timeout=PATIENCE):
        """{pod: node} of `count` bound pods."""
        found = self.plane.wait_for("Pod", bound, count, timeout, self.name)
        return {p["metadata"]["name"]: p["spec"]["nodeName"] for p in found.values()}

    def nodes_of(self):
        return {p["metadata"]["name"]: p["spec"].get("nodeName")
                for p in self.plane.list("Pod", self.name)}

    def wait_events(self, reason, count, about=""):
        """Those of pods whose names begin with `about`."""
        def wanted(event):
            return event["reason"] == reason and event["regarding"]["name"].startswith(about)
        found = self.plane.wait_for("Event", wanted, count, PATIENCE, self.name,
                                    "events.k8s.io/v1")
        return list(found.values())

    def wait_refused(self, name):
        """The pod's condition, once it says that there is no place."""
        def refused(p):
            return p["metadata"]["name"] == name and condition(p).get("status") == "False"
        found = self.plane.wait_for("Pod", refused, 1, PATIENCE, self.name)
        return condition(*found.values())

    def wait_told(self, name, text):
        """What the pod was told, once it has this text: kinds come on watches of their own, so it may have been
        told something else while its scheduler did not know all."""
        last = ""

        def told():
            nonlocal last
            last = condition(self.plane.get("Pod", name, self.name)).get("message", "")
            return text in last
        try:
            until(told)
        except AssertionError:
            raise AssertionError("%s was told: %s\nwanted: %s" % (name, last, text)) from None
        return last

    def check_scheduled_once(self, where):
        """Each pod has the one event that says where it is, or, lost with a server, none."""
        notes = [e["note"] for e in self.wait_events("Scheduled", 1)]
        right = {"Successfully assigned %s/%s to %s" % (self.name, *pair)
                 for pair in where.items()}
        assert len(notes) == len(set(notes)) and set(notes) <= right, notes


def condition(of):
    found = [c for c in of["status"].get("conditions", []) if c["type"] == "PodScheduled"]
    return found[0] if found else {}


def spent(child):
    """Seconds of the processor, the most memory and the private part of it now, in MB."""
    fields = pathlib.Path("/proc/%d/stat" % child.pid).read_text().rsplit(")", 1)[1].split()
    status = dict(re.findall(r"^(\w+):\s+(\d+) kB$",
                             pathlib.Path("/proc/%d/status" % child.pid).read_text(), re.MULTILINE))
    cpu = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return cpu, int(status["VmHWM"]) / 1024, int(status["RssAnon"]) / 1024


def may(plane, verb, right):
    resource, _, subresource = right.partition("/")
    resource, _, group = resource.partition(".")
    ask = {"verb": verb, "group": group, "resource": resource, "subresource": subresource}
    return plane.create({"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
                         "metadata": {}, "spec": {"user": "kubenexus", "resourceAttributes": ask}}
                        )["status"]["allowed"]


def grant(plane):
    """What deploy/rbac.yaml and deploy/rbac-optional.yaml give to a service account, to the user kubenexus, too; what
    the first gives, to the user lean."""
    until(lambda: any(n["metadata"]["name"] == "kube-system" for n in plane.list("Namespace")))
    subprocess.run([program("kubectl"), "--kubeconfig", plane.kubeconfig("admin"), "create",
                    "-f", ROOT / "deploy/rbac.yaml", "-f", ROOT / "deploy/rbac-optional.yaml"],
                   check=True, stdout=subprocess.DEVNULL)
    users = [{"apiGroup": RBAC, "kind": "User", "name": "kubenexus"},
             {"kind": "ServiceAccount", "name": "kubenexus", "namespace": "kube-system"}]
    lean = {"apiGroup": RBAC, "kind": "User", "name": "lean"}
    plane.patch("ClusterRoleBinding", "kubenexus", {"subjects": [*users, lean]})
    plane.patch("ClusterRoleBinding", "kubenexus-optional", {"subjects": users})
    plane.patch("RoleBinding", "kubenexus-leader", {"subjects": [*users, lean]}, "kube-system")
    until(lambda: may(plane, "watch", "pods") and may(plane, "watch", "resourcequotas"))


def run_in_place(plane, config=IN_PLACE, flags=()):
    """kubenexus as the scheduler of all pods, with the rights that grant() gave it."""
    file = plane.folder / "kubenexus.yaml"
    file.write_text(config % plane.kubeconfig("kubenexus"))
    return plane.start("kubenexus", PROGRAM, "run", "--secure-port=0", "--config", file, *flags)
