#!/usr/bin/env python3
"""The end-to-end specs of sig-scheduling, on a real control plane with kwok's nodes.

    suite.py                              with kube-scheduler and with kubenexus, each on its own plane
    suite.py --with kubenexus --focus preempt
    suite.py --gate GenericWorkload       with the specs of a feature that is off by default
    suite.py --list

A spec that passes with kube-scheduler must pass with kubenexus. What cannot pass on nodes that only
pretend is told in docs/parity.md. Exit 0: so it is, 1: some does not, 2: bad usage, 77: the
programs cannot be had here.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
for folder in ("../e2e", "../cluster"):
    sys.path.insert(0, str(HERE / folder))

from plane import NoPlane, Plane, node, pod, programs  # noqa: E402  (found only now)
import stage  # noqa: E402

NODES = 4
LIMIT_S = 3600
# Every node is large enough that no spec fills it by accident, and has what a kubelet reports.
ROOM = {"ephemeral-storage": "100Gi"}


def build(script, *more):
    """Where a program is, built now if need be."""
    built = subprocess.run([script, *more], text=True, stdout=subprocess.PIPE, check=False)
    if built.returncode == 77:
        raise NoPlane("%s: cannot be built here" % script)
    if built.returncode:
        raise SystemExit("%s failed" % script)
    return built.stdout.strip()


def make_nodes(plane):
    for i in range(NODES):
        name = "node-%d" % i
        zone = {"topology.kubernetes.io/zone": "zone-%d" % (i % 2), "topology.kubernetes.io/region": "here"}
        made = node(name, cpu="8", memory="16Gi", extended=ROOM,
                    labels={**zone, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"})
        made["status"]["addresses"] = [{"type": "InternalIP", "address": "10.1.0.%d" % (i + 1)}]
        plane.create(made)
        # Specs wait a minute for these, and then go on without them.
        plane.create(pod("kube-proxy-fluentd-elasticsearch-node-problem-detector-%d" % i,
                         namespace="kube-system", nodeName=name, cpu="10m"))


def gates(names):
    """The flag that turns features on, for every program that has it."""
    return ["--feature-gates=" + ",".join(name + "=true" for name in names)] if names else []


SCHEDULERS = {"kube-scheduler": lambda plane, flags: plane.start_scheduler(*flags),
              "kubenexus": lambda plane, flags: stage.run_in_place(plane, flags=flags)}


def run(scheduler, specs, options, report):
    """Runs the specs; `report` is called with each result as it comes."""
    flags = gates(options.gate)
    with Plane(["--allow-privileged"] + (flags and [*flags, "--runtime-config=api/beta=true"])) as plane:
        stage.grant(plane)
        make_nodes(plane)
        plane.start_kwok()
        plane.start_controller_manager(*flags)
        SCHEDULERS[scheduler](plane, flags)
        results = plane.folder / "results"
        results.touch()
        child = plane.start("specs", specs, "--kubeconfig=%s" % plane.kubeconfig("admin"),
                            "--provider=skeleton", "--num-nodes=%d" % NODES, "--results=%s" % results,
                            "--dump-logs-on-failure=false", "--ginkgo.no-color", "--ginkgo.seed=1",
                            "--ginkgo.flake-attempts=3",  # a late kwok deletes pods by name
                            *["--ginkgo.focus=" + re.escape(word) for word in options.focus],
                            *["--ginkgo.skip=" + re.escape(word) for word in options.skip],
                            *["--ginkgo.skip=Feature:OffByDefault"] * (not options.gate))
        deadline = time.monotonic() + LIMIT_S
        with open(results, encoding="utf-8") as lines:
            while (line := lines.readline()) or child.poll() is None:
                if line.endswith("\n"):
                    report(scheduler, json.loads(line))
                else:
                    assert time.monotonic() < deadline, "the suite does not end"
                    time.sleep(0.2)
        assert child.returncode in (0, 1), "the suite broke off:\n" + plane.log("specs")[-2000:]
        if options.keep:
            for name in ("specs", scheduler):
                pathlib.Path(options.keep, "%s.%s.log" % (name, scheduler)).write_text(plane.log(name))


class Results:
    """What became of each spec, by scheduler; printed as it comes."""

    def __init__(self):
        self.lock, self.of = threading.Lock(), {}

    def add(self, scheduler, result):
        if result["state"] == "skipped" and not result.get("message"):
            return  # not asked for
        with self.lock:
            self.of.setdefault(result["name"], {})[scheduler] = result["state"]
            print("%-14s %-8s %6.1f s  %s" % (scheduler, result["state"], result["seconds"], result["name"]))
            if result.get("message"):
                print("               " + result["message"].splitlines()[0][:200])
            sys.stdout.flush()

    def summary(self, schedulers):
        """Prints the counts; the specs that ought to pass with kubenexus and do not."""
        for scheduler in schedulers:
            states = [by.get(scheduler, "missing") for by in self.of.values()]
            print("%s: %s" % (scheduler, ", ".join("%d %s" % (states.count(s), s)
                                                   for s in sorted(set(states)))))
        return [name for name, by in self.of.items()
                if "kubenexus" in schedulers and by.get("kubenexus") != "passed"
                and by.get("kube-scheduler", "passed") == "passed"]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--with", dest="schedulers", action="append", choices=SCHEDULERS,
                        help="only this scheduler; may be repeated")
    parser.add_argument("--focus", action="append", default=[], metavar="TEXT",
                        help="only specs whose names contain this; may be repeated")
    parser.add_argument("--skip", action="append", default=[], metavar="TEXT",
                        help="no specs whose names contain this; may be repeated")
    parser.add_argument("--gate", action="append", default=[], metavar="NAME",
                        help="a feature gate that is on; may be repeated")
    parser.add_argument("--list", action="store_true", help="the names of the specs")
    parser.add_argument("--keep", metavar="DIR", help="put the logs there")
    return parser


def build_all():
    """The specs' program; NoPlane if something cannot be had here."""
    programs()
    build(HERE / "../cluster/build", "kube-controller-manager", "kwok")
    return build(HERE / "build")


def run_all(specs, options, report):
    """With each scheduler at the same time: most of it is waiting."""
    with ThreadPoolExecutor(len(options.schedulers)) as pool:
        for done in [pool.submit(run, scheduler, specs, options, report)
                     for scheduler in options.schedulers]:
            done.result()


def main():
    options = arguments().parse_args()
    options.schedulers = options.schedulers or list(SCHEDULERS)
    try:
        specs = build_all()
    except NoPlane as why:
        print("suite.py: %s" % why, file=sys.stderr)
        return 77
    if options.list:
        return subprocess.run([specs, "--list-tests"], check=False).returncode
    results = Results()
    run_all(specs, options, results.add)
    worse = results.summary(options.schedulers)
    for name in worse:
        print("does not pass with kubenexus: " + name)
    return 1 if worse or not results.of else 0


if __name__ == "__main__":
    sys.exit(main())
