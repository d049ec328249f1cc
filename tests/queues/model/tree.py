"""The tree of queues: what is guaranteed, kept and charged (Q10-Q16), and the ledger (L1-L4).

Nothing is remembered: each function works its answer out from the objects and from the pods that run."""

from dataclasses import dataclass, field

from amounts import add, amounts
from scenario import NEVER

ROOT = "root"
DEFAULT = "default"


@dataclass(eq=False)
class Queue:
    name: str
    parent: "Queue | None" = None
    children: list = field(default_factory=list)
    guaranteed: dict = field(default_factory=dict)
    max: dict = field(default_factory=dict)
    lend: dict = field(default_factory=dict)
    weight: int = 1
    namespaces: list | None = None  # who may use it; None: says nothing
    split: dict | None = None
    max_jobs: int | None = None
    least_run_ms: int | None = None
    stop: str = "None"
    inactive: str = ""  # why: ParentMissing, ParentCycle
    is_object: bool = True
    is_phantom: bool = False  # it is named, but not there (2.7)

    @property
    def depth(self):
        return 0 if self.parent is None else 1 + self.parent.depth

    @property
    def is_leaf(self):
        return not self.children

    def path(self):
        """From the queue up; the root is no queue."""
        q = self
        while q.parent is not None:
            yield q
            q = q.parent

    def takes(self, namespace):
        """`spec.namespaces` of it or an ancestor; a top-level queue without takes all (4.4)."""
        told = [q for q in self.path() if q.namespaces is not None]
        top = list(self.path())[-1]
        return any(namespace in q.namespaces for q in told) or top.namespaces is None

    def run_ms(self, otherwise):
        """R6: its own minRunSeconds, else the nearest ancestor's, else the plugin's."""
        return next((q.least_run_ms for q in self.path() if q.least_run_ms is not None), otherwise)


def read_queue(spec):
    split = spec.get("split")
    return Queue(
        spec["name"],
        guaranteed=amounts(spec.get("guaranteed")),
        max=amounts(spec.get("max")),
        lend=amounts(spec.get("lend")),
        weight=spec.get("weight", 1),
        namespaces=spec["namespaces"].get("names", []) if "namespaces" in spec else None,
        split=split and {"by": split["by"], "label": split.get("label"), "max": amounts(split.get("each", {}).get("max")),
                         "maxJobs": split.get("each", {}).get("maxJobs")},
        max_jobs=spec.get("maxJobs"),
        least_run_ms=1000 * spec["minRunSeconds"] if "minRunSeconds" in spec else None,
        stop=spec.get("stop", "None"),
    )


