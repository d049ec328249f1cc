#!/usr/bin/env python3
"""Plants mistakes in the product, one at a time: do the worked examples and the random scenarios find each?

    plant.py TREE [SEEDS [WORD]]   TREE: a checkout of its own, with a build folder build-dev; its sources are changed and put back

By hand: it builds once for each mistake (that has WORD in its name). Prints what found it: an example, or a seed, of the first
SEEDS (60) that agree without a mistake."""

import pathlib
import subprocess
import sys

import differential
import expected
import generate
import solve

FAIR, ENGINE, EVICT = "src/core/fair/", "src/core/engine/fair/", "src/core/engine/preemption/"
MISTAKES = [  # (what, file, text there, text instead)
    ("O4: the share with the job instead of before it", FAIR + "keys.c",
     "share = MAX(share, share_of_one(f, q, ask.at[i].resource));\n    return share;\n}\n\nstatic uint64_t fill_of",
     "share = MAX(share, billionths(past_counted(q, ask.at[i].resource) + ask.at[i].amount - q->cells[ask.at[i].resource].effective, "
     "f->capacity.at[ask.at[i].resource]));\n    return share;\n}\n\nstatic uint64_t fill_of"),
    ("O4: all that the job asks for, whatever is guaranteed", FAIR + "keys.c", "bool is_all = !touches_gamma(f, ask);",
     "bool is_all = true || !touches_gamma(f, ask);"),
    ("O5: weights have no say", FAIR + "keys.c", "(unsigned __int128)x->share * b->weight", "(unsigned __int128)x->share * (a->weight + 0 * b->weight)"),
    ("O5a: who has less of its guarantee has no say", FAIR + "keys.c", "return x->fill == y->fill ? 0 : x->fill < y->fill ? -1 : 1;", "return 0;"),
    ("O6: pods beyond the minimum as soon as minimums", ENGINE + "stand.c", "if (!x->is_first && x->is_beyond != y->is_beyond)",
     "if (false && x->is_beyond != y->is_beyond)"),
    ("O6: starving has no say", ENGINE + "stand.c", "if (!x->is_first && x->is_starving != y->is_starving)",
     "if (false && x->is_starving != y->is_starving)"),
    ("O7: the past counts in full", FAIR + "past.c", "(q->past[resource].h >> 16)) / 2 : used", "(q->past[resource].h >> 16)) : used"),
    ("O9: no round after one in which something started", "src/core/engine/backfill/turns.c", "if (next == FAIR_NONE && l->has_started) {",
     "if (next == FAIR_NONE && l->has_started && false) {"),
    ("Q10: an inner queue is guaranteed what it says alone", FAIR + "shape.c", "above[r] = sum_of(above[r], own[r]);",
     "above[r] = sum_of(q->parent ? 0 : above[r], q->parent ? 0 : own[r]);"),
    ("Q11: guarantees are not cut when there is less than was promised", FAIR + "shape.c",
     "return sum <= room ? asked : (int64_t)((__int128)asked * room / sum);", "return room < 0 ? sum : asked;"),
    ("Q15: lent twice: what is lent is still counted as kept", FAIR + "shape.c", "MAX(0, cell->effective - lend)", "cell->effective"),
    ("Q14: one resource within is enough", FAIR + "keys.c",
     "if (sum_of(q->cells[r].used, ask.at[i].amount) > guarantee_of(q, r))\n            return false;\n    }\n    return is_any;",
     "if (sum_of(q->cells[r].used, ask.at[i].amount) <= guarantee_of(q, r))\n            return true;\n    }\n    return is_any && false;"),
    ("A2: `max` does not count what is kept", FAIR + "admit.c", "if (after > c->max && after > before && refused == FAIR_NONE)",
     "if (sum_of(c->used, request->ask.at[i].amount) > c->max && refused == FAIR_NONE)"),
    ("A2: nothing is kept at the root", FAIR + "admit.c", "after > sum_of(c->used, a.amount))", "after > sum_of(c->used, a.amount) && false)"),
    ("A3: one job too many", FAIR + "admit.c", "(int64_t)q->jobs + 1 <= most", "(int64_t)q->jobs <= most"),
    ("A4: a part may have one more", FAIR + "admit.c", "if (sum_of(c->used, r->ask.at[i].amount) > c->max)", "if (c->used > c->max)"),
    ("A6: within the leaf is enough", FAIR + "admit.c", "if (!f->is_guaranteed.at[resource] || sum_of",
     "if (at != leaf || !f->is_guaranteed.at[resource] || sum_of"),
    ("R3: covered by age instead of rank", FAIR + "cover.c", "if (x->rank != y->rank)\n        return x->rank > y->rank ? -1 : 1;\n    if (x->is_beyond",
     "if (x->is_beyond"),
    ("R3: a pod beyond is covered though its gang is not", FAIR + "cover.c", "if (!(minimum & bit) || !is_covered(c, p->ask, at))",
     "if (minimum > 65534 || !is_covered(c, p->ask, at))"),
    ("R4: exposed at the leaf alone", FAIR + "cover.c", "depths(c->f, leaf, b))", "depths(c->f, leaf, b ? leaf : b))"),
    ("R4: exposed below the common ancestor alone", FAIR + "cover.c", "depths(c->f, leaf, b))", "depths(c->f, b, b))"),
    ("R4: who is not within takes back as well", FAIR + "cover.c", "return is_within && !(c->covered", "return (is_within || a) && !(c->covered"),
    ("R5: priority takes what is covered", FAIR + "cover.c", "!(c->covered[piece] & ~c->u_covered)", "(c->u_covered || true)"),
    ("R5: what is covered never goes for priority", FAIR + "cover.c", "!(c->covered[piece] & ~c->u_covered)", "!c->covered[piece]"),
    ("R6: minRunSeconds protects pods beyond, too", EVICT + "reclaim.c", "if (r->is_first || party->is_surplus)", "if (r->is_first)"),
    ("R6: minRunSeconds is not inherited", FAIR + "shape.c", "at != FAIR_NONE; at = queue_at(f, at)->parent)\n        if (queue_at(f, at)->min_run_ms",
     "at == queue; at = queue_at(f, at)->parent)\n        if (queue_at(f, at)->min_run_ms"),
    ("R7: the oldest first", EVICT + "reclaim.c", "party->keys[n] = -party->start_ms;", "party->keys[n] = party->start_ms;"),
    ("R7: who borrowed least first", EVICT + "reclaim.c", "= -debt_of(&x->reclaim, party);", "= debt_of(&x->reclaim, party);"),
    ("R7: minimums before pods beyond", EVICT + "reclaim.c", "= !party->is_surplus;", "= party->is_surplus;"),
    ("R8: limits are not asked in trials", EVICT + "reclaim.c", "bool may = engine_admits_request(k, unit, &r->request, &why);",
     "bool may = engine_admits_request(k, unit, &r->request, &why) || true;"),
    ("R8: fewer pods before less lost work", EVICT + "evict.c", "if (a->is_by_queues && a->lost_ms != b->lost_ms)",
     "if (a->is_by_queues && a->lost_ms != b->lost_ms && false)"),
    ("R9: as much as is idle may be taken back", FAIR + "ledger.c", "rest -= MAX(base, c->cells[r].kept);", "rest -= base;"),
    ("L2: what is nobody's counts as lent", FAIR + "ledger.c", "MIN(borrowed, MAX(0, room - effective))", "MIN(borrowed, MAX(0, effective - room))"),
]


