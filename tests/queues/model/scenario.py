"""A scenario file as the model's world: queues, nodes, units, pods.

Files are JSON, which is YAML. What the model understands of docs/reference/scenario.md:

  nodes   name, count, cpu, memory, gpus, gpuResource, pods, resources, labels
  jobs    name, arrival {at, count, from}, pods, requests, duration (a time), priority, gang, queue, user,
          template {metadata {namespace, labels}, spec {nodeSelector, preemptionPolicy}}
  queues  all of 1.3 but budgets, provisioning, namespaces.selector and resources by kind
  until, name, kind, scheduler, seed

Anything else is refused: a model that skips a field would agree by mistake. So that it does not matter
which node a scheduler prefers, all nodes that a unit's nodeSelector leaves should be one node.
"""

import json
from dataclasses import dataclass, field

from amounts import amount, amounts, milliseconds, times

SCENARIO = {"kind", "name", "description", "seed", "scheduler", "until", "nodes", "jobs", "queues"}
NODE = {"name", "count", "cpu", "memory", "gpus", "gpuResource", "pods", "resources", "labels"}
JOB = {"name", "arrival", "pods", "requests", "duration", "priority", "gang", "queue", "user", "template"}
ARRIVAL = {"at", "count", "from"}
QUEUE = {"name", "parent", "guaranteed", "max", "lend", "weight", "namespaces", "split", "maxJobs", "minRunSeconds", "stop"}
TEMPLATE = {"metadata", "spec"}
METADATA = {"namespace", "labels"}
SPEC = {"nodeSelector", "preemptionPolicy"}
O1_PRIORITY = 1_000_000_000
NEVER = float("inf")


def known(what, given, fields):
    unknown = set(given) - fields
    if unknown:
        raise ValueError(f"{what}: the model does not know {', '.join(sorted(unknown))}")


@dataclass(frozen=True)
class Node:
    name: str
    room: dict
    labels: dict


@dataclass(eq=False)
class Unit:
    """A gang, or a pod alone."""

    name: str  # namespace/name
    job: str  # what A3 counts: the gang, else the pods' controller
    namespace: str
    queue: str  # "": none is named
    user: str
    priority: int
    arrival: int
    duration: float
    ask: dict  # of each pod
    minimum: int  # pods
    pods: list = field(default_factory=list)
    selector: dict = field(default_factory=dict)
    labels: dict = field(default_factory=dict)
    may_evict: bool = True

    @property
    def likeness(self):
        """Units of one likeness, which a state refuses or seats alike (but for age)."""
        return (self.queue, self.namespace, self.user, self.priority, self.minimum, self.may_evict,
                *(tuple(sorted(d.items())) for d in (self.ask, self.selector, self.labels)))

    @property
    def is_gang(self):
        return self.minimum > 1

    @property
    def is_first(self):  # O1
        return self.priority >= O1_PRIORITY

    @property
    def is_kept(self):  # A6, R2: nobody may evict its minimum
        return self.labels.get("workload.kubenexus.io/preemptible", "true") != "true"

    def amount(self, kind):
        """What a piece of it asks for: its minimum, or one pod beyond."""
        return times(self.ask, self.minimum) if kind == "minimum" else self.ask


@dataclass(eq=False)
class Pod:
    unit: Unit
    index: int

    @property
    def kind(self):
        return "minimum" if self.index < self.unit.minimum else "beyond"


@dataclass
class Scenario:
    queues: list
    nodes: list
    units: list
    until: float


def read_nodes(shapes):
    nodes = []
    for shape in shapes:
        known(f"node {shape['name']}", shape, NODE)
        room = {"pods": shape.get("pods", 110), **shape.get("resources", {})}
        room |= {r: shape[r] for r in ("cpu", "memory") if r in shape}
        if shape.get("gpus"):
            room[shape.get("gpuResource", "nvidia.com/gpu")] = shape["gpus"]
        count = shape.get("count", 1)
        width = len(str(count - 1))
        for i in range(count):
            name = f"{shape['name']}-{i:0{width}}"
            labels = {"kubernetes.io/hostname": name, **shape.get("labels", {})}
            nodes.append(Node(name, amounts(room), labels))
    return nodes


