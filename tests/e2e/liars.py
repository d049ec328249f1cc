"""Tenants who lie: whoever may edit in one namespace says what he likes there, with an account that may do no
more. What he gets of it, and what others hear of him."""

import itertools
import re

from client import Client, Refused
from plane import node, pod
from reservations import define
from stage import ROOT, condition, test, until

GPU = "nvidia.com/gpu"
OURS = "kubenexus-scheduler"
DRIVER = {"spark-app-id": "liar"}
CRITICAL = 999999999
numbers = itertools.count()


def announce(workers, gpus):
    return {"kubenexus.io/executor-count": str(workers), "kubenexus.io/executor-gpu": str(gpus),
            "kubenexus.io/executor-cpu": "100m"}


class Tenant:
    """A namespace of his own, in which he may do what Kubernetes lets editors do."""

    def __init__(self, stage):
        self.stage, self.name = stage, "secret-%d" % next(numbers)
        name = self.name
        stage.plane.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        stage.plane.create({"apiVersion": "v1", "kind": "ServiceAccount",
                            "metadata": {"name": "liar", "namespace": name}})
        stage.plane.create({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
            "metadata": {"name": "liar", "namespace": name},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
                        "name": "system:aggregate-to-edit"},
            "subjects": [{"kind": "ServiceAccount", "name": "liar", "namespace": name}]})
        path = "/api/v1/namespaces/%s/serviceaccounts/liar/token" % name
        token = stage.plane.request("POST", path, {"apiVersion": "authentication.k8s.io/v1",
                                                   "kind": "TokenRequest", "spec": {}})
        self.client = Client(stage.plane.port, stage.plane.ca, token["status"]["token"])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for kind in ("pods", "resourcequotas"):
            self.stage.plane.request("DELETE", "/api/v1/namespaces/%s/%s" % (self.name, kind),
                                     {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0})

    def say(self, name, labels=None, annotations=None, **how):
        made = pod(name, namespace=self.name, labels=labels, schedulerName=OURS, **how)
        made["metadata"]["annotations"] = annotations or {}
        self.client.create(made)

    def pods(self):
        return {p["metadata"]["name"]: p for p in self.stage.plane.list("Pod", self.name)}

    def node_of(self, name):
        return self.pods()[name]["spec"].get("nodeName")

    def hears(self, name):
        return condition(self.pods()[name]).get("message", "")


def have_class(stage, name, value):
    stage.plane.create({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
                        "metadata": {"name": name}, "value": value})


def hears(stage, name):
    return condition(stage.plane.get("Pod", name, stage.name)).get("message", "")


def wait_bound(stage, name):
    until(lambda: stage.nodes_of().get(name))


@test
def a_driver_that_lies_keeps_no_gpu_from_a_critical_pod(stage):
    """10m CPU, priority -1000, and workers for every GPU, which never come."""
    have_class(stage, "liar-low", -1000)
    have_class(stage, "liar-critical", CRITICAL)
    try:
        with Tenant(stage) as liar:
            stage.plane.create_all(node("n%d" % i, extended={GPU: "8"}) for i in range(2))
            first = stage.run_synced()
            liar.say("driver", DRIVER, announce(16, 1), cpu="10m", priorityClassName="liar-low")
            until(lambda: liar.node_of("driver"))
            stage.pod("half", extended={GPU: "8"})  # he holds no more than half
            wait_bound(stage, "half")
            stage.pod("other", extended={GPU: "8"}, priorityClassName="liar-low")
            until(lambda: "room is kept for another namespace until " in hears(stage, "other"))
            assert "secret" not in hears(stage, "other"), hears(stage, "other")
            liar.say("own", extended={GPU: "8"}, priorityClassName="liar-low")
            until(lambda: "room is kept for the workers of driver until " in liar.hears("own"))
            stage.plane.stop(first)
            stage.run_synced()  # knows nothing but what the API has
            stage.pod("critical", extended={GPU: "8"}, priorityClassName="liar-critical")
            wait_bound(stage, "critical")
            assert liar.node_of("driver"), "nobody had to go for it"
    finally:
        for name in ("liar-low", "liar-critical"):
            stage.plane.delete("PriorityClass", name)