class Tree:
    """The queues as objects say them, under one root, over the capacity of the nodes. `named`: by jobs."""

    def __init__(self, specs, capacity, namespace_fairness=False, named=()):
        self.capacity = capacity
        self.root = Queue(ROOT, is_object=False)
        self.queues = {spec["name"]: read_queue(spec) for spec in specs}
        parents = {spec["name"]: spec.get("parent") for spec in specs}
        if DEFAULT not in self.queues:
            self.queues[DEFAULT] = Queue(DEFAULT, is_object=False)
            if namespace_fairness:  # step 1 of 1.1
                self.queues[DEFAULT].split = {"by": "Namespace", "label": None, "max": {}, "maxJobs": None}
        self.limits_jobs = any(q.max_jobs is not None or (q.split and q.split["maxJobs"] is not None) for q in self.queues.values())
        for name, queue in self.queues.items():
            self.hang(queue, parents.get(name), parents)
        for name in sorted(set(named) - self.queues.keys()):
            self.queues[name] = Queue(name, self.root, is_object=False, is_phantom=True)
            self.root.children.append(self.queues[name])

    def hang(self, queue, parent, parents):
        ancestors, at = [queue.name], parent
        while at is not None and at in self.queues and at not in ancestors:
            ancestors.append(at)
            at = parents.get(at)
        if at is not None:
            queue.inactive = "ParentCycle" if at in ancestors else "ParentMissing"
        is_lost = parent is None or parent not in self.queues or (at is not None and at == queue.name)
        queue.parent = self.root if is_lost else self.queues[parent]
        queue.parent.children.append(queue)

    def leaf_name(self, unit):
        """Q1: row 1, row 5, row 6. A top-level queue without `namespaces` is as one whose selector takes all (4.4)."""
        if unit.queue:
            return unit.queue
        objects = [q for q in self.leaves() if q.is_object]
        named = [q for q in objects if q.namespaces is not None and unit.namespace in q.namespaces]
        open_to_all = [q for q in objects if q.namespaces is None and q.parent is self.root]
        only = named or open_to_all
        return only[0].name if len(only) == 1 else DEFAULT

    def part(self, unit):
        """Q6: its value in a split leaf; "" in others."""
        leaf = self.queues.get(self.leaf_name(unit))
        split = leaf and leaf.split
        if not split:
            return ""
        if split["by"] == "Label":
            return unit.labels.get(split["label"], "-")
        return unit.namespace if split["by"] == "Namespace" else unit.user

    def inner(self):
        return [self.root] + [q for q in self.queues.values() if q.children]

    def leaves(self):
        return [q for q in self.queues.values() if q.is_leaf]

    def subtree(self, queue):
        yield queue
        for child in queue.children:
            yield from self.subtree(child)

    # --- guarantees, loans, limits ---

    def promised(self):
        """Q13: Γ, the resources that anybody is guaranteed."""
        return {r for q in self.queues.values() for r, a in q.guaranteed.items() if a > 0}

    def asked(self, q, r):  # Q10
        own = 0 if q is self.root else q.guaranteed.get(r, 0)
        return max(own, sum(self.asked(child, r) for child in q.children))

    def E(self, q, r):  # Q11, Q12
        room = self.capacity.get(r, 0) if q.parent is self.root else self.E(q.parent, r)
        asked, total = self.asked(q, r), sum(self.asked(child, r) for child in q.parent.children)
        backed = asked if total <= room else asked * room // total
        return min(backed, q.max.get(r, NEVER))

    def kept(self, q, r):  # Q15
        return max(0, self.E(q, r) - q.lend[r]) if r in q.lend else 0

    def charge(self, q, r, used):
        """Q16; `used` is that of pods charged to each leaf (or inner queue), by name."""
        own = used.get(q.name, {}).get(r, 0) + sum(self.charge(child, r, used) for child in q.children)
        return own if q is self.root else max(own, self.kept(q, r))

    def used(self, q, r, used):
        return used.get(q.name, {}).get(r, 0) + sum(self.used(child, r, used) for child in q.children)

    # --- the ledger ---

    def borrowed(self, q, r, used):
        return max(0, self.used(q, r, used) - self.E(q, r))

    def idle(self, q, r, used):
        return max(0, self.E(q, r) - self.used(q, r, used))

    def loans(self, parent, r, used):
        """L2 for the children of one parent: what each lends, and the commons."""
        own = self.capacity.get(r, 0) if parent is self.root else self.E(parent, r)
        borrowed = sum(self.borrowed(c, r, used) for c in parent.children)
        room = max(own, sum(self.used(c, r, used) for c in parent.children))
        commons = min(borrowed, max(0, room - sum(self.E(c, r) for c in parent.children)))
        idle = {c.name: self.idle(c, r, used) for c in parent.children}
        rest, all_idle = borrowed - commons, sum(idle.values())
        lent = {name: rest * idle[name] // all_idle if all_idle else 0 for name in idle}
        left = rest - sum(lent.values())
        for name in sorted(idle, key=lambda name: (-idle[name], name)):
            more = min(left, idle[name] - lent[name])
            lent[name] += more
            left -= more
        assert left == 0 and borrowed == sum(lent.values()) + commons, "I5"
        assert all(0 <= lent[name] <= idle[name] for name in idle), "I5"
        return lent, commons

    def demand(self, q, r, claims):
        """L3. `claims`: what each (leaf, part) uses and waits for, by resource."""
        wanted = sum(self.demand(c, r, claims) for c in q.children)
        most = q.split["max"].get(r, NEVER) if q.split else NEVER
        wanted += sum(min(most, claim.get(r, 0)) for (name, _), claim in claims.items() if name == q.name)
        return min(wanted, q.max.get(r, NEVER))

    def F(self, q, r, claims):
        return self.entitled(q.parent, r, claims)[q.name]

    def entitled(self, parent, r, claims):
        """L3 for the children of one parent."""
        room = self.capacity.get(r, 0) if parent is self.root else self.F(parent, r, claims)
        demand = {c: self.demand(c, r, claims) for c in parent.children}
        base = {c: min(self.E(c, r), demand[c]) for c in parent.children}
        kept = sum(max(0, self.kept(c, r) - base[c]) for c in parent.children)
        rest = max(0, room - sum(base.values()) - kept)
        wanting, got = [c for c in parent.children if demand[c] > base[c]], dict(base)
        while wanting:
            weights = sum(c.weight for c in wanting)
            part = {c: rest * c.weight // weights for c in wanting}
            content = [c for c in wanting if demand[c] - base[c] <= part[c]]
            for c in content or wanting:
                more = demand[c] - base[c] if content else part[c]
                got[c] += more
                rest -= more
            wanting = [c for c in wanting if c not in content] if content else []
        return {c.name: a for c, a in got.items()}


def total(asks):
    out = {}
    for ask in asks:
        add(out, ask)
    return out
