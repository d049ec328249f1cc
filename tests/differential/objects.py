"""API objects, and a scene of them: a cluster, the pods on it, and one pod to place.

Everything drawn here is drawn from small sets of round numbers on purpose: that way "exactly full",
"one over" and "equal scores" come by themselves, again and again.
"""

import math
import random

from spelling import respell_all, value

HOSTNAME = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"
MI = 1 << 20
GI = 1 << 30
DAY = "2026-03-0%dT08:00:0%dZ"


class Rng(random.Random):
    def chance(self, p):
        return self.random() < p

    def pick(self, *options):
        return self.choice(options)

    def some(self, items, most=None):
        """A random subset in random order."""
        items = list(items)
        n = self.randint(0, len(items) if most is None else min(most, len(items)))
        return self.sample(items, n)


# ---- quantities: one value, many spellings


def _decimal(value, scale):
    whole, rest = divmod(value, scale)
    digits = str(rest).rjust(len(str(scale)) - 1, "0").rstrip("0")
    return "%d.%s" % (whole, digits) if digits else str(whole)


def cpu(rng, milli):
    forms = ["%dm" % milli] * 4 + [_decimal(milli, 1000)] * 3
    forms += ["%du" % (milli * 1000), "%dn" % (milli * 10**6), "%de-3" % milli, "%dE-3" % milli]
    forms += [_decimal(milli, 10**6) + "k", "+%dm" % milli, "0%dm" % milli]
    if milli % 1000 == 0:
        forms += [milli // 1000] * 2 + ["%d." % (milli // 1000), "%de0" % (milli // 1000)]
    if 0 < milli < 1000:
        forms.append(_decimal(milli, 1000)[1:])  # ".5"
    return rng.choice(forms)


def size(rng, octets):
    forms = [str(octets)] * 2 + [octets, "%d000m" % octets, "%de0" % octets]
    forms += [_decimal(octets, 1000) + "k", _decimal(octets, 10**6) + "e6"]
    for factor, suffix in ((1 << 10, "Ki"), (MI, "Mi"), (GI, "Gi"), (1000, "k"), (10**6, "M")):
        if octets % factor == 0:
            forms += ["%d%s" % (octets // factor, suffix)] * 3
        elif octets * 4 % factor == 0:
            forms.append("%s%s" % (_decimal(octets * 100 // factor, 100), suffix))
    return rng.choice(forms)


def amounts(rng, **plain):
    """A resource list from plain numbers: cpu in milli, memory and storage in bytes."""
    out = {}
    for name, value in plain.items():
        if name == "cpu":
            out["cpu"] = cpu(rng, value)
        elif name in ("memory", "storage"):
            out[name.replace("storage", "ephemeral-storage")] = size(rng, value)
    return out


def requested(p):
    """Milli-CPUs and bytes that all its containers may ask for, one beside the other; None: it is hard to say."""
    out = {"cpu": 0, "memory": 0}
    for c in p["spec"]["containers"] + p["spec"].get("initContainers", []):
        given = {**c.get("resources", {}).get("limits", {}), **c.get("resources", {}).get("requests", {})}
        for name, amount in given.items():
            units = value(str(amount))
            if units is None or name.startswith("hugepages-"):
                return None
            if name in out:
                out[name] += math.ceil(units * (1000 if name == "cpu" else 1))
    return out


# ---- objects


def meta(name, namespace=None, labels=None):
    out = {"name": name}
    if namespace:
        out["namespace"] = namespace
    if labels:
        out["labels"] = dict(labels)
    return out


def obj(kind, name, namespace=None, labels=None, api="v1", **rest):
    head = {"apiVersion": api, "kind": kind, "metadata": meta(name, namespace, labels)}
    return {**head, **rest}


def node(name, labels, allocatable):
    return obj("Node", name, labels=labels, spec={}, status={
        "capacity": dict(allocatable), "allocatable": dict(allocatable),
        "conditions": [{"type": "Ready", "status": "True"}]})


def container(name, image="registry.example/app:1", requests=None, limits=None):
    out = {"name": name, "image": image}
    if requests is not None or limits is not None:
        out["resources"] = {}
        if requests is not None:
            out["resources"]["requests"] = requests
        if limits is not None:
            out["resources"]["limits"] = limits
    return out


def pod(name, namespace, labels, containers, priority=0):
    return obj("Pod", name, namespace, labels,
               spec={"priority": priority, "containers": containers},
               status={"phase": "Pending"})


def bind(p, node_name, rng, phase="Running"):
    p["spec"]["nodeName"] = node_name
    p["status"] = {"phase": phase, "startTime": DAY % (rng.randint(1, 9), rng.randint(0, 9))}
    return p


def terminate(p):
    p["metadata"]["deletionTimestamp"] = "2026-03-10T08:00:00Z"
    p["metadata"]["deletionGracePeriodSeconds"] = 30


def owned_by(p, kind, name, api="apps/v1", controller=True):
    p["metadata"].setdefault("ownerReferences", []).append({
        "apiVersion": api, "kind": kind, "name": name, "controller": controller,
        "uid": "00000000-0000-4000-8000-%012x" % sum(map(ord, kind + name))})


def service(name, namespace, selector):
    spec = {"ports": [{"port": 80}]}
    if selector is not None:
        spec["selector"] = selector
    return obj("Service", name, namespace, spec=spec)


def workload(kind, name, namespace, labels, selector=None):
    """A ReplicaSet, StatefulSet or ReplicationController over pods with `labels`."""
    template = {"metadata": {"labels": dict(labels)}, "spec": {
        "containers": [container("main")], "restartPolicy": "Always"}}
    if kind == "ReplicationController":
        return obj(kind, name, namespace, spec={
            "replicas": 3, "selector": dict(labels), "template": template})
    spec = {"replicas": 3, "selector": selector or {"matchLabels": dict(labels)},
            "template": template}
    if kind == "StatefulSet":
        spec["serviceName"] = name
    return obj(kind, name, namespace, api="apps/v1", spec=spec)


# ---- a scene


class Scene:
    """A cluster of plain nodes, pods running on them, and a target. Themes add the rest."""

    NAMESPACES = ["default", "team-a", "team-b"]
    # n10 sorts before n2: name order is bytewise
    NAMES = ["n%d"] * 8 + ["%d", "node-%d.rack.example.com", "ip-10-0-%d-1"]

    def __init__(self, rng):
        self.rng = rng
        self.nodes, self.pods, self.others = [], [], []
        self.plain = True  # every container asks for at most a CPU and a GiB
        self.namespace = rng.choice(self.NAMESPACES)
        self.name_form = rng.choice(self.NAMES)
        for i in range(self._node_count()):
            self._add_node(i)
        self.target = pod("target", self.namespace, self.labels(), [self.plain_container("main")],
                          rng.choice([0, 0, 0, 10, 100, -5]))
        for n in self.nodes:
            for _ in range(rng.choice([0, 0, 1, 1, 2, 3])):
                self.add_pod(n)

    def _node_count(self):
        r = self.rng.random()
        if r < 0.02:
            return 0
        if r < 0.12:
            return self.rng.randint(1, 2)
        if r < 0.92:
            return self.rng.randint(3, 12)
        if r < 0.985:
            return self.rng.randint(13, 30)
        return 100

    def _add_node(self, i):
        rng = self.rng
        name = self.name_form % i
        labels = {HOSTNAME: name, ZONE: "zone-%s" % rng.choice("abc"), "kubernetes.io/os": "linux"}
        allocatable = amounts(rng, cpu=rng.choice([1000, 2000, 4000, 4000, 8000]),
                              memory=rng.choice([1, 2, 4, 8, 16]) * GI)
        allocatable["pods"] = rng.choice(["110", 110, "110", "64"])
        self.nodes.append(node(name, labels, allocatable))

    def labels(self):
        rng = self.rng
        out = {"app": rng.choice("abc")}
        if rng.chance(0.5):
            out["tier"] = rng.pick("web", "db")
        if rng.chance(0.3):
            out["version"] = rng.pick("v1", "v2")
        return out

    def plain_container(self, name):
        rng = self.rng
        requests = {}
        if rng.chance(0.85):
            requests.update(amounts(rng, cpu=rng.choice([100, 250, 500, 500, 1000])))
        if rng.chance(0.8):
            requests.update(amounts(rng, memory=rng.choice([64 * MI, 128 * MI, 512 * MI, GI])))
        return container(name, requests=requests or None)

    def add_pod(self, on, labels=None, namespace=None):
        """One more pod, bound to node `on`; or waiting, if that is None."""
        rng = self.rng
        namespace = namespace or (self.namespace if rng.chance(0.7) else rng.choice(self.NAMESPACES))
        p = pod("p%d" % len(self.pods), namespace, self.labels() if labels is None else labels,
                [self.plain_container("main")], rng.choice([0, 0, 0, 5, 10, 100]))
        if on is not None:
            phase = rng.choice(["Running"] * 16 + ["Pending", "Pending", "Succeeded", "Failed"])
            bind(p, on["metadata"]["name"], rng, phase)
            if rng.chance(0.05):
                terminate(p)
        self.pods.append(p)
        return p

    def node_names(self):
        return [n["metadata"]["name"] for n in self.nodes]

    def _part_listeners(self):
        """No two pods of a node have the same host port: no scheduler puts them there."""
        taken = set()
        for p in self.pods:
            spec, mine = p["spec"], set()
            for c in spec.get("initContainers", []) + spec["containers"]:
                for port in list(c.get("ports", [])):
                    number = port.get("hostPort", spec.get("hostNetwork") and port["containerPort"])
                    where = (spec.get("nodeName"), number, port.get("protocol", "TCP"),
                             port.get("hostIP", "0.0.0.0"))
                    if number and where in taken:
                        c["ports"].remove(port)
                    mine.add(where)
            if spec.get("nodeName"):
                taken |= mine

    def _settle_nomination(self):
        """A pod that names its nodes is nominated to none: see docs/parity.md."""
        if "matchFields" in str(self.target["spec"].get("affinity")):
            self.target["status"].pop("nominatedNodeName", None)

    def _speak_for_whole_pods(self):
        """Some pods ask for resources as a whole, for no less than their containers, and their sandbox for some more."""
        rng = self.rng
        often = rng.choice([0, 0, 0, 0, 0.3])
        for p in self.pods + [self.target]:
            spec, asked = p["spec"], requested(p)
            if not rng.chance(often) or "resources" in spec or asked is None:
                continue
            spec["resources"] = {"requests": amounts(rng, cpu=asked["cpu"] + rng.choice([0, 0, 1000]),
                                                     memory=asked["memory"] + rng.choice([0, 0, GI // 2]))}
            if rng.chance(0.3):
                del spec["resources"]["requests"][rng.pick("cpu", "memory")]
            if rng.chance(0.6):
                spec["overhead"] = amounts(rng, cpu=rng.choice([0, 100, 250]), memory=rng.choice([0, 16 * MI, 250 * MI]))

    def _settle_levels(self):
        """Another theme may have given a pod larger containers than fit into what it asks for as a whole."""
        for p in self.pods + [self.target]:
            whole, asked = p["spec"].get("resources", {}).get("requests", {}), requested(p)
            if asked and any((value(str(whole[name])) or 0) * (1000 if name == "cpu" else 1) < asked[name]
                             for name in asked if name in whole):
                del p["spec"]["resources"]

    def _settle_sums(self):
        """How often kube-scheduler sums up a pod for its signature depends on whether it knows by then of a class
        that stands for what the pod asks for; and that can show where there is overhead."""
        if any(o["kind"] == "DeviceClass" for o in self.others):
            self.target["spec"].pop("overhead", None)

    def _respell(self):
        chance = self.rng.choice([0, 0, 0.1, 0.4])
        for o in self.nodes + self.pods + self.others + [self.target]:
            if o["kind"] != "CSINode":  # has a number there
                respell_all(self.rng, o, chance)

    def case(self, name):
        """Nothing depends on the order of objects: so it is any."""
        self._part_listeners()
        self._settle_nomination()
        self._speak_for_whole_pods()
        self._settle_levels()
        self._settle_sums()
        self._respell()
        named = {}  # two themes may have made the same object
        for o in self.nodes + self.pods + self.others + [self.target]:
            named.setdefault((o["kind"], o["metadata"].get("namespace"), o["metadata"]["name"]), o)
        objects = list(named.values())
        self.rng.shuffle(objects)
        return {"name": name, "pod": self.namespace + "/target", "objects": objects}
