"""What stands at one moment: which pods run where. Questions about it are worked out from scratch.

A trial is another State: `without` some pods, `with_piece` one more. Nothing is changed in place."""

from dataclasses import dataclass

from amounts import add, times
from scenario import NEVER


@dataclass(frozen=True)
class Run:
    """A pod on its node."""

    pod: object
    node: str
    start: int
    placed: int  # the how-many-eth placement of all


@dataclass(frozen=True)
class Piece:
    """What is covered and taken as one: a gang's minimum (or a pod alone), or one pod beyond it."""

    unit: object
    kind: str
    runs: tuple

    @property
    def start(self):
        return self.runs[0].start

    @property
    def placed(self):
        return self.runs[0].placed

    @property
    def ask(self):
        return times(self.unit.ask, len(self.runs))


class State:
    def __init__(self, world, now, runs):
        self.world, self.now, self.runs = world, now, runs
        self.tree, self.config = world.tree, world.config
        self.promised = world.promised
        self.memo = {}  # answers about this state, which never changes
        self.sums = {}  # by leaf
        for run in runs:
            add(self.sums.setdefault(self.leaf_name(run.pod.unit), {}), run.pod.unit.ask)

    def without(self, runs):
        gone = set(runs)
        return State(self.world, self.now, [run for run in self.runs if run not in gone])

    def with_runs(self, runs):
        return State(self.world, self.now, self.runs + list(runs))

    # --- queues ---

    def leaf_name(self, unit):
        return self.world.leaf_names[unit]

    def leaf(self, unit):
        return self.tree.queues[self.world.leaf_names[unit]]

    def part(self, unit):
        return self.world.parts[unit]

    def once(self, key, answer):
        """The answer to a question about this state, worked out once."""
        if key not in self.memo:
            self.memo[key] = answer()
        return self.memo[key]

    def used(self, q, r):  # Q7
        return self.once(("used", q, r), lambda: self.tree.used(q, r, self.sums))

    def part_used(self, leaf, part, r):
        runs = [run for run in self.runs if self.leaf(run.pod.unit) is leaf and self.part(run.pod.unit) == part]
        return sum(run.pod.unit.ask.get(r, 0) for run in runs)

    def jobs(self, q, part=None):
        """A3: jobs of the subtree that run; of a leaf's part."""
        leaves = set(self.tree.subtree(q))
        return {run.pod.unit.job for run in self.runs
                if self.leaf(run.pod.unit) in leaves and part in (None, self.part(run.pod.unit))}

    def E(self, q, r):
        return self.world.E(q, r)

    def within(self, q, ask):  # Q14
        held = ask.keys() & self.promised
        return bool(held) and all(self.used(q, r) + ask[r] <= self.E(q, r) for r in held)

    # --- pieces ---

    def pieces(self):
        out, minimums = [], {}
        for run in self.runs:
            if run.pod.kind == "minimum":
                minimums.setdefault(run.pod.unit, []).append(run)
            else:
                out.append(Piece(run.pod.unit, "beyond", (run,)))
        return [Piece(unit, "minimum", tuple(runs)) for unit, runs in minimums.items()] + out

    # --- nodes ---

    def seats(self, unit, n):
        """A node for each of n pods, the first with room; None: they do not all fit."""
        room = {node.name: dict(node.room) for node in self.world.nodes}
        for run in self.runs:
            add(room[run.node], run.pod.unit.ask, -1)
        nodes = [node.name for node in self.world.nodes
                 if all(node.labels.get(k) == v for k, v in unit.selector.items())]
        out = []
        for _ in range(n):
            fit = [name for name in nodes if all(room[name].get(r, 0) >= a for r, a in unit.ask.items())]
            if not fit:
                return None
            add(room[fit[0]], unit.ask, -1)
            out.append(fit[0])
        return out

    def is_overfull(self):
        """I7: Σ used on a node ≤ allocatable."""
        room = {node.name: dict(node.room) for node in self.world.nodes}
        for run in self.runs:
            add(room[run.node], run.pod.unit.ask, -1)
        return any(a < 0 for left in room.values() for a in left.values())

    def seated(self, unit, pods, nodes):
        """The same with these pods there, as placed last."""
        last = max((run.placed for run in self.runs), default=-1)
        return [Run(pod, node, self.now, last + 1 + i) for i, (pod, node) in enumerate(zip(pods, nodes, strict=True))]


def ends_at(run):
    return NEVER if run.pod.unit.duration == NEVER else run.start + run.pod.unit.duration
