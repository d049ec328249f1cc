#!/usr/bin/env python3
"""kube-scheduler and kubenexus on the same cases: say where they differ, and make that small.

    compare.py [--themes A,B] [--seeds FROM-TO]      fresh cases: needs Go for the oracle
    compare.py --stored [--themes A,B]               the committed cases and answers

A difference on a fresh case is shrunk and stored under tests/golden/explain/; it stays there as a test.
Exit 0: no difference, 1: some, 2: bad usage, 77: there is no oracle here.
"""

import argparse
import collections
import itertools
import json
import os
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import corpus
import generate
from manifest import render
from oracle import HERE, NoOracle, Oracle
from shrink import shrink
from verdict import Difference, compare, show

TOP = os.path.dirname(os.path.dirname(HERE))
KUBENEXUS = os.path.join(TOP, os.environ.get("KUBENEXUS_BUILD", "build"), "kubenexus")
LIMIT_S = 30
BATCH = 200  # cases in memory


def explain(case, program=KUBENEXUS):
    """Our answer; {"failed": why} if there is none."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml", encoding="utf-8") as f:
        f.write(render(case))
        f.flush()
        try:
            done = subprocess.run([program, "explain", "-f", f.name, "--pod", case["pod"], "-o", "json"],
                                  capture_output=True, timeout=LIMIT_S, check=False)
        except subprocess.TimeoutExpired:
            return {"failed": "no answer in %d s" % LIMIT_S}
        except OSError as e:
            return {"failed": str(e)}
    try:
        if done.returncode in (0, 1):
            return json.loads(done.stdout)
    except ValueError:
        pass
    said = (done.stderr or done.stdout).decode(errors="replace").strip()
    return {"failed": "exit %d: %s" % (done.returncode, said[:500])}


def differences(want, got):
    if "failed" in got:
        return [Difference("failed", "", "an answer", got["failed"])]
    return compare(want, got)


def progress(count):
    if sys.stderr.isatty() and count % 50 == 0:
        print("\r%d cases" % count, end="\r", file=sys.stderr, flush=True)


def report(case, found, most=6):
    lines = ["%s: %s" % (case["name"], show(d)) for d in found[:most]]
    if len(found) > most:
        lines.append("%s: and %d more" % (case["name"], len(found) - most))
    return lines


def reduce(oracle, case, found, options):
    """The smallest valid case that shows one of the kinds of difference found; stored for ever."""
    kinds = {d.kind for d in found}

    def still(smaller):
        want = oracle.answer(smaller, validate=True)
        if want.get("failed") or want.get("invalid"):
            return False
        return bool(kinds & {d.kind for d in differences(want, explain(smaller, options.kubenexus))})
    small = shrink(case, still)
    return corpus.store_folder(small, oracle.answer(small))


def judged(options, oracle):
    """(case, kube-scheduler's answer, differences) of each chosen case; both programs are at work at once."""
    cases = generate.chosen(options)
    with ThreadPoolExecutor(options.jobs) as pool:
        while batch := list(itertools.islice(cases, BATCH)):
            written = [{**case, "text": render(case)} for case in batch]
            ours = pool.map(lambda case: explain(case, options.kubenexus), written)
            for case, want, got in zip(batch, oracle.answers(written), ours):
                yield case, want, [] if want.get("failed") else differences(want, got)


def fresh(options):
    """The number of generated cases on which the two differ. A run that is ended early says how far it came."""
    count, wrong, last = collections.Counter(), 0, None
    shrunk = []  # the kinds of difference that have their small case
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        with Oracle(options.jobs) as oracle, Oracle() as second:
            for case, want, found in judged(options, oracle):
                last = case["name"]
                count[last.rpartition("-")[0]] += 1
                progress(count.total())
                wrong += bool(found or want.get("failed"))
                if want.get("failed"):
                    print("%s: the oracle has no answer: %s" % (last, want["failed"]))
                elif found:
                    print("\n".join(report(case, found)), flush=True)
                kinds = {d.kind for d in found}
                if kinds and len(shrunk) < options.shrink and kinds not in shrunk:
                    shrunk.append(kinds)
                    print("  shrunk to %s" % os.path.relpath(reduce(second, case, found, options), TOP))
    finally:
        print(", ".join("%s %d" % of for of in count.items()) + " cases up to %s" % last)
        print("%d cases, %d differ" % (count.total(), wrong))
    return wrong


def stored(options):
    """The same for the committed ones."""
    count = wrong = 0
    cases = [c for t in options.themes.split(",") for c in corpus.generated(t)]
    for case in cases + list(corpus.folders()):
        count += 1
        found = differences(case["want"], explain(case, options.kubenexus))
        wrong += bool(found)
        if found:
            print("\n".join(report(case, found)))
    print("%d cases, %d differ" % (count, wrong))
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    generate.arguments(parser)
    parser.add_argument("--stored", action="store_true", help="the committed cases instead of fresh ones")
    parser.add_argument("--kubenexus", default=KUBENEXUS, help="the program: %(default)s")
    parser.add_argument("--shrink", type=int, default=1, metavar="N", help="shrink and store the first N that differ in new ways")
    parser.add_argument("--jobs", "-j", type=int, default=2, help="cases at once for each program")
    options = parser.parse_args()
    try:
        sys.exit(1 if (stored if options.stored else fresh)(options) else 0)
    except NoOracle as e:
        print("compare.py: %s" % e, file=sys.stderr)
        sys.exit(77)


if __name__ == "__main__":
    main()
