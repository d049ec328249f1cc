"""The heads of a line (O10, O11), for LinePolicy fifo; easy and sjf are not modelled."""

import order
from amounts import is_accelerator


def contention(state, turn):
    """The GPU models (else resources) of nodes that its pods could use if empty; no accelerator: cpu."""
    wanted = [r for r in turn.ask if is_accelerator(r)]
    if not wanted:
        return {"cpu"}
    unit, kinds = turn.unit, set()
    for node in state.world.nodes:
        if all(node.labels.get(k) == v for k, v in unit.selector.items()) and all(node.room.get(r, 0) >= a for r, a in unit.ask.items()):
            model = node.labels.get("nvidia.com/gpu.product")
            kinds |= {model} if model else set(wanted)
    return kinds


def add(state, held, turn):
    """Refused for room, a unit becomes a head, if it would fit when all others have ended."""
    others = [run for run in state.runs if run.pod.unit is not turn.unit]
    n = turn.unit.minimum if turn.kind == "minimum" else 1
    is_lined = state.config.policy == "fifo" and len(held) < state.config.heads and not turn.unit.is_first
    if is_lined and state.without(others).seats(turn.unit, n) is not None:
        held.append(turn)


def holds_back(state, held, turn):
    """O10, O11: is there a head that this one may not pass?"""
    for other in held:
        if contention(state, other).isdisjoint(contention(state, turn)) or turn.unit.is_first:
            continue
        classes = [order.key_class(state, state.leaf(t.unit), t.ask) for t in (other, turn)]
        if classes != [1, 0]:
            return True
    return False