def arrivals(arrival):
    known("arrival", arrival, ARRIVAL)
    times_at = [milliseconds(t) for t in arrival.get("at", [arrival.get("from", "0s")])]
    return [t for t in times_at for _ in range(arrival.get("count", 1))]


def read_job(job):
    """The units of a class, in the order in which they arrive."""
    template = job.get("template", {})
    metadata, spec = template.get("metadata", {}), template.get("spec", {})
    for what, given, fields in (("job", job, JOB), ("template", template, TEMPLATE),
                                ("metadata", metadata, METADATA), ("spec", spec, SPEC)):
        known(f"{job['name']}: {what}", given, fields)
    namespace, pods = metadata.get("namespace", "default"), job.get("pods", 1)
    ask = {r: a for r, a in amounts(job.get("requests")).items() if a} | {"pods": 1}
    least = min(job["gang"]["minAvailable"], pods) if "gang" in job else 0
    for number, arrival in enumerate(arrivals(job.get("arrival", {}))):
        name = f"{namespace}/{job['name']}-{number}"
        duration = milliseconds(job["duration"]) if "duration" in job else NEVER

        def unit(name, job_name, minimum, members):
            made = Unit(name, job_name, namespace, job.get("queue", ""), job.get("user", "-"), job.get("priority", 0), arrival,
                        duration, ask, minimum, [], spec.get("nodeSelector", {}), metadata.get("labels", {}),
                        spec.get("preemptionPolicy") != "Never")
            made.pods = [Pod(made, i) for i in range(members)]
            return made

        if least > 1:
            yield unit(name, name, least, pods)
        elif pods == 1:
            yield unit(name, name, 1, 1)
        else:  # no controller makes them: each is a job of its own (A3)
            for i in range(pods):
                yield unit(f"{name}.{i}", f"{name}.{i}", 1, 1)


def read(path):
    with open(path) as f:
        return of_document(json.load(f))


def of_document(document):
    known("scenario", document, SCENARIO)
    for queue in document.get("queues", []):
        known(f"queue {queue['name']}", queue, QUEUE)
    units = [unit for job in document.get("jobs", []) for unit in read_job(job)]
    until = milliseconds(document.get("until"))
    return Scenario(document.get("queues", []), read_nodes(document["nodes"]), units, NEVER if until is None else until)


@dataclass
class Config:
    """The arguments of FairQueues (1.5), and what other plugins say that matters here."""

    namespace_fairness: bool = False
    reclaim: str = "Guarantee"
    delay_ms: int = 0
    half_life_ms: int = 0
    heads: int = 4
    policy: str = "first-fit"
    least_run_ms: int = 0
    most_victims: int = 50
    starve_ms: int = 60_000


def read_config(path):
    config = Config()
    if not path:
        return config
    with open(path) as f:
        profile = json.load(f)["profiles"][0]
    args = {entry["name"]: entry["args"] for entry in profile.get("pluginConfig", [])}
    fair, line = args.get("FairQueues", {}), args.get("LinePolicy", {})
    evicts, gangs = args.get("GangPreemption", {}), args.get("Coscheduling", {})
    config.namespace_fairness = fair.get("namespaceFairness", False)
    config.reclaim = fair.get("reclaim", "Guarantee")
    config.delay_ms = 1000 * fair.get("reclaimDelaySeconds", 0)
    config.half_life_ms = milliseconds(fair.get("usageHalfLife") or "0s")
    config.heads = fair.get("heads", 4)
    enabled = {p["name"] for p in profile["plugins"]["multiPoint"]["enabled"]}
    config.policy = line.get("policy", "easy") if "LinePolicy" in enabled else "first-fit"
    config.least_run_ms = 1000 * evicts.get("minimumRunSeconds", 0)
    config.most_victims = evicts.get("maxVictims", 50)
    config.starve_ms = 1000 * gangs.get("starvationThresholdSeconds", 60)
    return config
