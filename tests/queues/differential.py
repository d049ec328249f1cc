#!/usr/bin/env python3
"""Random scenarios through the model and the product: both must say the same.

    differential.py FIRST LAST          compares these seeds; prints what differs first, shrunk to a small scenario
    differential.py FIRST LAST --model  the model alone, with its own checks (I1 to I7, R10)
    differential.py --file SCENARIO [CONFIG]

What differs is kept in --out FOLDER (default: nowhere). With --rough, scenarios stay as they are."""

import argparse
import json
import pathlib
import sys

import generate
import solve

ROW = ("guaranteed", "entitled", "used", "borrowed", "lent", "meanUsed")
SHOWN = 6  # lines that agree before the first that does not


def difference(model, product):
    """In words, or "" if both say the same."""
    for i in range(max(len(model.lines), len(product.lines))):
        ours = model.lines[i] if i < len(model.lines) else None
        theirs = product.lines[i] if i < len(product.lines) else None
        if ours != theirs:
            before = "".join(f"    both     {json.dumps(line)}\n" for line in model.lines[max(0, i - SHOWN):i])
            return f"line {i + 1}:\n{before}    model    {json.dumps(ours)}\n    product  {json.dumps(theirs)}"
    for queue in sorted(model.queues.keys() | product.queues.keys()):
        if queue == "default" and queue not in product.queues:  # no object, and nothing in it
            continue
        for resource in sorted(model.queues.get(queue, {}).keys() | product.queues.get(queue, {}).keys()):
            ours, theirs = model.row(queue, resource), product.row(queue, resource)
            if resource not in product.queues.get(queue, {}) and not any(ours[c] for c in ROW[:-1]):
                continue  # it is no more in use, and named nowhere
            for column in ROW:
                if ours[column] != theirs[column]:
                    return f"queue {queue}, {resource}, {column}: model {ours[column]}, product {theirs[column]}"
    for key in ("reclaim", "priority", "lostGpuSeconds"):
        if round(model.evictions[key], 3) != product.evictions.get(key):
            return f"evictions, {key}: model {model.evictions[key]}, product {product.evictions.get(key)}"
    return ""


def check(scenario, config, with_product=True):
    """What is wrong, or ""."""
    try:
        model = solve.solve(solve.by_model, scenario, config)
    except AssertionError as e:
        return f"model: {e}"
    if not with_product:
        return ""
    try:
        product = solve.solve(solve.by_product, scenario, config)
    except Exception as e:  # it ended badly, or printed what cannot be read
        return f"product: {e}"
    return difference(model, product)


# --- smaller scenarios ---


def without(document, key, i):
    return document | {key: document[key][:i] + document[key][i + 1:]}


def with_item(document, key, i, item):
    return document | {key: document[key][:i] + [item] + document[key][i + 1:]}


def less(document, key, keep):
    """With an item of this list less; with a field of an item less; with a list in it shorter."""
    for i in reversed(range(len(document[key]))):
        yield without(document, key, i)
    for i, item in enumerate(document[key]):
        for field, value in item.items():
            if field in keep:
                continue
            yield with_item(document, key, i, {k: v for k, v in item.items() if k != field})
            for smaller in smaller_values(value):
                yield with_item(document, key, i, item | {field: smaller})


def smaller_values(value):
    if isinstance(value, dict):
        for k, v in value.items():
            yield {a: b for a, b in value.items() if a != k}
            for smaller in smaller_values(v):
                yield value | {k: smaller}
    elif isinstance(value, list) and len(value) > 1:
        for i in range(len(value)):
            yield value[:i] + value[i + 1:]
    elif isinstance(value, int) and not isinstance(value, bool) and value > 1:
        yield 1
        yield value - 1
    elif isinstance(value, str) and value.endswith("000ms") and len(value) > 6:
        yield "1000ms"


