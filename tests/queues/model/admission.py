"""What keeps a unit out whatever room there is (A1-A6): the rule and where, or None."""

from amounts import add
from scenario import NEVER
from tree import ROOT


def refusal(state, turn):
    key = ("A", state.world.likeness[turn.unit], turn.kind, turn.unit.job if state.world.tree.limits_jobs else "")
    return state.once(key, lambda: find_refusal(state, turn))


def find_refusal(state, turn):
    """First hit, queue by queue: a part, the leaf, its ancestors; then A2 at the root; then A6."""
    unit, ask = turn.unit, turn.ask
    if unit.is_first:  # O1
        return None
    leaf = state.leaf(unit)
    if leaf.is_phantom or not leaf.is_leaf:
        return "A1", state.leaf_name(unit)
    if leaf.split and part_is_full(state, turn, leaf, state.part(unit)):
        return "A4", f"{leaf.name}/{state.part(unit)}"
    if not leaf.takes(unit.namespace):
        return "A1", leaf.name
    sums = {name: dict(of) for name, of in state.sums.items()}
    add(sums.setdefault(leaf.name, {}), ask)
    for m in leaf.path():
        if m.stop != "None" or m.inactive:
            return "A1", m.name
        if exceeds(state, m, ask, sums):
            return "A2", m.name
        if turn.kind == "minimum" and has_jobs_enough(state.jobs(m), unit, m.max_jobs):
            return "A3", m.name
    if exceeds_at_root(state, ask, sums):
        return "A2", ROOT
    if unit.is_kept and turn.kind == "minimum" and ask.keys() & state.promised:
        for m in leaf.path():
            if not state.within(m, ask):
                return "A6", m.name
    return None


def exceeds(state, m, ask, sums):
    """A2: charge' > max and charge' > charge."""
    for r in ask:
        charge, with_it = state.tree.charge(m, r, state.sums), state.tree.charge(m, r, sums)
        if with_it > m.max.get(r, NEVER) and with_it > charge:
            return True
    return False


def exceeds_at_root(state, ask, sums):
    """Only while something is still kept for others; else it is a matter of room."""
    tree = state.tree
    for r in ask:
        charge, with_it = tree.charge(tree.root, r, state.sums), tree.charge(tree.root, r, sums)
        if with_it > tree.capacity.get(r, 0) and with_it > charge and with_it > tree.used(tree.root, r, sums):
            return True
    return False


def has_jobs_enough(jobs, unit, most):
    """A3: may no further job run?"""
    return most is not None and len(jobs | {unit.job}) > most


def part_is_full(state, turn, leaf, part):  # A4
    each = leaf.split
    if any(state.part_used(leaf, part, r) + a > each["max"].get(r, NEVER) for r, a in turn.ask.items()):
        return True
    return turn.kind == "minimum" and has_jobs_enough(state.jobs(leaf, part), turn.unit, each["maxJobs"])
