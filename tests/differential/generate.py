#!/usr/bin/env python3
"""Clusters with one pod to place, drawn by theme and seed: the same seed, the same case.

    generate.py [--themes A,B] [--seeds FROM-TO] [-o DIR]      cases as JSON lines, or as DIR/NAME.yaml
    generate.py --check [--themes …] [--seeds …]               ask the oracle; say what the cases are like
"""

import argparse
import collections
import json
import os
import sys

import manifest
from objects import Rng, Scene
from themes import ALL


def generate(theme, seed):
    name = "%s-%d" % (theme, seed)
    scene = Scene(Rng(name))
    ALL[theme](scene)
    return scene.case(name)


def seeds(text):
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def arguments(parser, themes=ALL):
    parser.add_argument("--themes", default=",".join(themes), help="comma-separated: %(default)s")
    parser.add_argument("--seeds", type=seeds, default=seeds("1-20"), help="FROM-TO, for each theme")


def chosen(options):
    """The cases that the command line asks for, one at a time."""
    themes = options.themes.split(",")
    for theme in themes:
        if theme not in ALL:
            raise SystemExit("no theme %r; there are %s" % (theme, ", ".join(ALL)))
    return (generate(theme, seed) for seed in options.seeds for theme in themes)


def _outcome(answer):
    if answer.get("gated"):
        return "gated"
    if answer.get("error"):
        return "error"
    fits = sum(n["feasible"] for n in answer["nodes"])
    if not answer["nodes"]:
        return "no nodes"
    return "all fit" if fits == len(answer["nodes"]) else "some fit" if fits else "none fits"


OUTCOMES = ["all fit", "some fit", "none fits", "gated", "error", "no nodes"]


def check(options):
    """Every case must be one that an API server could return and the oracle can answer."""
    from oracle import Oracle
    outcomes, reasons, scored = collections.Counter(), collections.Counter(), collections.Counter()
    bad = 0
    cases = list(chosen(options))
    with Oracle(options.jobs) as oracle:
        for case, answer in zip(cases, oracle.answers(cases, validate=True)):
            theme = case["name"].rpartition("-")[0]
            for complaint in answer.get("invalid", []) + [answer.get("failed")]:
                if complaint:
                    print("%s: %s" % (case["name"], complaint))
                    bad += 1
            if answer.get("failed"):
                continue
            outcomes[theme, _outcome(answer)] += 1
            for n in answer["nodes"]:
                for reason in n["reasons"]:
                    reasons[n["rejectedBy"], n["code"], reason] += 1
                for plugin, score in n["scores"].items():
                    scored[plugin] += 1
                    scored[plugin, score["normalized"]] += 1
    print("%-12s %s" % ("theme", " ".join("%9s" % o for o in OUTCOMES)))
    for theme in options.themes.split(","):
        print("%-12s %s" % (theme, " ".join("%9d" % outcomes[theme, o] for o in OUTCOMES)))
    for (plugin, code, reason), count in sorted(reasons.items()):
        print("%7d  %s, %s: %s" % (count, plugin, code, reason))
    for plugin in sorted(p for p in scored if isinstance(p, str)):
        values = sum(1 for p in scored if isinstance(p, tuple) and p[0] == plugin)
        print("%7d  scores of %s, %d different" % (scored[plugin], plugin, values))
    print("%d cases, %d complaints" % (len(cases), bad))
    return bad == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments(parser)
    parser.add_argument("--check", action="store_true", help="ask the oracle about them")
    parser.add_argument("--jobs", "-j", type=int, default=1, help="cases at once for the oracle")
    parser.add_argument("-o", metavar="DIR", help="write one file per case")
    options = parser.parse_args()
    if options.check:
        sys.exit(0 if check(options) else 1)
    for case in chosen(options):
        if options.o:
            os.makedirs(options.o, exist_ok=True)
            with open(os.path.join(options.o, case["name"] + ".yaml"), "w", encoding="utf-8") as f:
                f.write(manifest.header(case) + manifest.yaml_documents(case["objects"]))
        else:
            print(json.dumps(case, separators=(",", ":")))


if __name__ == "__main__":
    main()
