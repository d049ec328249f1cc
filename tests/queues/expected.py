"""The worked examples of the contract (5.2): what each must give, as its table says it. The files are in examples/, with
some of our own, which have no number."""

import json
import re

from solve import HERE, solve

GPU = "nvidia.com/gpu"
checks = []  # (file, check)


class Example:
    """A file of examples/, solved by one solver."""

    def __init__(self, solver, file):
        folder = HERE / "examples"
        self.solver, self.document = solver, json.loads((folder / f"{file}.yaml").read_text())
        config = folder / f"{file}.config.yaml"
        self.config = json.loads(config.read_text()) if config.exists() else None

    def solve(self, until=None, config=True, **jobs):
        """`jobs`: fields of a job class that are other than in the file."""
        document = json.loads(json.dumps(self.document)) | ({"until": until} if until else {})
        for job in document["jobs"]:
            job |= jobs.get(job["name"], {})
        return solve(self.solver, document, self.config if config else None)


def example(file):
    def keep(check):
        checks.append((file, check))
        return check
    return keep


def equal(got, wanted):
    assert got == wanted, f"{got}, not {wanted}"


def gpus(result, *queues, column="used", resource=GPU, scale=1000):
    """A column of the ledger, in whole units."""
    return [result.row(queue, resource)[column] / scale for queue in queues]


def order(result, least=0):
    """The queues of the starts after so many ms, in their order."""
    return " ".join(line["queue"] for line in result.starts() if line["t"] >= least)


def running(result):
    """The units whose minimum runs at the end."""
    beyond, out = {}, set()
    for line in result.lines:
        unit, what = line["unit"], line.get("start") or line.get("end")
        if what == "beyond":
            beyond[unit] = beyond.get(unit, 0) + (1 if "start" in line else -1)
        if line.get("start") == "minimum":
            out.add(unit)
        if line.get("end") == "minimum":
            out.discard(unit)
        for victim in line.get("victims", []):
            left = beyond.get(victim["unit"], 0) - victim["pods"]
            beyond[victim["unit"]] = max(0, left)
            if left < 0:  # more than it has beyond its minimum
                out.discard(victim["unit"])
    return out


def victims(result):
    return [(v["unit"], v["pods"], v["rule"]) for v in result.victims()]


