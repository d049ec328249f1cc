"""Who goes for whom (R1-R10). `plan` is the search of docs/design/027-evictions.md over the candidates of R2-R6."""

from dataclasses import dataclass

import admission
import order
from amounts import is_accelerator
from scenario import NEVER, O1_PRIORITY
from state import Piece
from tree import ROOT

MOST_RETURNS = 100


# --- R3 ---


def rank_order(piece):
    """R3: rank, minimum before beyond, start, placed."""
    return (-piece.unit.priority, piece.kind == "beyond", piece.start, piece.placed)


def bound(state, m, r):
    """What m's pieces are covered by: E, or with FairShare (R9) F where that is more."""
    return max(state.E(m, r), state.world.F(state, m, r)) if state.config.reclaim == "FairShare" else state.E(m, r)


def held_resources(state, ask):
    """R(u) ∩ Γ; with FairShare all of R(u)."""
    return ask.keys() if state.config.reclaim == "FairShare" else ask.keys() & state.promised


def covered(state, m, more=()):
    """R3: the pieces of m's subtree that m's guarantee pays for; `more`: one that is not there yet."""
    under = set(state.tree.subtree(m))
    pieces = [p for p in (*state.pieces(), *more) if state.leaf(p.unit) in under]
    so_far, out, minimums = {}, [], set()
    for piece in sorted(pieces, key=rank_order):
        held = held_resources(state, piece.ask)
        if not held or (piece.kind == "beyond" and piece.unit not in minimums):
            continue
        if any(so_far.get(r, 0) + piece.ask[r] > bound(state, m, r) for r in held):
            continue
        for r in held:
            so_far[r] = so_far.get(r, 0) + piece.ask[r]
        out.append(piece)
        if piece.kind == "minimum":
            minimums.add(piece.unit)
    return out


# --- R2, R4, R5, R6 ---


@dataclass(eq=False)
class Candidate:
    piece: Piece
    rule: str  # R4, R5, O1
    weighted_share: int  # R7: of b for u
    lost_ms: int

    @property
    def runs(self):
        return self.piece.runs


class Covers:
    """The covers of one search, each worked out once."""

    def __init__(self, state, unit):
        self.state, self.unit, self.of = state, unit, {}
        ask = unit.amount("minimum")
        self.mine = Piece(unit, "minimum", tuple(state.seated(unit, unit.pods[: unit.minimum], [""] * unit.minimum)))
        self.within = {m: self.is_within(m, ask) for m in state.leaf(unit).path()} if not unit.is_first else {}
        self.with_mine = {}

    def is_within(self, a, ask):
        held = held_resources(self.state, ask)
        return bool(held) and all(self.state.used(a, r) + ask[r] <= bound(self.state, a, r) for r in held)

    def is_exposed(self, piece, m):
        if m not in self.of:
            self.of[m] = {p.runs for p in covered(self.state, m)}
        return piece.runs not in self.of[m]

    def would_be_covered(self, m):
        """covered'(m): with u placed last, and nobody gone yet."""
        if m not in self.with_mine:
            self.with_mine[m] = any(p is self.mine for p in covered(self.state, m, [self.mine]))
        return self.with_mine[m]


def branches(state, u, v):
    """Below their lowest common ancestor: the child towards u, and the one towards v; one leaf: None."""
    mine, others = list(state.leaf(u).path())[::-1], list(state.leaf(v).path())[::-1]
    depth = 0
    while depth < min(len(mine), len(others)) and mine[depth] is others[depth]:
        depth += 1
    return (mine[depth], others[depth]) if depth < min(len(mine), len(others)) else None


def is_shy(state, piece):
    """R2, last sentence: in the implicit `default`, who is not batch, training or preemptible."""
    unit = piece.unit
    says = unit.labels.get("workload.kubenexus.io/preemptible") == "true" or unit.priority < 0
    kind = unit.labels.get("workload.kubenexus.io/type", "training" if unit.is_gang else "service")
    return not state.leaf(unit).is_object and not says and kind not in ("batch", "training")


def rule_for(state, covers, u, piece):
    """By which rule the piece may go for u; None: it may not."""
    v = piece.unit
    if v is u or v.is_first or v.namespace == "kube-system":
        return None
    if u.is_first:
        return "O1" if v.priority < u.priority else None
    if v.is_kept and piece.kind == "minimum":
        return None
    apart = branches(state, u, v)
    if apart is None:  # R5
        may = v.priority < u.priority and all(
            covers.is_exposed(piece, m) or covers.would_be_covered(m) for m in state.leaf(u).path())
        return "R5" if may else None
    a, b = apart
    if state.config.reclaim == "Never" or is_shy(state, piece) or not covers.within[a]:
        return None
    way = [m for m in state.leaf(v).path() if m.depth >= b.depth]
    return "R4" if all(covers.is_exposed(piece, m) for m in way) else None


