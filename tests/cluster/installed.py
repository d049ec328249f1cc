"""What deploy/ installs, started as kubelet starts it: the Deployment's own arguments, user and mounts,
the ConfigMap's own file, the ServiceAccount's own token. Nothing of it is written here again."""

import base64
import json
import os
import pathlib
import shutil
import subprocess

from plane import NoPlane, free_port, program

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = os.environ.get("KUBENEXUS_BUILD", "build")
ACCOUNT = "var/run/secrets/kubernetes.io/serviceaccount"
ENTRYPOINT = "/usr/local/bin/kubenexus-scheduler"  # of deploy/Containerfile
LEAVES = 15  # seconds: bindings under way, and the lease


def kubectl(plane, *arguments, given=None):
    """What it prints; an error is one of the test."""
    done = subprocess.run([program("kubectl"), "--kubeconfig", plane.kubeconfig("admin"), *arguments],
                          input=given, text=True, capture_output=True, check=False, cwd=ROOT)
    assert done.returncode == 0, "kubectl %s: %s" % (" ".join(map(str, arguments)), done.stderr)
    return done.stdout


def objects_of(plane, *where, given=None):
    """What manifests have, without making it: of several kubectl prints one behind the other."""
    text = kubectl(plane, "create", "--dry-run=client", "--validate=false", "-o", "json", *where, given=given).strip()
    decoder, objects = json.JSONDecoder(), []
    while text:
        found, end = decoder.raw_decode(text)
        text = text[end:].strip()
        objects += found.get("items", [found])
    return objects


def manifests(plane):
    """The objects of deploy/ that say how it runs, by kind."""
    return {o["kind"]: o for name in ("config", "deployment")
            for o in objects_of(plane, "-f", ROOT / "deploy" / (name + ".yaml"))}


class Installed:
    """One container of the Deployment, in a root that has what the image has. `config` replaces the
    ConfigMap's file, as `kubectl edit` would."""

    def __init__(self, plane, name="installed", config=None, objects=None):
        if os.geteuid() != 0:
            raise NoPlane("only root may change the root")
        static = ROOT / (BUILD + "-static") / "kubenexus"
        if not static.exists():
            raise NoPlane("there is no static build, which is what the image has")
        objects = objects or manifests(plane)
        self.plane, self.name = plane, name
        self.spec = objects["Deployment"]["spec"]["template"]["spec"]
        self.container = self.spec["containers"][0]
        self.namespace = objects["Deployment"]["metadata"]["namespace"]
        self.port = self._port()
        self.root = plane.folder / (name + "-root")
        self.before = ()  # a command that runs it
        self._put(ENTRYPOINT, static)
        self._mount(objects["ConfigMap"], config)
        self._sign_in()
        plane.folder.chmod(0o711)  # for a user who is not root

    def _port(self):
        """That of its arguments, or another where this machine has given it away."""
        ports = {p["name"]: p["containerPort"] for p in self.container["ports"]}
        assert "--secure-port=%d" % ports["https"] in self.container["args"], self.container["args"]
        return free_port([ports["https"]])

    def _put(self, path, what):
        place = self.root / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(what, pathlib.Path):
            shutil.copy2(what, place)
        else:
            place.write_text(what)
        place.chmod(0o755)

    def _mount(self, config_map, config):
        """As kubelet does: the file's own name is a link into a folder that is a link."""
        volumes = {v["name"]: v["configMap"]["name"] for v in self.spec["volumes"]}
        for mount in self.container["volumeMounts"]:
            assert volumes[mount["name"]] == config_map["metadata"]["name"], mount
            for name, text in config_map["data"].items():
                self._put("%s/..first/%s" % (mount["mountPath"], name), config or text)
                place = self.root / mount["mountPath"].lstrip("/")
                (place / name).symlink_to("..data/" + name)
            (place / "..data").symlink_to("..first")

    def _sign_in(self):
        account = self.spec["serviceAccountName"]
        token = kubectl(self.plane, "-n", self.namespace, "create", "token", account).strip()
        said = json.loads(base64.urlsafe_b64decode(token.split(".")[1] + "=="))["sub"]
        assert said == "system:serviceaccount:%s:%s" % (self.namespace, account), said
        self._put(ACCOUNT + "/token", token)
        self._put(ACCOUNT + "/namespace", self.namespace)
        self._put(ACCOUNT + "/ca.crt", self.plane.ca.read_text())

    def start(self):
        user = self.spec["securityContext"]
        arguments = self.container["args"] + ["--secure-port=%d" % self.port]
        self.child = self.plane.start(
            self.name, *self.before, "env", "-i", "KUBERNETES_SERVICE_HOST=127.0.0.1",
            "KUBERNETES_SERVICE_PORT=%d" % self.plane.port, "PATH=" + os.environ["PATH"],
            # to change the root is all that this user may do more than in a container
            "setpriv", "--reuid=%d" % user["runAsUser"], "--regid=%d" % user["runAsGroup"], "--clear-groups",
            "--inh-caps=-all,+sys_chroot", "--ambient-caps=-all,+sys_chroot", "--pdeathsig=KILL",
            "chroot", self.root, ENTRYPOINT, *arguments)
        return self.child

    def log(self):
        return self.plane.log(self.name)

    def stop(self):
        """As kubelet ends it: it gives its lease back."""
        if self.child.poll() is None:
            self.child.terminate()
            self.child.wait(LEAVES)
        self.plane.stop(self.child)
        return self.child.returncode