@example("01-drf-paper")
def drf_paper(it):
    result = it.solve()
    equal(order(result), "a b a b a")
    equal(gpus(result, "a", "b", resource="pods", scale=1), [3, 2])
    equal(result.row("a", "memory")["used"] * 10**9 // (18 << 30), 666_666_666)
    equal(result.row("b", "cpu")["used"] * 10**9 // 9000, 666_666_666)


@example("02-no-object")
def no_object(it):
    result = it.solve()
    equal(" ".join(line["unit"][0] for line in result.starts()), "x y x y x y")
    equal({line["queue"] for line in result.starts()}, {"default"})


@example("03-weights")
def weights(it):
    result = it.solve()
    equal(order(result, 1000)[:15], "a b a a b a a a")
    equal(gpus(result, "a", "b"), [12, 4])


@example("04-rest-by-weight")
def rest_by_weight(it):
    result = it.solve()
    for column, wanted in (("entitled", [48, 44, 8]), ("used", [48, 44, 8]), ("borrowed", [8, 24, 8]), ("lent", [0, 0, 0])):
        equal(gpus(result, "a", "b", "c", column=column), wanted)


@example("05-reclaim")
def reclaim(it):
    before = it.solve(until="9s")
    equal(gpus(before, "b", column="borrowed") + gpus(before, "a", column="lent"), [8, 8])
    result = it.solve()
    equal(victims(result), [("default/b-2", 4, "R4"), ("default/b-3", 4, "R4")])
    equal(gpus(result, "a", "b"), [8, 8])


@example("06-elastic")
def elastic(it):
    result = it.solve()
    equal(victims(result), [("default/b-0", 4, "R4")])
    equal(gpus(result, "a", "b"), [4, 6])
    equal(running(result), {"default/a-0", "default/b-0"})


@example("07-partly-borrowed")
def partly_borrowed(it):
    result = it.solve()
    equal(victims(result), [("default/big-0", 12, "R4")])
    equal(gpus(result, "a", "b"), [8, 4])


@example("08-nested")
def nested(it):
    equal(gpus(it.solve(until="9s"), "a", "b", "ops"), [0, 16, 0])
    equal(gpus(it.solve(until="19s"), "a", "b", "ops"), [0, 12, 4])
    equal(gpus(it.solve(), "a", "b", "ops"), [4, 8, 4])


@example("09-lending-limit")
def lending_limit(it):
    before = it.solve(until="9s")
    equal(gpus(before, "b") + gpus(before, "b", column="entitled"), [10, 10])
    equal(len(before.starts()), 10)
    for line in before.of("refuse"):
        equal((line["refuse"], line["at"]), ("A2", "root"))  # 6 … are kept
    result = it.solve()
    equal(running(result) - running(before), {"default/a-0"})
    equal(victims(result), [])


@example("10-too-many-promises")
def too_many_promises(it):
    result = it.solve()
    equal(gpus(result, "a", "b", column="guaranteed"), [6, 3])
    equal(gpus(result, "a", "b"), [6, 3])


@example("11-h-drf")
def h_drf(it):
    result = it.solve()
    equal([gpus(result, "n1", "n21", resource="example.com/r1", scale=1), gpus(result, "n22", resource="example.com/r2", scale=1)],
          [[5, 5], [10]])
    runs = {"n1": 0, "n21": 0, "n22": 0}
    steps = {}
    for line in result.lines:
        if "refuse" not in line:
            runs[line["queue"]] += 1 if "start" in line else -1
            steps[line["t"] // 1000] = dict(runs)
    for step in range(40, 140):
        equal((step, steps[step]), (step, {"n1": 5, "n21": 5, "n22": 10}))


@example("12-history")
def history(it):
    equal(gpus(it.solve(until="1100s"), "a", "b"), [2, 6])
    result = it.solve()

    def first_share(queue, t):
        return next(line["share"] for line in result.starts() if line["queue"] == queue and line["t"] == t)

    equal(first_share("a", 600_000), 3999 // 2 * 10**9 // 8000)
    equal([first_share(queue, 1_200_000) for queue in "ab"], [2999 // 2 * 10**9 // 8000] * 2)


@example("13-fair-share")
def fair_share(it):
    equal(gpus(it.solve(config=False), "a", "b"), [8, 0])
    result = it.solve()
    equal(gpus(result, "a", "b"), [4, 4])
    equal(len(result.starts()), 12)  # nobody twice: a second round does nothing


@example("14-kueue-3779")
def kueue_3779(it):
    result = it.solve()
    equal(victims(result), [])
    equal(running(result), {"default/a1-0", "default/be1-0"})


@example("15-pinned-loop")
def pinned_loop(it):
    result = it.solve()
    equal(victims(result), [])
    equal(running(result), {"default/y-0"})


@example("16-head-of-line")
def head_of_line(it):
    result = it.solve()
    equal(running(result), {"default/run-0", "default/cpu-0"})
    equal([result.refused(f"default/{name}-0")[0] for name in ("big", "one")], ["room", "O10"])


@example("17-kueue-7101")
def kueue_7101(it):
    for size, wanted in ((6, [8, 0]), (5, [8, 0]), (4, [4, 4]), (3, [4, 3])):
        result = it.solve(p2={"pods": size, "gang": {"minAvailable": size}})
        equal((size, gpus(result, "p1", "p2")), (size, wanted))
        equal(len(result.starts()), 4 + (wanted[1] > 0))  # a second round does nothing


@example("18-no-borrowing")
def no_borrowing(it):
    result = it.solve()
    equal([line["start"] for line in result.starts()], ["minimum"] + ["beyond"] * 4)
    equal(gpus(result, "a"), [8])
    equal(result.refused("default/bad-0"), ("A6", "a"))


@example("19-scope")
def scope(it):
    result = it.solve()
    at = {line["t"]: [(v["unit"], v["rule"]) for v in line["victims"]] for line in result.starts() if "victims" in line}
    equal(at, {30_000: [("default/a-2", "R5"), ("default/a-3", "R5")],
               59_000: [("default/a-0", "R4"), ("default/a-1", "R4"), ("default/hot-0", "R4")]})
    equal(gpus(result, "a", "b", "c"), [0, 4, 4])


@example("20-safe-at-any-level")
def safe_at_any_level(it):
    result = it.solve()
    equal(victims(result), [(f"default/b-{i}", 1, "R4") for i in (4, 5, 6, 7)])
    equal(gpus(result, "a", "b", "ops"), [4, 4, 4])


@example("21-what-comes-along")
def what_comes_along(it):
    result = it.solve()
    equal(order(result, 1000)[:15], "a a a a b a b a")
    equal(gpus(result, "a", "b"), [8, 4])
    equal(gpus(result, "a", "b", column="entitled"), [8, 4])


@example("22-guarantees-first")
def guarantees_first(it):
    result = it.solve()
    equal(running(result), {"default/a-0"})
    equal(victims(result), [])


@example("second-round")
def second_round(it):
    """O9: u waits for y, which is covered until x has started; so u is tried once more."""
    result = it.solve()
    equal([(line["t"], line["unit"]) for line in result.starts()],
          [(0, "default/y-0"), (2000, "default/x-0"), (2000, "default/u-0")])
    equal(victims(result), [("default/y-0", 1, "R4")])


@example("inherited-run-time")
def inherited_run_time(it):
    """R6: minRunSeconds of the queue above protects, until it is over to the millisecond."""
    result = it.solve()
    equal([(line["t"], line["unit"]) for line in result.starts()], [(0, "default/b-0"), (10_000, "default/a-0")])


def name_of(file):
    """05-reclaim: example 5: reclaim"""
    number, name = re.fullmatch(r"(?:(\d+)-)?(.*)", file).groups()
    return (f"example {int(number)}: " if number else "") + name.replace("-", " ")
