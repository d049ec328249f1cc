#!/usr/bin/env python3
"""A random scenario with queues: generate.py SEED [FOLDER] writes scenario.yaml and config.yaml there (default: prints them).

Trees to depth 4 with guarantees, limits, loans, weights, parts, limits of jobs, least times to run; single pods and gangs with pods
beyond their minimum; priorities, ends, arrivals at the same moments; nodes that jobs are pinned to; lines first-fit and fifo. No gang
waits for a minute: who starves keeps room, which the model does not know."""

import json
import pathlib
import random
import sys

GPU = "nvidia.com/gpu"
UNTIL_MS = 50_000


class Drawing:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.is_busy = self.chance(0.5)  # much is borrowed for long, so much is taken back
        self.is_long = self.chance(0.14)  # minutes: pods alone, some of whom starve
        self.is_fifo = self.chance(0.12)
        self.has_cpu = self.chance(0.35)  # a second resource that matters
        self.pools = 1 if self.chance(0.7) else self.random.randint(2, 3)
        self.sizes = [self.random.randint(4, 22 if self.is_busy else 14) for _ in range(self.pools)]
        self.grid_ms = self.random.choice((250, 1000, 4000)) * (10 if self.is_long else 1)
        self.priorities = self.random.choice(((0,), (0, 1), (0, 0, 5, 9), (-1, 0, 3)))

    def chance(self, p):
        return self.random.random() < p

    def resources(self):
        return [GPU, "cpu"] if self.has_cpu else [GPU]

    # --- nodes ---

    def nodes(self):
        cpu = sum(self.sizes) // self.pools if self.has_cpu else 1000
        models = [{"nvidia.com/gpu.product": self.random.choice(("H100", "B200"))} if self.is_fifo else {} for _ in self.sizes]
        pods = {"pods": self.random.randint(3, 12)} if self.chance(0.05) else {}
        return [{"name": f"n{i}", "cpu": cpu, "memory": "1Ti", "gpus": size, "labels": {"pool": f"p{i}"} | models[i]} | pods
                for i, size in enumerate(self.sizes)]

    # --- queues ---

    def amounts(self, most, p):
        return {r: self.random.randint(0, most) for r in self.resources() if self.chance(p)}

    def queue(self, name, depth):
        most = sum(self.sizes)
        queue = {"name": name}
        if self.chance(0.6):
            queue["guaranteed"] = self.amounts(most * 2 // 3 if self.is_busy else most // (1 + depth), 0.9)
        if self.chance(0.1 if self.is_busy else 0.25):
            queue["max"] = {r: a + queue.get("guaranteed", {}).get(r, 0) for r, a in self.amounts(most // 2, 0.9).items()}
        if queue.get("guaranteed") and self.chance(0.4):
            queue["lend"] = {r: self.random.randint(0, a) for r, a in queue["guaranteed"].items() if self.chance(0.8)}
        if self.chance(0.4):
            queue["weight"] = self.random.choice((1, 2, 3, 7))
        if self.chance(0.04 if self.is_busy else 0.1):
            queue["maxJobs"] = self.random.randint(1, 4)
        if self.chance(0.3 if self.is_busy else 0.2):
            queue["minRunSeconds"] = self.random.choice((0, 2, 10))
        if self.chance(0.04):
            queue["namespaces"] = {"names": self.random.sample(("default", "one", "two"), self.random.randint(1, 2))}
        return queue

    def tree(self, parent, depth, name):
        out = []
        for i in range(self.random.randint(2, 3) if depth < 2 else self.random.randint(1, 3)):
            queue = self.queue(f"{name}{i}", depth)
            if parent:
                queue["parent"] = parent
            out.append(queue)
            if depth < 4 and self.chance(0.35):
                below = self.tree(queue["name"], depth + 1, queue["name"])
                self.limit(queue, below)
                out += below
        return out

    def limit(self, queue, below):
        """Sometimes the total of an inner queue is little more than what is promised below it."""
        if not self.chance(0.35):
            return
        promised = sum(q.get("guaranteed", {}).get(GPU, 0) for q in below if q["parent"] == queue["name"])
        least = max(promised, queue.get("guaranteed", {}).get(GPU, 0))
        queue["max"] = queue.get("max", {}) | {GPU: least + self.random.randint(0, 4)}

    def split(self, queues):
        parents = {q.get("parent") for q in queues}
        for queue in queues:
            if queue["name"] not in parents and self.chance(0.15):
                each = {}
                if self.chance(0.5):
                    each["max"] = {GPU: self.random.randint(2, 6)}
                if self.chance(0.3):
                    each["maxJobs"] = self.random.randint(1, 3)
                by = self.random.choice(("User", "Namespace", "Label"))
                queue["split"] = {"by": by, **({"label": "team"} if by == "Label" else {}), **({"each": each} if each else {})}

    # --- jobs ---

    def requests(self):
        asks = {GPU: self.random.choice((1, 1, 1, 2, 3))}
        if self.has_cpu:
            asks = self.random.choice((asks, asks | {"cpu": self.random.randint(1, 3)}, {"cpu": self.random.randint(1, 4)}))
        return asks

    def template(self):
        metadata, spec, labels = {}, {}, {}
        if self.pools > 1 or self.chance(0.1):
            spec["nodeSelector"] = {"pool": f"p{self.random.randrange(self.pools)}"}
        if self.chance(0.05):
            spec["preemptionPolicy"] = "Never"
        if self.chance(0.12):
            labels["workload.kubenexus.io/preemptible"] = self.random.choice(("false", "false", "true"))
        if self.chance(0.3):
            labels["team"] = self.random.choice("xyz")
        if self.chance(0.2):
            metadata["namespace"] = self.random.choice(("one", "two"))
        if labels:
            metadata["labels"] = labels
        return {k: v for k, v in (("metadata", metadata), ("spec", spec)) if v}

    def time(self, most_ms):
        return self.random.randrange(0, most_ms * (10 if self.is_long else 1), self.grid_ms)

    def waves(self, leaves, queues):
        """Some borrow, job by job, until all is taken; then others want theirs, in gangs."""
        self.random.shuffle(leaves)
        n = max(1, len(leaves) * 2 // 3)
        early, late = leaves[:n], leaves[-n:]
        for queue in queues:
            if queue["name"] in late and "max" not in queue and "lend" not in queue and self.chance(0.6):
                queue["guaranteed"] = {GPU: self.random.randint(1, sum(self.sizes) // 2)}
        jobs = []
        for i in range(self.random.randint(4, 11)):
            job = self.job(i, early) | {"arrival": {"at": [f"{self.time(10_000)}ms" for _ in range(self.random.randint(1, 4))]}}
            jobs.append({k: v for k, v in job.items() if k != "duration"})
        for i in range(self.random.randint(2, 6)):
            size = self.random.randint(1, max(2, sum(self.sizes) // 4))
            job = self.job(20 + i, late) | {"arrival": {"at": [f"{12_000 * (10 if self.is_long else 1) + self.time(20_000)}ms"]}}
            gang = {"pods": size + self.random.choice((0, 0, 2)), "gang": {"minAvailable": size}}
            jobs.append(job | (gang if size > 1 and not self.is_long else {}))
        return jobs

    def job(self, number, leaves):
        job = {"name": f"{self.random.choice('abcdefgh')}{number}"}
        if self.chance(0.95):
            job["queue"] = self.random.choice(leaves)
        if self.chance(0.03):
            job["queue"] = self.random.choice(("nowhere", "q0"))
        at = sorted(self.time(30_000) for _ in range(self.random.choice((1, 1, 2, 4))))
        job["arrival"] = {"at": [f"{t}ms" for t in at]}
        if self.chance(0.2):
            job["arrival"]["count"] = self.random.randint(2, 3) if self.chance(0.8) else 12 // len(at)
        if self.chance(0.4) and not self.is_long:
            pods = self.random.randint(2, 7 if self.is_busy else 5) if self.chance(0.95) else 12
            job |= {"pods": pods, "gang": {"minAvailable": self.random.choice((pods, pods, max(2, pods - 2), 2))}}
        elif self.chance(0.1):
            job["pods"] = self.random.randint(2, 4)
        job["requests"] = self.requests()
        if self.chance(0.3 if self.is_busy else 0.75):
            job["duration"] = f"{self.time(25_000) + self.random.choice((self.grid_ms, 777))}ms"
        priority = 2_000_000_000 if self.chance(0.015) else self.random.choice(self.priorities)
        if priority:
            job["priority"] = priority
        if self.chance(0.3):
            job["user"] = self.random.choice(("ann", "bob"))
        template = self.template()
        if template:
            job["template"] = template
        return job

    def scenario(self):
        queues = self.tree(None, 1, "q")
        self.split(queues)
        if self.chance(0.05):
            self.random.choice(queues)["stop"] = self.random.choice(("Hold", "Drain"))
        parents = {q.get("parent") for q in queues}
        leaves = [q["name"] for q in queues if q["name"] not in parents]
        if self.is_busy:
            jobs = self.waves(leaves, queues)
        else:
            jobs = [self.job(i, leaves) for i in range(self.random.randint(3, 12))]
        return {"kind": "Scenario", "name": "random", "scheduler": "kubenexus-scheduler", "until": f"{UNTIL_MS * (10 if self.is_long else 1)}ms",
                "nodes": self.nodes(), "queues": queues, "jobs": jobs}

    def config(self):
        args = {}
        if self.chance(0.3):
            args["reclaim"] = self.random.choice(("FairShare", "FairShare", "Never"))
        if self.chance(0.15):
            args["reclaimDelaySeconds"] = self.random.choice((1, 5))
        if self.chance(0.6 if self.is_long else 0.15):
            args["usageHalfLife"] = "10m"
        others = []
        if self.chance(0.15):
            others.append({"name": "GangPreemption", "args": self.random.choice(({"minimumRunSeconds": 3}, {"maxVictims": 3}))})
        if self.is_fifo:
            others.append({"name": "LinePolicy", "args": {"policy": "fifo"}})
            args["heads"] = self.random.choice((1, 2, 4))
        return configuration(args, others)


def configuration(fair, others=()):
    enabled = [{"name": "KubeNexus"}] + [{"name": o["name"]} for o in others if o["name"] == "LinePolicy"]
    plugins = {"multiPoint": {"enabled": enabled}}
    profile = {"schedulerName": "kubenexus-scheduler", "plugins": plugins,
               "pluginConfig": [{"name": "FairQueues", "args": fair}, *others]}
    return {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "profiles": [profile]}


def generate(seed):
    """(scenario, configuration)"""
    drawing = Drawing(seed)
    return drawing.scenario(), drawing.config()


def text(document):
    """JSON, an item of a list a line."""
    parts = []
    for key, value in document.items():
        items = ",\n".join("    " + json.dumps(item) for item in value) if isinstance(value, list) else ""
        parts.append(f'  "{key}": [\n{items}\n  ]' if items else f'  "{key}": {json.dumps(value)}')
    return "{\n" + ",\n".join(parts) + "\n}\n"


if __name__ == "__main__":
    for name, document in zip(("scenario.yaml", "config.yaml"), generate(int(sys.argv[1])), strict=True):
        if len(sys.argv) > 2:
            pathlib.Path(sys.argv[2], name).write_text(text(document))
        else:
            print(text(document), end="")
