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
    """Refused for room: it becomes a head."""
    if state.config.policy == "fifo" and not turn.unit.is_first and len(held) < state.config.heads:
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


def refusal(state, turn):
    """What explain would say of who is behind a head."""
    held = state.world.heads
    return ("O10", None) if turn not in held and holds_back(state, held, turn) else None
