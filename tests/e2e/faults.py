"""What goes wrong in clusters, and is survived."""

import contextlib
import re
import signal
import time

from client import Refused
from plane import KUBECONFIG, node
from schedule import check_no_node_has_more_than, check_room_is_exact
from stage import may, test, until


OWNERS = ("batch", "jobset.x-k8s.io", "kubeflow.org", "ray.io")
ROLES = ("kubenexus", "kubenexus-optional")


def watched(plane):
    """What is watched and served, as RBAC spells it: pods, replicasets.apps. Owners and Workloads are
    none of it until a pod refers to one."""
    rules = [rule for role in ROLES for rule in plane.get("ClusterRole", role)["rules"]]
    rights = {(group, resource) for rule in rules if "watch" in rule["verbs"]
              for group in rule["apiGroups"] for resource in rule["resources"]
              if group not in OWNERS and (group, resource) != ("scheduling.k8s.io", "workloads")}
    for root, resource, _ in set(plane.known.values()):
        _, api, group, *version = root.split("/")
        if (group if version else "", resource) in rights and (version or api == "api"):
            yield resource + ("." + group if version else "")


@test
def outlives_its_api_server(stage):
    """All the room is needed: none may be held by what was on its way when the server died. Events
    wait for its return."""
    stage.plane.make_nodes(10, cpu="2")
    stage.pods(150, name="before-%d")
    child = stage.run_alone()
    stage.wait_bound(1)
    stage.plane.stop_apiserver()
    stage.until_says(child, "will be tried again")
    stage.plane.start_apiserver()
    stage.pods(50, name="after-%d")
    where = stage.wait_bound(200)
    check_no_node_has_more_than(20, where)
    stage.wait_events("Scheduled", 200)
    stage.check_scheduled_once(where)


@test
def is_ready_as_soon_as_its_api_server(stage):
    stage.plane.stop_apiserver()
    child = stage.run_alone()
    stage.until_says(child, "Connection refused")
    stage.plane.start_apiserver()
    start = time.monotonic()
    stage.until_says(child, '"synced"')
    took = time.monotonic() - start
    start = time.monotonic()
    stage.until_says(stage.run_alone(name="fresh"), '"synced"')
    fresh = time.monotonic() - start
    print("# %.3f s after the API server; one that is started now: %.3f s" % (took, fresh))
    assert took < 2 * fresh + 3, "it did not try again within a second"


@test
def begins_anew_when_what_it_knew_is_forgotten(stage):
    """While it sleeps the world changes and the history is compacted: it cannot resume (410)."""
    stage.plane.make_nodes(4, cpu="2")
    child = stage.run_alone()
    stage.pods(60)
    stage.wait_bound(60)
    child.send_signal(signal.SIGSTOP)
    before = stage.plane.request("GET", "/api/v1/pods")["metadata"]["resourceVersion"]
    stage.plane.delete("Node", "node-3")
    for number in range(20):
        stage.plane.delete("Pod", "pod-%d" % number, stage.name)
    stage.plane.create(node("node-3", cpu="2"))
    stage.pods(10, name="unseen-%d")
    stage.plane.compact()
    stage.plane.restart_apiserver()
    try:
        next(stage.plane.watch("/api/v1/pods", before, 10))
        assert False, "the server remembers"
    except Refused as why:
        assert why.code == 410, why
    child.send_signal(signal.SIGCONT)
    stage.wait_bound(50)
    check_room_is_exact(stage, 4, 20)
    assert child.poll() is None, stage.log(child)


@test
def takes_a_new_token_when_the_old_one_is_revoked(stage):
    plane = stage.plane
    token, kubeconfig = plane.folder / "rotating.token", plane.folder / "rotating.kubeconfig"
    token.write_text(plane.tokens["kubenexus"])
    kubeconfig.write_text(KUBECONFIG.format(port=plane.port, ca=plane.ca, token="")
                          .replace("token: ", "tokenFile: %s" % token))
    plane.make_nodes(1)
    child = stage.run_alone(kubeconfig)
    stage.pod("before")
    stage.wait_bound(1)
    plane.renew_token("kubenexus")
    plane.restart_apiserver()
    stage.pod("between")
    stage.until_says(child, "Unauthorized")
    assert stage.nodes_of()["between"] is None
    token.write_text(plane.tokens["kubenexus"])
    stage.wait_bound(2)


@contextlib.contextmanager
def denied(plane, verb, rights):
    """While kubenexus may not do `verb` to any of `rights`, as its roles have them."""
    names = {right.split(".")[0] for right in rights}
    rules = {role: plane.get("ClusterRole", role)["rules"] for role in ROLES}
    less = {role: [dict(rule, verbs=[v for v in rule["verbs"] if v != verb] or ["none"])
                   if names & set(rule["resources"]) else rule for rule in rules[role]] for role in ROLES}

    def give(some, allowed):
        for role in ROLES:
            plane.patch("ClusterRole", role, {"rules": some[role]})
        until(lambda: all(may(plane, verb, right) == allowed for right in rights))
    give(less, False)
    try:
        yield
    finally:
        give(rules, True)


def check_says_denied(stage, child, verb, rights):
    """Of what it cannot do without, or of what it goes on without."""
    for right in rights:
        line = r'"not allowed(, goes on without" what="[^"]+)?" verb="%s" resource="%s" why=' % (verb, re.escape(right))
        until(lambda sought=line: re.search(sought, stage.log(child)))


@test
def says_which_right_it_lacks_and_goes_on_when_it_has_it(stage):
    """The others of its role are for servers that cannot stream, and for when things go wrong."""
    stage.plane.make_nodes(1)
    kinds = sorted(set(watched(stage.plane)))
    assert "pods" in kinds and "replicasets.apps" in kinds, kinds
    with denied(stage.plane, "watch", kinds):
        child = stage.run_alone()
        check_says_denied(stage, child, "watch", kinds)
    stage.until_says(child, '"synced"')
    for verb, right, name, how in (("create", "pods/binding", "unbound", {}),
                                   ("patch", "pods/status", "large", {"cpu": "100"}),
                                   ("create", "events.events.k8s.io", "untold", {})):
        with denied(stage.plane, verb, [right]):
            stage.pod(name, **how)
            check_says_denied(stage, child, verb, [right])
    assert sorted(stage.wait_bound(2)) == ["unbound", "untold"]
