"""Properties of the contract (5.1) that one run, or two, must show: P1 to P4 and P7. I1 to I7 are asserted by the model as it goes."""

import random

import generate
from solve import solve

GPU = "nvidia.com/gpu"
UNIT = {"cpu": 1000, "memory": 1}


def flat(weights, shapes, capacity, count=40):
    """Queues with work of one shape each, all there at time 0, without end."""
    queues = [{"name": f"q{i}", "weight": w} for i, w in enumerate(weights)]
    jobs = [{"name": f"j{i}", "queue": f"q{i}", "arrival": {"count": count}, "requests": shape} for i, shape in enumerate(shapes)]
    return {"kind": "Scenario", "name": "flat", "scheduler": "kubenexus-scheduler", "queues": queues, "jobs": jobs,
            "nodes": [{"name": "node", "pods": 1000, **capacity}]}


def draw_flat(r):
    n = r.randint(2, 4)
    capacity = {"cpu": r.randint(10, 40), "memory": r.randint(10, 40)}
    shapes = [{"cpu": r.randint(1, 4), "memory": r.randint(1, 4)} for _ in range(n)]
    return [r.choice((1, 1, 2, 5)) for _ in range(n)], shapes, capacity


def counts(result, n):
    return [sum(line["queue"] == f"q{i}" for line in result.starts()) for i in range(n)]


