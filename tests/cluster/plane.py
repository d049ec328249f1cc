"""A real control plane for a test: etcd and kube-apiserver, alone on loopback.

    with Plane() as plane:
        plane.make_nodes(5)
        plane.make_pods(20)
        plane.start_scheduler()
        plane.wait_for("Pod", bound, count=20)

Whatever way the process that made it ends, even by kill -9, its programs end with it and its
folder goes away. Make it from a thread that lives as long as the plane is needed.
"""

import base64
import functools
import http.client
import json
import os
import pathlib
import random
import secrets
import socket
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

from client import Client, Refused

HERE = pathlib.Path(__file__).resolve().parent
READY = 60  # seconds: a machine may be busy; alone it takes 4
# Who may sign in, as whom. kubenexus and lean have no rights but those that RBAC gives them.
USERS = {"admin": "admin,admin,system:masters", "kubenexus": "kubenexus,kubenexus", "lean": "lean,lean",
         "kube-scheduler": "system:kube-scheduler,kube-scheduler"}
KUBECONFIG = """\
apiVersion: v1
kind: Config
current-context: plane
contexts:
- name: plane
  context: {{cluster: plane, user: plane}}
clusters:
- name: plane
  cluster:
    server: https://127.0.0.1:{port}
    certificate-authority: {ca}
users:
- name: plane
  user:
    token: {token}
"""
# Its default of 50 requests a second would be all that a comparison measures.
SCHEDULER = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {{kubeconfig: {kubeconfig}, qps: 100000, burst: 100000}}
leaderElection: {{leaderElect: false}}
"""


class NoPlane(Exception):
    """The programs cannot be had here; the text says why."""


@functools.cache
def programs():
    """The folder of etcd, kube-apiserver and the others, built now if need be."""
    with subprocess.Popen([HERE / "build"], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as build:
        line = ""
        for line in build.stderr:  # it may take minutes: let them see it move
            print(line, end="", file=sys.stderr, flush=True)
        folder = build.stdout.read().strip()
    if build.returncode == 77:
        raise NoPlane(line.strip().removeprefix("build: "))
    if build.returncode != 0:
        raise RuntimeError("tests/cluster/build failed: " + line)
    return pathlib.Path(folder)


def program(name):
    path = programs() / name
    if not os.access(path, os.X_OK):
        raise NoPlane("no %s in %s: tests/cluster/build %s makes it" % (name, path.parent, name))
    return path


GIVEN = {}  # a socket for each port that this process was given


def take(port):
    """Whether the port is free, and given to nobody: no other test gets it while this process lives, whether a
    server listens yet or not. Who has it is an address without a file, which goes with the process."""
    mark = socket.socket(socket.AF_UNIX)
    with socket.socket() as probe:
        try:
            mark.bind("\0kubenexus-test-port-%d" % port)
            probe.bind(("127.0.0.1", port))
        except OSError:
            mark.close()
            return False
    GIVEN[port] = mark
    return True


def free_port(wanted=()):
    """One of those that are wanted if it is free or was given before, else one below the ports of outgoing
    connections: one of those could take the port of a server that is being restarted, or a client could reach
    itself on it."""
    for port in wanted:
        if port in GIVEN or take(port):
            return port
    while not take(port := random.randrange(20000, 32000)):
        pass
    return port


class Plane(Client):
    """As a client it is the admin; as_user() gives the others."""

    def __init__(self, apiserver_flags=()):
        self.apiserver_flags = list(apiserver_flags)
        self.children = []
        self.apiserver = self.folder = self.tls = None

    def __enter__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="kubenexus-cluster-"))
        self.broom = subprocess.Popen(  # reads until we are gone, then sweeps
            ["sh", "-c", 'cat; until rm -rf "$0"; do sleep 0.1; done', str(self.folder)],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True)
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _start(self):
        self.etcd_port, self.port = free_port(), free_port()
        self.ca = self.folder / "certs" / "apiserver.crt"
        self.tokens = {user: secrets.token_hex(16) for user in USERS}
        self._write_tokens()
        self.etcd = self.start("etcd", program("etcd"), *self._etcd_flags())
        self._wait(self.etcd, self._etcd_ready)
        self.start_apiserver()

    def __exit__(self, *_):
        """The API server before etcd: without it, it would hang rather than end."""
        for child in reversed(self.children):
            child.kill()
            child.wait()
        self.broom.stdin.close()
        self.broom.wait()

    def _write(self, name, text):
        (self.folder / name).write_text(text)

    # Programs

    def start(self, name, *command):
        """A program that ends with this plane; what it says goes to NAME.log in the folder."""
        with open(self.folder / (name + ".log"), "ab") as log:
            child = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *map(str, command)],
                                     stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                     start_new_session=True)
        child.name = name
        self.children.append(child)
        return child

    def stop(self, child):
        child.kill()
        child.wait()
        self.children.remove(child)

    def log(self, name):
        return (self.folder / (name + ".log")).read_text(errors="replace")

    def _wait(self, child, ready):
        deadline = time.monotonic() + READY
        while not ready():
            if child.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("%s does not start:\n%s"
                                   % (child.name, self.log(child.name)[-4000:]))
            time.sleep(0.02)

    def _etcd_flags(self):
        client, peer = ("http://127.0.0.1:%d" % port for port in (self.etcd_port, free_port()))
        return ["--name=plane", "--data-dir=%s/etcd" % self.folder, "--unsafe-no-fsync",
                "--log-level=warn", "--listen-client-urls=" + client,
                "--advertise-client-urls=" + client, "--listen-peer-urls=" + peer,
                "--initial-advertise-peer-urls=" + peer, "--initial-cluster=plane=" + peer]

    def _etcd_ready(self):
        try:
            return self._ask_etcd("/v3/maintenance/status")["header"]["revision"]
        except (OSError, http.client.HTTPException):
            return False

    def _ask_etcd(self, path, **body):
        return next(self._ask_etcd_each(path, [body]))

    def _ask_etcd_each(self, path, bodies):
        """The answers, all over one connection."""
        connection = http.client.HTTPConnection("127.0.0.1", self.etcd_port, timeout=30)
        try:
            for body in bodies:
                connection.request("POST", path, json.dumps(body))
                yield json.loads(connection.getresponse().read())
        finally:
            connection.close()

    def start_apiserver(self):
        certs = self.folder / "certs"
        self.apiserver = self.start(
            "kube-apiserver", program("kube-apiserver"),
            "--etcd-servers=http://127.0.0.1:%d" % self.etcd_port,
            "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1",
            "--secure-port=%d" % self.port, "--cert-dir=%s" % certs,
            "--endpoint-reconciler-type=none", "--service-cluster-ip-range=10.0.0.0/24",
            "--service-account-issuer=https://plane.invalid",
            "--service-account-key-file=%s/apiserver.key" % certs,
            "--service-account-signing-key-file=%s/apiserver.key" % certs,
            "--token-auth-file=%s/tokens.csv" % self.folder, "--authorization-mode=RBAC",
            "--disable-admission-plugins=ServiceAccount,TaintNodesByCondition",
            *self.apiserver_flags)
        self._wait(self.apiserver, self._apiserver_ready)

    def _apiserver_ready(self):
        """With the namespace that everybody expects, which it makes after it says it is ready."""
        if not self.ca.exists():
            return False
        try:
            if not self.tls:  # the certificate outlives restarts
                super().__init__(self.port, self.ca, self.tokens["admin"])
            return self.request("GET", "/readyz") and self.get("Namespace", "default")
        except (OSError, http.client.HTTPException, Refused):
            return False

    def stop_apiserver(self):
        self.stop(self.apiserver)

    def restart_apiserver(self):
        self.stop_apiserver()
        self.start_apiserver()

    def start_scheduler(self, *flags, **settings):
        """The real kube-scheduler, as fast as it can, with the rights it has everywhere. Settings
        are fields of its configuration."""
        self._write("scheduler.yaml", SCHEDULER.format(
            kubeconfig=self.kubeconfig("kube-scheduler")) + "".join(
                "%s: %s\n" % setting for setting in settings.items()))
        return self.start("kube-scheduler", program("kube-scheduler"), "--secure-port=0",
                          "--config=%s/scheduler.yaml" % self.folder, *flags)

    def start_kwok(self):
        """Plays the kubelet of every node: pods run, nodes stay ready."""
        return self.start("kwok", program("kwok"), "--kubeconfig", self.kubeconfig("admin"),
                          "--config", HERE / "kubelet.yaml", "--manage-all-nodes",
                          "--node-lease-duration-seconds=40",
                          "--server-address=127.0.0.1:%d" % free_port())

    def start_controller_manager(self, *options):
        """Owners of pods, the end of namespaces, taints of nodes that are gone, and all else."""
        certs = self.folder / "certs"
        return self.start("kube-controller-manager", program("kube-controller-manager"),
                          "--kubeconfig=%s" % self.kubeconfig("admin"), "--secure-port=0",
                          "--leader-elect=false", "--use-service-account-credentials=false",
                          "--root-ca-file=%s" % self.ca,
                          "--service-account-private-key-file=%s/apiserver.key" % certs, *options)

    def compact(self):
        """etcd forgets all that was before now. The API server still remembers some of it until
        it is restarted."""
        now = int(self._ask_etcd("/v3/maintenance/status")["header"]["revision"])
        self._ask_etcd("/v3/kv/compaction", revision=now, physical=True)

    def wipe(self, *prefixes):
        """Objects whose keys in etcd begin so are gone, whatever finalizers they have; watchers are told.
        Each in a revision of its own, as a server deletes: a client that is cut off between two objects of
        one revision never hears of the second, and kube-scheduler ends when its name comes again."""
        for prefix in prefixes:
            first = ("/registry/" + prefix).encode()
            last = first[:-1] + bytes([first[-1] + 1])
            found = self._ask_etcd("/v3/kv/range", key=base64.b64encode(first).decode(),
                                   range_end=base64.b64encode(last).decode(), keys_only=True)
            keys = [{"key": kv["key"]} for kv in found.get("kvs", [])]
            for _ in self._ask_etcd_each("/v3/kv/deleterange", keys):
                pass

    # Users

    def _write_tokens(self):
        self._write("tokens.csv", "".join("%s,%s\n" % (self.tokens[user], who)
                                          for user, who in USERS.items()))
        for user in USERS:
            self._write(user + ".kubeconfig", KUBECONFIG.format(
                port=self.port, ca=self.ca, token=self.tokens[user]))

    def renew_token(self, user):
        """The old one is worth nothing once the API server is restarted."""
        self.tokens[user] = secrets.token_hex(16)
        self._write_tokens()

    def kubeconfig(self, user):
        return self.folder / (user + ".kubeconfig")

    def as_user(self, user):
        return Client(self.port, self.ca, self.tokens[user])

    # Objects

    @staticmethod
    def in_parallel(do, items):
        """Several at a time, in no order."""
        with ThreadPoolExecutor(4) as pool:
            return list(pool.map(do, items))

    def create_all(self, objects):
        return self.in_parallel(self.create, objects)

    def make_nodes(self, count, name="node-%d", **how):
        return self.create_all(node(name % i, **how) for i in range(count))

    def make_pods(self, count, name="pod-%d", **how):
        return self.create_all(pod(name % i, **how) for i in range(count))


def node(name, cpu="8", memory="32Gi", pods="110", labels=None, extended=None, **spec):
    """As a kubelet registers it; the status of a node may be given when it is made."""
    room = {"cpu": cpu, "memory": memory, "pods": pods, **(extended or {})}
    return {"apiVersion": "v1", "kind": "Node", "spec": spec,
            "metadata": {"name": name,
                         "labels": {"kubernetes.io/hostname": name, **(labels or {})}},
            "status": {"capacity": room, "allocatable": room,
                       "conditions": [{"type": "Ready", "status": "True"}]}}


def pod(name, cpu="100m", memory="64Mi", namespace="default", labels=None, extended=None, **spec):
    room = {"cpu": cpu, "memory": memory, **(extended or {})}
    container = {"name": "main", "image": "app:1",
                 "resources": {"requests": room, "limits": extended or {}}}
    return {"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [container], **spec},
            "metadata": {"name": name, "namespace": namespace, "labels": labels or {}}}


def bound(pod):
    """A test for wait_for()."""
    return bool(pod["spec"].get("nodeName"))