def build(tree):
    done = subprocess.run(["ninja", "-C", "build-dev", "--quiet", "-j2", "kubenexus"], cwd=tree, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout[-600:]


def found_by(seeds):
    for file, check in expected.checks:
        try:
            check(expected.Example(solve.by_product, file))
        except Exception as e:
            return f"{expected.name_of(file)}: {str(e)[:60]}"
    for seed in seeds:
        wrong = differential.check(*generate.generate(seed))
        if wrong:
            return f"seed {seed}"
    return ""


def main():
    tree = pathlib.Path(sys.argv[1]).resolve()
    seeds = range(1, 1 + int(sys.argv[2] if len(sys.argv) > 2 else 60))
    solve.BINARY = tree / "build-dev" / "kubenexus"
    word = sys.argv[3] if len(sys.argv) > 3 else ""
    chosen = [mistake for mistake in MISTAKES if word in mistake[0]]
    print(build(tree), end="")
    seeds = [seed for seed in seeds if not differential.check(*generate.generate(seed))]
    missed = 0
    for what, file, text, instead in chosen:
        path = tree / file
        right = path.read_text()
        if right.count(text) != 1:
            print(f"STALE  {what}: its text is {right.count(text)} times in {file}", flush=True)
            missed += 1
            continue
        try:
            path.write_text(right.replace(text, instead))
            wrong = build(tree)
            found = f"does not build: {wrong}" if wrong else found_by(seeds)
        finally:
            path.write_text(right)
        missed += not found or bool(wrong)
        print(f"{'ok    ' if found and not wrong else 'MISSED'} {what}: {found}", flush=True)
    build(tree)
    print(f"{len(chosen) - missed} of {len(chosen)} found")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