def sharing_incentive(solver, r):
    """P1"""
    weights, shapes, capacity = draw_flat(r)
    got = counts(solve(solver, flat(weights, shapes, capacity)), len(weights))
    for i, shape in enumerate(shapes):
        least = min((capacity[d] * weights[i] // sum(weights) - sum(s[d] for j, s in enumerate(shapes) if j != i)) // shape[d]
                    for d in shape)
        assert got[i] >= least, f"P1: {weights} {shapes} {capacity}: q{i} got {got[i]}, not {least}"


def envy(solver, r):
    """P2: by exact shares, before each start."""
    weights, shapes, capacity = draw_flat(r)
    result, runs = solve(solver, flat(weights, shapes, capacity)), [0] * len(weights)
    for line in result.starts():
        i = int(line["queue"][1:])
        left = {d: c - sum(n * shape[d] for n, shape in zip(runs, shapes, strict=True)) for d, c in capacity.items()}
        # A billionth for the share's own rounding.
        share = [max([n * shape[d] * 10**9 // capacity[d] for d in shape] + [n * 10**9 // 1000]) for n, shape in zip(runs, shapes, strict=True)]
        for j, shape in enumerate(shapes):
            if all(left[d] >= shape[d] for d in shape):
                assert share[i] * weights[j] <= share[j] * weights[i], f"P2: {weights} {shapes} {capacity}: q{i} before q{j} at {runs}"
        runs[i] += 1


def tree_of_one_size(r, size):
    """A tree whose leaves always want more, of jobs of one size."""
    capacity, queues = r.randint(10, 40) * size, []

    def grow(parent, name, depth):
        for i in range(r.randint(2, 3)):
            queue = {"name": f"{name}{i}", "weight": r.choice((1, 1, 2, 3))} | ({"parent": parent} if parent else {})
            if r.random() < 0.4:
                queue["guaranteed"] = {GPU: r.randint(0, capacity // (2 * depth + 1))}
            queues.append(queue)
            if depth < 3 and r.random() < 0.4:
                grow(queue["name"], queue["name"], depth + 1)

    grow(None, "q", 1)
    inner = {q.get("parent") for q in queues}
    jobs = [{"name": f"j{q['name']}", "queue": q["name"], "arrival": {"count": capacity // size}, "requests": {GPU: size}}
            for q in queues if q["name"] not in inner]
    return {"kind": "Scenario", "name": "tree", "scheduler": "kubenexus-scheduler", "queues": queues, "jobs": jobs,
            "nodes": [{"name": "node", "cpu": 1, "memory": 1, "pods": 1000, "gpus": capacity}]}


def convergence(solver, r):
    """P3: siblings beyond their guarantees are at most a job apart; everybody is within two jobs of its part."""
    size = r.randint(1, 3)
    document = tree_of_one_size(r, size)
    result, z = solve(solver, document), size * 1000
    rows = {q["name"]: result.row(q["name"], GPU) for q in document["queues"]}
    weights, parents = ({q["name"]: q.get(k, d) for q in document["queues"]} for k, d in (("weight", 1), ("parent", None)))
    for a, of in rows.items():
        assert abs(of["used"] - of["entitled"]) < 2 * z, f"P3: {a} uses {of['used']}, its part is {of['entitled']}, jobs of {z}"
        for b, other in rows.items():
            beyond = [row["used"] - row["guaranteed"] for row in (of, other)]
            if a != b and parents[a] == parents[b] and min(beyond) > 0:
                assert beyond[0] * weights[b] <= beyond[1] * weights[a] + z * weights[b], f"P3: {a} {of}, {b} {other}"


def lying(solver, r):
    """P4: asking for more than its tasks need gives a queue one task more at most."""
    weights, shapes, capacity = draw_flat(r)
    shapes[0] = {"cpu": 1, "memory": 1} | {r.choice(("cpu", "memory")): r.randint(1, 3)}
    lie = {d: a + r.randint(0, 2) for d, a in shapes[0].items()}
    honest, liar = (counts(solve(solver, flat(weights, [first, *shapes[1:]], capacity)), len(weights))[0] for first in (shapes[0], lie))
    assert liar <= honest + 1, f"P4: {weights} {shapes} {capacity}: {honest} by the truth, {liar} by {lie}"


def guarantee_in_time(solver, r):
    """P7: in one pool, a job within the guarantees of its queue and all above starts once minRunSeconds let it."""
    drawing = generate.Drawing(r.randrange(10**9))
    drawing.has_cpu = drawing.is_long = drawing.is_fifo = False
    drawing.pools, drawing.sizes, drawing.grid_ms = 1, [r.randint(6, 14)], 250
    queues = drawing.tree(None, 1, "q")
    for queue in queues:
        for limit in ("maxJobs", "max", "minRunSeconds", "namespaces"):
            queue.pop(limit, None)
        if r.random() < 0.3:
            queue["minRunSeconds"] = 3
    inner = {q.get("parent") for q in queues}
    leaves = [q["name"] for q in queues if q["name"] not in inner]
    jobs = [drawing.job(i, leaves) for i in range(10)]
    jobs = [{k: v for k, v in job.items() if k not in ("template", "priority")} for job in jobs if job.get("queue") in leaves]
    document = {"kind": "Scenario", "name": "in time", "scheduler": "kubenexus-scheduler", "until": "50s", "queues": queues, "jobs": jobs,
                "nodes": [{"name": "node", "cpu": 1000, "memory": "1Ti", "gpus": drawing.sizes[0]}]}
    if not jobs:
        return
    result = solve(solver, document)
    check_in_time(document, result)


def check_in_time(document, result):
    """By the lines alone: who waits and is within at every level, whenever a moment is over, has waited for minRunSeconds at most."""
    parents = {q["name"]: q.get("parent") for q in document["queues"]}
    guaranteed = {q: result.row(q, GPU)["guaranteed"] for q in parents}
    job_of = {f"default/{job['name']}": job for job in document["jobs"]}
    sizes = {}
    for unit in {line["unit"] for line in result.lines}:
        job = next((job_of[name] for name in (unit.rsplit("-", 1)[0],) if name in job_of))
        least = job.get("gang", {}).get("minAvailable", 1)
        sizes[unit] = (1000 * job["requests"][GPU], least if least > 1 else 1)
    used, runs, since = dict.fromkeys(parents, 0), {}, {}

    def count(queue, amount):
        while queue is not None:
            used[queue] += amount
            queue = parents[queue]

    def is_within(unit, queue):
        while queue is not None:
            if used[queue] + sizes[unit][0] * sizes[unit][1] > guaranteed[queue]:
                return False
            queue = parents[queue]
        return any(guaranteed.values())

    waiting = {}
    for t in sorted({line["t"] for line in result.lines}):
        for line in (line for line in result.lines if line["t"] == t):
            unit, queue = line["unit"], line["queue"]
            size, least = sizes[unit]
            if "refuse" in line:
                waiting[unit] = queue
            elif "end" in line:
                pods = min(least, runs[unit]) if line["end"] == "minimum" else 1
                runs[unit] -= pods
                count(queue, -size * pods)
            else:
                pods = least if line["start"] == "minimum" else 1
                for victim in line.get("victims", []):
                    runs[victim["unit"]] -= victim["pods"]
                    count(victim["queue"], -sizes[victim["unit"]][0] * victim["pods"])
                    if runs[victim["unit"]] == 0:
                        waiting[victim["unit"]] = victim["queue"]
                waiting.pop(unit, None)
                runs[unit] = runs.get(unit, 0) + pods
                count(queue, size * pods)
        for unit, queue in waiting.items():
            if is_within(unit, queue):
                since.setdefault(unit, t)
                assert t - since[unit] <= 3000, f"P7: {unit} is within its guarantee since {since[unit]} ms, and waits at {t} ms"
            else:
                since.pop(unit, None)


ALL = (sharing_incentive, envy, convergence, lying, guarantee_in_time)


def check(prop, solver, seeds):
    for seed in seeds:
        try:
            prop(solver, random.Random(f"{prop.__name__} {seed}"))
        except AssertionError as e:
            raise AssertionError(f"seed {seed}: {e}") from e