def ripe_ms(state, piece, rule):
    """R6: when it has run long enough; NEVER by time alone for nobody."""
    least = state.config.least_run_ms
    if rule != "O1":
        least = state.leaf(piece.unit).run_ms(least) if piece.kind == "minimum" else 0
    return piece.start + least


def accelerators(runs):
    return sum(a for run in runs for r, a in run.pod.unit.ask.items() if is_accelerator(r)) // 1000


def lost_ms(state, piece):
    """R7: of a minimum, what all pods of its gang have, from the minimum's start."""
    runs = piece.runs
    if piece.kind == "minimum":
        runs = [run for run in state.runs if run.pod.unit is piece.unit]
    return accelerators(runs) * (state.now - piece.start)


def find_candidates(state, u):
    covers, out = Covers(state, u), []
    for piece in state.pieces():
        rule = rule_for(state, covers, u, piece)
        if rule is None or ripe_ms(state, piece, rule) > state.now:
            continue
        weighted = 0
        if rule == "R4":
            b = branches(state, u, piece.unit)[1]
            weighted = order.share(state, b, u.amount("minimum")) * order.BILLION // b.weight
        out.append(Candidate(piece, rule, weighted, lost_ms(state, piece)))
    return out


# --- R7 ---


def reversed_text(text):
    """Sorts as the text does, but backwards."""
    return [-c for c in text.encode()] + [1]


def pod_name(piece):
    return piece.unit.name, piece.runs[0].pod.index


def before_time(c):
    return (c.rule != "R4", -c.weighted_share, c.piece.kind == "minimum", c.piece.unit.priority)


def latest(c):
    name, index = pod_name(c.piece)
    return (-c.piece.start, reversed_text(name), -index)


def by_loss(state, candidates):
    """R7."""
    return sorted(candidates, key=lambda c: (*before_time(c), c.lost_ms, *latest(c)))


def by_node(state, candidates):
    """R8's other order: those who are worth the same go node by node, from the node that loses least on."""
    names = [node.name for node in state.world.nodes]
    lost, pods = dict.fromkeys(names, 0), dict.fromkeys(names, 0)
    for c in candidates:
        lost[c.runs[0].node] += c.lost_ms
        pods[c.runs[0].node] += len(c.runs)

    def key(c):
        node = c.runs[0].node
        return (*before_time(c), lost[node], pods[node], names.index(node), *latest(c))

    return sorted(candidates, key=key)


# --- R8 ---


class Search:
    """One order of candidates; `out` are those who are away in the trial."""

    def __init__(self, state, unit, ordered):
        self.state, self.unit, self.ordered, self.out, self.returns = state, unit, ordered, [], 0

    def core(self, c):
        """Its gang's minimum, if c is beyond one that is a candidate, too."""
        if c.piece.kind == "minimum":
            return None
        return next((d for d in self.ordered if d.piece.unit is c.piece.unit and d.piece.kind == "minimum"), None)

    def take(self, n):
        self.out = self.ordered[:n]
        self.out += [c for c in self.ordered[n:] if self.core(c) in self.out and self.core(c)]

    def cleared(self, out):
        return self.state.without([run for c in out for run in c.runs])

    def seat(self):
        """The nodes of u's minimum with those away who are out; None: it may not start."""
        state = self.cleared(self.out)
        if admission.refusal(state, order.Turn(self.unit, "minimum")):
            return None
        return state.seats(self.unit, self.unit.minimum)

    def may_return(self, c):
        return c in self.out and self.core(c) not in self.out

    def keeps_seat(self, nodes, out):
        """Does u keep its seats, and its leave to start, with only these away?"""
        state = self.cleared(out)
        if admission.refusal(state, order.Turn(self.unit, "minimum")):
            return False
        pods = self.unit.pods[: self.unit.minimum]
        return not state.with_runs(state.seated(self.unit, pods, nodes)).is_overfull()

    def reprieve(self, nodes):
        """With u in its seats each comes back, the dearest first."""
        for is_second in (False, True):  # whose gang came back behind it in the order
            for c in reversed(self.ordered):
                if self.may_return(c) and not (is_second and c.piece.kind == "minimum"):
                    rest = [d for d in self.out if d is not c]
                    if self.keeps_seat(nodes, rest):
                        self.out = rest

    def attempt(self):
        nodes = self.seat()
        if nodes is not None:
            self.reprieve(nodes)
        return nodes

    def return_needless(self, nodes):
        """Each comes back once more, and u is seated anew: until that works for none."""
        is_less = True
        while is_less:
            is_less = False
            for c in reversed(self.ordered):
                if not self.may_return(c) or self.returns >= MOST_RETURNS:
                    continue
                self.returns += 1
                before, self.out = self.out, [d for d in self.out if d is not c]
                other = self.attempt()
                if other is None:
                    self.out = before
                else:
                    nodes, is_less = other, True
        return nodes

    def run(self):
        """The nodes; `out` are the victims. None: no number of candidates is enough."""
        self.take(len(self.ordered))
        if self.seat() is None:
            return None
        for n in range(1, len(self.ordered) + 1):
            self.take(n)
            nodes = self.attempt()
            if nodes is not None:
                return self.return_needless(nodes)
        return None

    def cost(self):  # R8; no disruption budgets here
        return (sum(c.lost_ms for c in self.out), len(self.out), sum(len(c.runs) for c in self.out))