@test
def a_driver_under_a_quota_holds_no_more_than_it_leaves(stage):
    with Tenant(stage) as liar:
        amounts = {"requests." + GPU: "2", "pods": "5"}
        stage.plane.create({"apiVersion": "v1", "kind": "ResourceQuota",
                            "metadata": {"name": "q", "namespace": liar.name}, "spec": {"hard": amounts}})
        stage.plane.patch("ResourceQuota", "q", {"status": {"hard": amounts, "used": {"requests." + GPU: "1", "pods": "0"}}},
                          liar.name, sub="status")
        stage.plane.create(node("n", extended={GPU: "8"}))
        stage.run_synced()
        liar.say("driver", DRIVER, announce(8, 1))
        until(lambda: liar.node_of("driver"))
        stage.pod("seven", extended={GPU: "7"})
        wait_bound(stage, "seven")
        stage.pod("one", extended={GPU: "1"})
        until(lambda: "room is kept for another namespace" in hears(stage, "one"))


@test
def who_deletes_members_again_and_again_keeps_a_share_at_most(stage):
    """A large pod beside a small one: deleted, it leaves a slot; and so on, on the next node."""
    nodes = 4
    with Tenant(stage) as liar:
        stage.plane.create_all(node("n%d" % i, extended={GPU: "4"}) for i in range(nodes))
        stage.run_synced()
        for number in range(nodes):
            gang = {"pod-group.scheduling.kubenexus.io/name": "g%d" % number,
                    "pod-group.scheduling.kubenexus.io/min-available": "2"}
            liar.say("small-%d" % number, gang)
            liar.say("large-%d" % number, gang, extended={GPU: "4"})
            until(lambda: liar.node_of("large-%d" % number))
        for number in range(nodes):
            liar.client.delete("Pod", "large-%d" % number, liar.name)
        stage.pods(nodes, "p-%d", extended={GPU: "4"})
        until(lambda: sum(map(bool, stage.nodes_of().values())) >= nodes / 2, 25)  # slots are kept for 30 s


@test
def nobody_who_edits_in_a_namespace_may_reserve_room(stage):
    define(stage)
    with Tenant(stage) as liar:
        try:
            liar.client.create({"apiVersion": "scheduling.kubenexus.io/v1alpha1", "kind": "ResourceReservation",
                                "metadata": {"name": "all", "namespace": liar.name},
                                "spec": {"resources": {GPU: "1000"}, "duration": "1000h"}})
        except Refused as why:
            assert why.code == 403, why
        else:
            assert False, "he may"


def all_keys():
    """What is read on pods."""
    text = (ROOT / "src/core/model/our_keys.def").read_text()
    ours = re.findall(r'^KEY\("([^"]+)", [^)]*ON_POD', text, re.MULTILINE)
    gangs = re.findall(r'\{STR\("([^"]+)"\), GANG_', (ROOT / "src/core/model/gang.c").read_text())
    others = re.findall(r'^KEY\("([^"]+)"', (ROOT / "src/core/model/pod_keys.def").read_text(), re.MULTILINE)
    return sorted({*ours, *gangs, *others} - {"kubenexus.io/executor-count", "kubenexus.io/min-executors"})


@test
def one_who_says_everything_at_once_changes_nothing_for_others(stage):
    """Pods with every key that is read, as labels and as annotations, before the others and beside them."""
    words = ("gold", "true", "1000", "high-priority", "secret-app", "isolated", "1h")
    keys = all_keys()
    assert len(keys) > 80, keys
    with Tenant(stage) as liar:
        stage.plane.create(node("n", extended={GPU: "8"}))
        for number, word in enumerate(words):
            said = {key: word for key in keys}
            liar.say("secret-%d" % number, said, said, extended={GPU: "8"}, nodeSelector={"no": "where"})
        stage.run_synced()
        stage.pods(4, "p-%d", extended={GPU: "2"})
        stage.wait_bound(4)
        stage.pod("waits", extended={GPU: "1"})
        stage.wait_refused("waits")
        told = [*stage.plane.list("Pod", stage.name), *stage.plane.list("Event", stage.name, "events.k8s.io/v1")]
        assert "secret" not in str(told), told
        assert not any(p["spec"].get("nodeName") for p in liar.pods().values())
