"""Who is next (O1-O6), and what use in the past counts (O7)."""

from functools import cmp_to_key

BILLION = 10**9
K = 46_265_331  # O7: of 2**32 that a tick takes off
MOST_TICKS = 4096


class Turn:
    """What may be chosen: a unit's minimum, or one of its pods beyond it."""

    def __init__(self, unit, kind):
        self.unit, self.kind = unit, kind

    def __eq__(self, other):
        return (self.unit, self.kind) == (other.unit, other.kind)

    def __hash__(self):
        return hash((id(self.unit), self.kind))

    @property
    def ask(self):
        return self.unit.amount(self.kind)


# --- O4, O5a ---


def counting(state, ask):
    """O4: the resources by which a queue is compared for this head."""
    return (ask.keys() & state.promised) or ask.keys()


def counted(state, q, r):
    """O7: half of what counts is the past, if there is a half-life."""
    used = state.used(q, r)
    return (used + state.world.history(q, r, state.now)) // 2 if state.config.half_life_ms else used


def share(state, q, ask):
    capacity = state.tree.capacity
    return max((max(0, counted(state, q, r) - state.E(q, r)) * BILLION // capacity[r]
                for r in counting(state, ask) if capacity.get(r)), default=0)


def part_counted(state, leaf, part, r):
    """A part's past is as long as the part: it is gone with its last pod (Q6)."""
    used = state.part_used(leaf, part, r)
    return (used + state.world.part_history(leaf, part, r, state.now)) // 2 if state.config.half_life_ms else used


def part_share(state, leaf, part, ask):
    """A part has no guarantee (Q6)."""
    capacity = state.tree.capacity
    return max((part_counted(state, leaf, part, r) * BILLION // capacity[r]
                for r in counting(state, ask) if capacity.get(r)), default=0)


def fill(state, q, ask):  # O5a
    return max((state.used(q, r) * BILLION // state.E(q, r)
                for r in ask.keys() & state.promised if state.E(q, r) > 0), default=0)


def key_class(state, q, ask):  # O3; budgets are not in scenarios
    return 0 if state.within(q, ask) else 1


# --- O6 ---


def standing(state, turn):
    """O6: starving, priority, minimum before beyond, age, name."""
    unit = turn.unit
    is_starving = state.now - unit.arrival > state.config.starve_ms
    return (not is_starving, -unit.priority, turn.kind == "beyond", unit.arrival, unit.name)


# --- O2, O3, O5 ---


def compare(x, y):
    return (x > y) - (x < y)


def before(state, a, b):
    """Of two (queue's weight, name, class, share, fill, head): which is first."""
    by_class = compare(a["class"], b["class"])
    if by_class:
        return by_class
    if a["class"] == 0:
        by_key = compare(a["fill"], b["fill"])
    else:
        by_key = compare(a["share"] * b["weight"], b["share"] * a["weight"])
    return by_key or compare(standing(state, a["head"]), standing(state, b["head"])) or compare(a["name"], b["name"])


def winner(state, entries):
    return min(entries, key=cmp_to_key(lambda a, b: before(state, a, b)))["head"] if entries else None


def head_of_leaf(state, leaf, turns):
    turns = [t for t in turns if state.leaf(t.unit) is leaf]
    if not leaf.split:
        return min(turns, key=lambda t: standing(state, t), default=None)
    entries = []
    for part in {state.part(t.unit) for t in turns}:
        head = min((t for t in turns if state.part(t.unit) == part), key=lambda t: standing(state, t))
        entries.append({"name": part, "weight": 1, "class": 1, "share": part_share(state, leaf, part, head.ask), "fill": 0,
                        "head": head})
    return winner(state, entries)


def head(state, queue, turns):
    """O2: the tournament below this queue."""
    if queue.is_leaf:
        return head_of_leaf(state, queue, turns)
    entries = []
    for child in queue.children:
        first = head(state, child, turns)
        if first:
            entries.append({"name": child.name, "weight": child.weight, "class": key_class(state, child, first.ask),
                            "share": share(state, child, first.ask), "fill": fill(state, child, first.ask), "head": first})
    return winner(state, entries)


def next_turn(state, turns):
    """O1, then O2. Units of a queue that is not there, or is no leaf, are told so by themselves."""
    first = [t for t in turns if t.unit.is_first]
    if first:
        return min(first, key=lambda t: (-t.unit.priority, t.unit.arrival, t.unit.name))
    return head(state, state.tree.root, turns)


# --- O7 ---


def history(half_life_ms, now, integral):
    """H(q, r) >> 16; integral(from, until) is ∫ used dt."""
    tick = half_life_ms // 64
    h = 0
    for n in range(now // tick):
        a = integral(n * tick, (n + 1) * tick) // tick
        h = (h * (2**32 - K) + (a << 16) * K) >> 32
    return h >> 16