@dataclass
class Plan:
    unit: object
    nodes: list
    victims: list  # candidates


def may_plan(state, u):
    """R1."""
    refused = admission.refusal(state, order.Turn(u, "minimum"))
    may = refused is None or refused[0] in ("A2", "A3", "A4", "A6")
    return may and u.may_evict and state.now - u.arrival >= state.config.delay_ms


def plan(state, u):
    """Whom u's minimum may evict so that it starts; None: nobody."""
    if not may_plan(state, u):
        return None
    candidates = find_candidates(state, u)
    best, least = None, None
    for sort in (by_loss, by_node) if candidates else ():
        search = Search(state, u, sort(state, candidates))
        nodes = search.run()
        if nodes is None or sum(len(c.runs) for c in search.out) > state.config.most_victims:
            continue
        if least is None or search.cost() < least:
            best, least = Plan(u, nodes, list(search.out)), search.cost()
    return best


def ripe_times(state, turns):
    """When those who may evict are tried again: the ends of running minimums' minRunSeconds (O9), and of their own delays (R1)."""
    ripe = {ripe_ms(state, p, "O1" if t.unit.is_first else "R4") for p in state.pieces() for t in turns}
    return ripe | ({t.unit.arrival + state.config.delay_ms for t in turns} if state.config.delay_ms else set())


# --- R10 ---


def potential(state, m):
    """V(m): for each (rank, minimum or beyond) the amounts that are covered at m."""
    out = {}
    for piece in covered(state, m):
        entry = out.setdefault((-piece.unit.priority, piece.kind == "beyond"), {})
        for r in held_resources(state, piece.ask):
            entry[r] = entry.get(r, 0) + piece.ask[r]
    return out


def compare_potentials(was, now):
    """-1, 0, 1: fell, same, rose."""
    for key in sorted(was.keys() | now.keys()):
        a, b = was.get(key, {}), now.get(key, {})
        if a != b:
            return 1 if all(b.get(r, 0) >= a.get(r, 0) for r in a.keys() | b.keys()) else -1
    return 0


def assert_rises(before, after, plan):
    """R10: from the deepest queues up the first that change rise; else priorities in the leaf do."""
    queues = sorted(before.tree.queues.values(), key=lambda q: -q.depth)
    for depth in sorted({q.depth for q in queues}, reverse=True):
        changes = {q.name: compare_potentials(potential(before, q), potential(after, q)) for q in queues if q.depth == depth}
        if any(changes.values()):
            assert min(changes.values()) >= 0, f"R10: {plan.unit.name} lowers {changes} at depth {depth}"
            return
    assert all(c.rule == "R5" and c.piece.unit.priority < plan.unit.priority for c in plan.victims), "R10: nothing rises"


def assert_safe(before, plan):
    """I3."""
    covers = Covers(before, plan.unit)
    for c in plan.victims:
        if c.rule == "R4":
            b = branches(before, plan.unit, c.piece.unit)[1]
            way = [m for m in before.leaf(c.piece.unit).path() if m.depth >= b.depth]
            assert all(covers.is_exposed(c.piece, m) for m in way), f"I3: {c.piece.unit.name} at {ROOT}"
        if c.rule == "R5":
            assert all(covers.is_exposed(c.piece, m) or covers.would_be_covered(m) for m in before.leaf(plan.unit).path()), "I3"


def assert_needed(before, plan):
    """I4: without any one of them (and what its going takes along) u is not seated."""
    for c in plan.victims:
        if c.piece.kind == "beyond" and any(d.piece.unit is c.piece.unit and d.piece.kind == "minimum" for d in plan.victims):
            continue
        rest = before.without([run for d in plan.victims if d is not c for run in d.runs])
        refused = admission.refusal(rest, order.Turn(plan.unit, "minimum"))
        assert refused or rest.seats(plan.unit, plan.unit.minimum) is None, f"I4: {c.piece.unit.name} need not go"


def assert_sound(before, after, plan):
    if plan.unit.priority >= O1_PRIORITY:
        return
    assert_rises(before, after, plan)
    assert_safe(before, plan)
    assert_needed(before, plan)
