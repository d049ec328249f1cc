"""Claims for devices whose search takes for ever, as the API server takes them: they hold up nobody."""

import time

from devices import API, claimed
from gangs import has_bound
from plane import node
from stage import condition, test, until

NODES, REQUESTS = 30, 8
FIRST = {"priorityClassName": "system-cluster-critical"}


def supply(stage, devices, attribute):
    """So many devices on each node, and of each its value of the attribute `m`."""
    driver = stage.name + ".example.com"
    stage.plane.create({"apiVersion": API, "kind": "DeviceClass", "metadata": {"name": stage.name}, "spec": {
        "selectors": [{"cel": {"expression": "device.driver == '%s'" % driver}}]}})
    for number in range(NODES):
        name = "n%d" % number
        stage.plane.create(node(name))
        stage.plane.create({
            "apiVersion": API, "kind": "ResourceSlice", "metadata": {"name": "%s-%s" % (stage.name, name)}, "spec": {
                "driver": driver, "nodeName": name,
                "pool": {"name": name, "generation": 1, "resourceSliceCount": 1},
                "devices": [{"name": "d%d" % i, "attributes": {
                    "example.com/id": {"int": i}, "example.com/m": {"int": attribute(i)}}} for i in range(devices)]}})


def make_claim(stage, name, constraints):
    exactly = {"deviceClassName": stage.name, "allocationMode": "ExactCount", "count": 1}
    stage.plane.create({"apiVersion": API, "kind": "ResourceClaim",
                        "metadata": {"name": name, "namespace": stage.name}, "spec": {"devices": {
                            "requests": [{"name": r, "exactly": exactly} for r in requests(0, REQUESTS)],
                            "constraints": constraints}}})


def requests(first, n):
    return ["r%d" % i for i in range(first, first + n)]


def bystander(stage, name):
    begin = time.monotonic()
    stage.pod(name)
    until(lambda: name in has_bound(stage), 9)  # a search may take ten seconds: nobody waits for it
    print("# %s: bound after %.2f s" % (name, time.monotonic() - begin), flush=True)


def holds_up_nobody(stage, constraints, says):
    """Pods with such a claim, there at the start and coming later; the lease stays where it is."""
    make_claim(stage, "early", constraints)
    stage.pod("early", **FIRST, **claimed("early"))
    child = stage.run_synced()
    bystander(stage, "first")
    for i in range(4):
        make_claim(stage, "late-%d" % i, constraints)
        stage.pod("late-%d" % i, **FIRST, **claimed("late-%d" % i))
        bystander(stage, "beside-%d" % i)
    until(lambda: sum(says in condition(p).get("message", "")
                      for p in stage.plane.list("Pod", stage.name)) == 5, 120)
    bystander(stage, "last")
    assert child.poll() is None


@test
def a_claim_that_cannot_be_met_holds_up_nobody(stage):
    """Eight requests of which four share an attribute, on nodes of sixteen devices."""
    supply(stage, 16, lambda i: i // 3)
    holds_up_nobody(stage, [{"requests": requests(4, 4), "matchAttribute": "example.com/m"}],
                    "30 cannot allocate all claims")


@test
def a_search_without_end_holds_up_nobody(stage):
    """Nothing can be left out: no two devices are alike, and seven requests want none twice."""
    supply(stage, 40, lambda i: i)
    holds_up_nobody(stage, [{"requests": requests(0, 7), "distinctAttribute": "example.com/m"},
                            {"requests": requests(6, 2), "matchAttribute": "example.com/m"}],
                    "timed out trying to allocate devices")
