"""A scenario in virtual time (O9, 4.4): what happens, as the lines of `--decisions`, and the ledger at the end.

At each millisecond all ends are told, then all arrivals, then come rounds until one starts nothing."""

import admission
import heads
import order
import reclaim
from amounts import add, is_accelerator
from order import Turn
from scenario import NEVER
from state import Run, State, ends_at
from tree import Tree


class World:
    def __init__(self, scenario, config):
        self.nodes, self.units, self.until, self.config = scenario.nodes, scenario.units, scenario.until, config
        capacity = {}
        for node in self.nodes:  # Q8
            add(capacity, node.room)
        self.tree = Tree(scenario.queues, capacity, config.namespace_fairness, {unit.queue for unit in self.units if unit.queue})
        self.promised = self.tree.promised()
        self.guarantees = {}
        self.leaf_names = {unit: self.tree.leaf_name(unit) for unit in self.units}
        self.parts = {unit: self.tree.part(unit) for unit in self.units}
        self.likeness = {unit: unit.likeness for unit in self.units}
        self.state = State(self, 0, [])
        self.ended = set()  # pods
        self.past = []  # (run, until): those that run no more
        self.lines = []
        self.said = {}  # by unit: the refusal written last
        self.placed = 0
        self.end = 0
        self.behind = set()  # whom a head kept in its last turn
        self.heads = []  # O10: refused for room since the last round for all, in that order
        self.evicted = {"reclaim": 0, "priority": 0, "lostGpuSeconds": 0}

    # --- what questions need ---

    def E(self, q, r):
        if (q, r) not in self.guarantees:
            self.guarantees[q, r] = self.tree.E(q, r)
        return self.guarantees[q, r]

    def claims(self, now):
        """L4 and Q7: what each leaf's part uses and waits for. Who names no leaf waits in no queue."""
        out, running = {}, {run.pod for run in self.state.runs}
        for unit in self.units:
            leaf = self.state.leaf(unit)
            is_in = leaf.is_leaf and not leaf.is_phantom
            pods = [pod for pod in unit.pods if pod in running or (is_in and unit.arrival <= now and pod not in self.ended)]
            claim = out.setdefault((leaf.name, self.state.part(unit)), {})
            add(claim, {r: a * len(pods) for r, a in unit.ask.items()})
        return out

    def F(self, state, q, r):
        return self.tree.F(q, r, self.claims(state.now))

    def integral(self, is_in, r, since, until):
        """∫ used(q, r) dt over the units that are in it."""
        total = 0
        for run, end in self.past + [(run, self.state.now) for run in self.state.runs]:
            if is_in(run.pod.unit):
                total += run.pod.unit.ask.get(r, 0) * max(0, min(end, until) - max(run.start, since))
        return total

    def is_under(self, q):
        names = {child.name for child in self.tree.subtree(q)}
        return lambda unit: self.leaf_names[unit] in names

    def history(self, q, r, now):
        is_in = self.is_under(q)
        return order.history(self.config.half_life_ms, now, lambda since, until: self.integral(is_in, r, since, until))

    def part_history(self, leaf, part, r, now):
        units = [u for u in self.units if self.leaf_names[u] == leaf.name and self.parts[u] == part and u.arrival <= now]
        born = self.birth(units)
        since_birth = {u for u in units if u.arrival >= born}
        return order.history(self.config.half_life_ms, now,
                             lambda since, until: self.integral(since_birth.__contains__, r, since, until))

    def birth(self, units):
        """Since when there has been one of these units at any moment."""
        born, until = None, None
        for unit in sorted(units, key=lambda u: u.arrival):
            if until is None or unit.arrival > until:
                born, until = unit.arrival, unit.arrival
            is_done = all(pod in self.ended for pod in unit.pods)
            until = max(until, max(end for run, end in self.past if run.pod.unit is unit) if is_done else NEVER)
        return born

    # --- what happens ---

    def turns(self):
        return self.state.once("turns", self.waiting)

    def waiting(self):
        """Who waits: of each unit its minimum, or, once that has started, its pods beyond."""
        out, running = [], {run.pod for run in self.state.runs}
        for unit in self.units:
            if unit.arrival > self.state.now:
                continue
            waiting = [pod for pod in unit.pods if pod not in running and pod not in self.ended]
            if waiting:
                out.append(Turn(unit, waiting[0].kind))
        return out

    def say(self, unit, **line):
        self.lines.append({"t": self.state.now, "unit": unit.name, "queue": self.state.leaf_name(unit), **line})

    def end_pods(self, now):
        done = [run for run in self.state.runs if ends_at(run) == now]
        told = set()
        for run in sorted(done, key=lambda run: (run.pod.unit.name, run.pod.index)):
            unit, kind = run.pod.unit, run.pod.kind
            if kind == "beyond" or unit not in told:
                self.say(unit, end=kind)
            told.add(unit)
            self.ended.add(run.pod)
            self.past.append((run, now))
        self.state = self.state.without(done)

    def start(self, turn, nodes, plan):
        before, unit = self.state, turn.unit
        leaf = before.leaf(unit)
        line = {"start": turn.kind}
        if not unit.is_first:
            line |= {"class": order.key_class(before, leaf, turn.ask), "share": order.share(before, leaf, turn.ask)}
        if plan:
            line["victims"] = self.victims(plan)
            self.evict(plan)
        pods = unit.pods[: unit.minimum] if turn.kind == "minimum" else [self.first_waiting(unit)]
        runs = [Run(pod, node, before.now, self.placed + i) for i, (pod, node) in enumerate(zip(pods, nodes, strict=True))]
        self.placed += len(runs)
        self.state = self.state.with_runs(runs)
        self.say(unit, **line)
        self.said.pop(unit, None)
        assert not self.state.is_overfull(), "I7"
        if plan:
            reclaim.assert_sound(before, self.state, plan)

    def first_waiting(self, unit):
        running = {run.pod for run in self.state.runs}
        return next(pod for pod in unit.pods if pod not in running and pod not in self.ended)

    def victims(self, plan):
        out = {}
        for c in plan.victims:
            entry = out.setdefault(c.piece.unit.name, {"unit": c.piece.unit.name, "queue": self.state.leaf_name(c.piece.unit),
                                                       "pods": 0, "rule": c.rule})
            entry["pods"] += len(c.runs)
        return [out[name] for name in sorted(out)]

    def evict(self, plan):
        """Gone, and made again at once: it waits with the age of its job."""
        gone = [(run, c.rule) for c in plan.victims for run in c.runs]
        for run, rule in gone:
            self.past.append((run, self.state.now))
            if rule != "O1":
                self.evicted["reclaim" if rule == "R4" else "priority"] += 1
                gpus = sum(a for r, a in run.pod.unit.ask.items() if is_accelerator(r))
                self.evicted["lostGpuSeconds"] += gpus * (self.state.now - run.start)
        self.state = self.state.without([run for run, _ in gone])

    # --- rounds ---

    def attempt(self, turn, held):
        """Its turn: it starts, by a plan if it must; None: it is refused. `held`: the heads of the line."""
        state, alike = self.state, (self.likeness[turn.unit], turn.kind, turn.unit.arrival if self.config.delay_ms else 0)
        if alike in state.memo:  # one of its likeness was refused, and nothing has changed
            return None
        refused = admission.refusal(state, turn)
        self.behind.discard(turn)
        if not refused and heads.holds_back(state, held, turn):
            self.behind.add(turn)
            return None
        nodes = None if refused else state.seats(turn.unit, len(turn.unit.pods[: turn.unit.minimum]) if turn.kind == "minimum" else 1)
        if nodes is not None:
            self.start(turn, nodes, None)
            return "start"
        plan = reclaim.plan(state, turn.unit) if turn.kind == "minimum" else None
        if plan:
            self.start(turn, plan.nodes, plan)
            return "plan"
        if not refused:
            heads.add(state, held, turn)
        if self.config.policy == "first-fit":
            state.memo[alike] = None
        return None

    def round(self, who):
        """Each has one turn; a plan opens the round anew, for all. Did something start?"""
        had, started = set(), False
        self.heads = [t for t in self.heads if who and not who(t)]
        while True:
            turns = [t for t in self.turns() if t not in had and (who is None or who(t))]
            turn = order.next_turn(self.state, turns)
            if turn is None:
                return started
            outcome = self.attempt(turn, self.heads)
            if outcome is None:
                had.add(turn)
            elif outcome == "plan":
                had, self.heads, who = set(), [], None
            started = started or outcome is not None

    def may_evict(self, turn):
        return turn.kind == "minimum" and turn.unit.may_evict

    def rounds(self):
        """4.4, O9: a round for all who wait; after one in which something started, one for those who may evict.

        In a line all stand again: who is a head is found anew."""
        again = self.may_evict if self.config.policy == "first-fit" else None
        is_on = self.round(None)
        while is_on:
            is_on = self.round(again)

    def say_refusals(self):
        for turn in sorted(self.turns(), key=lambda t: t.unit.name):
            if turn.kind != "minimum":
                continue
            refused = admission.refusal(self.state, turn) or (("O10" if turn in self.behind else "room"), None)
            if self.said.get(turn.unit) != refused:
                self.said[turn.unit] = refused
                rule, at = refused
                self.say(turn.unit, refuse=rule, **({"at": at} if at else {}))

    # --- time ---

    def next_time(self):
        now = self.state.now
        times = [ends_at(run) for run in self.state.runs]
        times += [unit.arrival for unit in self.units if unit.arrival > now]
        times += [t for t in reclaim.ripe_times(self.state, [t for t in self.turns() if self.may_evict(t)]) if t > now]
        return min(times, default=NEVER)

    def run(self):
        now = 0
        while True:
            self.state = State(self, now, self.state.runs)
            self.end_pods(now)
            self.rounds()
            self.say_refusals()
            self.check()
            following = self.next_time()
            if following >= self.until or following == NEVER:
                self.end = now if self.until == NEVER else self.until
                break
            now = following
        return self

    def check(self):
        """I1, I2: at the end of a round nobody could start. I7: limits. O1 starts what it wants, so with it nothing is said."""
        state = self.state
        alike = {(self.likeness[turn.unit], turn.kind): turn for turn in reversed(self.turns())}
        for turn in alike.values():
            if not admission.refusal(state, turn) and turn not in self.behind:
                n = turn.unit.minimum if turn.kind == "minimum" else 1
                assert state.seats(turn.unit, n) is None, f"I2: {turn.unit.name} could start"
            if turn.kind == "minimum":
                assert turn in self.behind or reclaim.plan(state, turn.unit) is None, f"I1: {turn.unit.name} could evict"
        if any(unit.is_first for unit in self.units):
            return
        for q in self.tree.queues.values():
            for r, most in q.max.items():
                assert state.used(q, r) <= most, f"I7: {q.name} uses {state.used(q, r)} of {most} {r}"

    # --- results ---

    def rows(self, end):
        """`queues` of -o json: L1-L3 and the mean use, when the run ends (nothing is left to happen, or `until`)."""
        self.state = state = State(self, end, self.state.runs)
        tree, out = self.tree, {}
        claims = self.claims(state.now)
        resources = sorted({r for unit in self.units for r in unit.ask} | self.promised)
        for parent in tree.inner():
            for r in resources:
                lent, _ = tree.loans(parent, r, state.sums)
                entitled = tree.entitled(parent, r, claims)
                for q in parent.children:
                    mean = self.integral(self.is_under(q), r, 0, state.now) // state.now if state.now else 0
                    out.setdefault(q.name, {})[r] = {
                        "guaranteed": self.E(q, r), "entitled": entitled[q.name], "used": state.used(q, r),
                        "borrowed": tree.borrowed(q, r, state.sums), "lent": lent[q.name], "meanUsed": mean}
        return out

    def evictions(self):
        return self.evicted | {"lostGpuSeconds": self.evicted["lostGpuSeconds"] / 1_000_000}


def simulate(scenario, config):
    return World(scenario, config).run()