def smaller(scenario, config):
    for queue in scenario["queues"]:  # its children go to its parent
        rest = [q for q in scenario["queues"] if q is not queue]
        if any(j.get("queue") == queue["name"] for j in scenario["jobs"]):
            continue
        hung = []
        for q in rest:
            up = {k: v for k, v in q.items() if k != "parent"} | ({"parent": queue["parent"]} if "parent" in queue else {})
            hung.append(up if q.get("parent") == queue["name"] else q)
        yield scenario | {"queues": hung}, config
    for candidate in less(scenario, "jobs", {"name", "arrival", "queue"}):
        yield candidate, config
    for i, job in enumerate(scenario["jobs"]):
        for arrival in smaller_values(job["arrival"]):
            if "at" in arrival:
                yield with_item(scenario, "jobs", i, job | {"arrival": arrival}), config
    for candidate in less(scenario, "queues", {"name", "parent"}):
        yield candidate, config
    args, *others = config["profiles"][0]["pluginConfig"]
    for name in args["args"]:
        yield scenario, generate.configuration({k: v for k, v in args["args"].items() if k != name}, others)
    for other in others:
        yield scenario, generate.configuration(args["args"], [o for o in others if o is not other])


def shrink(scenario, config, fails, most=600):
    """As little as still fails."""
    tried, is_smaller = 0, True
    while is_smaller and tried < most:
        is_smaller = False
        for one in smaller(scenario, config):
            tried += 1
            if tried > most:
                break
            if one != (scenario, config) and fails(*one):
                scenario, config = one
                is_smaller = True
                break
    return scenario, config


def kind(wrong):
    """So that shrinking does not slip into another fault."""
    return wrong.split(":")[0].split(" ")[0] + ("" if wrong.startswith(("line", "queue", "evictions")) else wrong[:40])


def apart(job, number):
    """It arrives a few milliseconds later, others by others."""
    later = [f"{int(t[:-2]) + 3 * number + 20 * i + 1}ms" for i, t in enumerate(job["arrival"]["at"])]
    return job | {"arrival": job["arrival"] | {"at": later}}


def still_fails(wrong, with_product):
    def fails(scenario, config):
        if not scenario["queues"] or not scenario["jobs"]:  # without queues the plugin does nothing
            return False
        is_pinned = all(job.get("template", {}).get("spec", {}).get("nodeSelector") for job in scenario["jobs"])
        if len(scenario["nodes"]) > 1 and not is_pinned:  # the model does not know which node a scheduler prefers
            return False
        try:
            now = check(scenario, config, with_product)
        except Exception:  # the smaller one is no scenario
            return False
        return now and kind(now) == kind(wrong)
    return fails


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("first", type=int, nargs="?")
    parser.add_argument("last", type=int, nargs="?")
    parser.add_argument("--model", action="store_true")
    parser.add_argument("--rough", action="store_true")
    parser.add_argument("--calm", action="store_true", help="of one priority and without reclaim: nobody is evicted")
    parser.add_argument("--apart", action="store_true", help="no two jobs arrive, and none ends, at one moment")
    parser.add_argument("--file", nargs="+")
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--most", type=int, default=1, help="ends after so many that differ")
    args = parser.parse_args()
    if args.file:
        documents = [json.loads(pathlib.Path(f).read_text()) for f in args.file]
        wrong = check(documents[0], documents[1] if len(documents) > 1 else None)
        print(wrong or "the same")
        return 1 if wrong else 0
    failed = 0
    for seed in range(args.first, args.last + 1):
        scenario, config = generate.generate(seed)
        if args.calm:
            scenario["jobs"] = [{k: v for k, v in job.items() if k != "priority"} for job in scenario["jobs"]]
            config["profiles"][0]["pluginConfig"][0]["args"]["reclaim"] = "Never"
        if args.apart:
            scenario["jobs"] = [apart(job, i) for i, job in enumerate(scenario["jobs"])]
        wrong = check(scenario, config, not args.model)
        if not wrong:
            continue
        failed += 1
        print(f"seed {seed}: {wrong}", flush=True)
        if not args.rough:
            scenario, config = shrink(scenario, config, still_fails(wrong, not args.model))
            print(f"shrunk: {check(scenario, config, not args.model)}\n{generate.text(scenario)}{json.dumps(config)}", flush=True)
        if args.out:
            args.out.mkdir(parents=True, exist_ok=True)
            (args.out / f"{seed}.yaml").write_text(generate.text(scenario))
            (args.out / f"{seed}.config.yaml").write_text(generate.text(config))
        if failed >= args.most:
            break
    print(f"{failed} of {seed - args.first + 1} differ")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
