"""A gang that makes room for itself, on a real API server. There is no kubelet: who is evicted
stays until the test sends it away."""

from client import Refused
from gangs import member
from plane import node
from schedule import by_type
from stage import PATIENCE, condition, test, until


def have_class(stage, name, value):
    stage.plane.create({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
                        "metadata": {"name": name}, "value": value})


def is_going(pod):
    return bool(pod["metadata"].get("deletionTimestamp"))


def low_gang(stage):
    """Four pods of a gang on two nodes, and one pod on its own on a third."""
    for name in ("n-0", "n-1"):
        stage.plane.create(node(name, cpu="4", labels={"gang": "yes"}))
    stage.plane.create(node("n-2", cpu="4"))
    stage.run_synced()
    for number in range(4):
        member(stage, "low-%d" % number, "low", 4, cpu="2", nodeSelector={"gang": "yes"})
    stage.wait_bound(4)
    stage.pod("alone", cpu="4", priorityClassName="middle")
    assert stage.wait_bound(5)["alone"] == "n-2"


@test
def a_gang_evicts_a_less_important_one_whole_and_binds(stage):
    have_class(stage, "middle", 500)
    have_class(stage, "high", 1000)
    low_gang(stage)
    for number in range(4):
        member(stage, "high-%d" % number, "high", 4, cpu="1", priorityClassName="high")
    stage.wait_events("Preempted", 4, about="low")
    pods = {p["metadata"]["name"]: p for p in stage.plane.list("Pod", stage.name)}
    assert sorted(name for name, p in pods.items() if is_going(p)) == [
        "low-0", "low-1", "low-2", "low-3"], pods
    for number in range(4):
        why = by_type(pods["low-%d" % number])["DisruptionTarget"]
        assert (why["status"], why["reason"]) == ("True", "PreemptionByScheduler"), why
        name = "high-%d" % number
        until(lambda: stage.plane.get("Pod", name, stage.name)["status"].get("nominatedNodeName"))
        said = stage.wait_refused(name)["message"]
        assert said.endswith("preemption: preempting 4 victims: gang low (4 pods)"), said
    stage.pod("thief", cpu="1", priorityClassName="middle")  # nobody takes the room meanwhile
    for number in range(4):
        stage.plane.delete("Pod", "low-%d" % number, stage.name)
    stage.plane.wait_for("Pod", lambda p: p["metadata"]["name"].startswith("high-")
                         and bool(p["spec"].get("nodeName")), 4, PATIENCE, stage.name)
    where = stage.nodes_of()
    assert where["alone"] == "n-2" and not is_going(
        stage.plane.get("Pod", "alone", stage.name)), where
    for name in ("middle", "high"):
        stage.plane.delete("PriorityClass", name)


@test
def a_gang_that_would_not_fit_even_so_evicts_nobody(stage):
    have_class(stage, "middle", 500)
    have_class(stage, "high", 1000)
    low_gang(stage)
    for number in range(4):
        member(stage, "high-%d" % number, "high", 4, cpu="3", priorityClassName="high")
    said = stage.wait_refused("high-3")
    assert said["message"].endswith(
        "preemption: not helpful: no room even without all less important pods."), said
    pods = stage.plane.list("Pod", stage.name)
    assert not [p for p in pods if is_going(p)], pods
    assert not [p for p in pods if "DisruptionTarget" in by_type(p)], pods
    assert condition(stage.plane.get("Pod", "high-0", stage.name))["status"] == "False"
    for name in ("middle", "high"):
        stage.plane.delete("PriorityClass", name)


def protect(stage):
    """The server lets the scheduler delete no pod with the label keep."""
    policy = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy",
              "metadata": {"name": stage.name},
              "spec": {"matchConstraints": {"resourceRules": [
                  {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["DELETE"], "resources": ["pods"]}]},
                  "matchConditions": [{"name": "who", "expression": "request.userInfo.username == 'kubenexus'"}],
                  "validations": [{"expression": "!has(oldObject.metadata.labels) || !('keep' in "
                                                 "oldObject.metadata.labels)", "message": "it is kept"}]}}
    stage.plane.create(policy)
    stage.plane.create({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding",
                        "metadata": {"name": stage.name},
                        "spec": {"policyName": stage.name, "validationActions": ["Deny"]}})
    trial = {"kind": "DeleteOptions", "apiVersion": "v1", "dryRun": ["All"]}

    def is_in_force():
        try:
            stage.plane.as_user("kubenexus").request("DELETE", stage.plane.path("Pod", "kept", stage.name), trial)
        except Refused as why:
            return why.code in (403, 422)
        return False
    until(is_in_force)


@test
def a_gang_evicts_nobody_beside_a_pod_that_the_server_keeps(stage):
    have_class(stage, "middle", 500)
    have_class(stage, "high", 1000)
    for name in ("n-0", "n-1", "n-2"):
        stage.plane.create(node(name, cpu="4"))
    stage.run_synced()
    stage.pod("kept", cpu="4", labels={"keep": "yes"})
    stage.pod("low", cpu="4")
    stage.pod("other", cpu="4", priorityClassName="middle")
    stage.wait_bound(3)
    protect(stage)
    for number in range(3):  # needs all three
        member(stage, "all-%d" % number, "all", 3, cpu="3", priorityClassName="high")
    until(lambda: "less important" in stage.wait_refused("all-2")["message"])
    pods = stage.plane.list("Pod", stage.name)
    assert not [p for p in pods if is_going(p) or "DisruptionTarget" in by_type(p)], pods
    for number in range(3):
        stage.plane.delete("Pod", "all-%d" % number, stage.name)
    for number in range(2):  # would take those who matter least: low and the one that is kept
        member(stage, "two-%d" % number, "two", 2, cpu="3", priorityClassName="high")
    stage.wait_events("Preempted", 2)
    gone = sorted(p["metadata"]["name"] for p in stage.plane.list("Pod", stage.name) if is_going(p))
    assert gone == ["low", "other"], gone
    for name in gone:
        stage.plane.delete("Pod", name, stage.name)
    stage.plane.wait_for("Pod", lambda p: p["metadata"]["name"].startswith("two-")
                         and bool(p["spec"].get("nodeName")), 2, PATIENCE, stage.name)
    for kind in ("ValidatingAdmissionPolicyBinding", "ValidatingAdmissionPolicy"):
        stage.plane.delete(kind, stage.name)
    for name in ("middle", "high"):
        stage.plane.delete("PriorityClass", name)
