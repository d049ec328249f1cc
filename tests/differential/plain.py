"""Plain pods under our own profile: kubenexus-scheduler must judge them as kube-scheduler does.

A pod is plain that nobody says anything special about. A Job's pod is batch work, which our profile packs and rather
evicts than a service; a pod of negative priority fills gaps, and goes first.

One thing is ours on purpose: what kube-scheduler spreads by its built-in constraints, the pods that a Service selects
or an owner makes all alike, our profile spreads evenly, by another plugin.
"""

import copy


def _is_target(case, o):
    namespace, name = case["pod"].split("/")
    m = o.get("metadata", {})
    return o["kind"] == "Pod" and m.get("name") == name and m.get("namespace", "default") == namespace


def _is_plain(pod):
    owners = pod["metadata"].get("ownerReferences", [])
    return pod.get("spec", {}).get("priority", 0) >= 0 and not any(o.get("controller") and o["kind"] in ("Job", "CronJob") for o in owners)


def ours(case):
    """The case with its pod under our profile; None if that, or a pod that it may evict, is not plain."""
    case = copy.deepcopy(case)
    may_evict = case["want"].get("preemption") is not None
    for o in case["objects"]:
        is_target = _is_target(case, o)
        if o["kind"] == "Pod" and (is_target or may_evict) and not _is_plain(o):
            return None
        if is_target:
            o.setdefault("spec", {})["schedulerName"] = "kubenexus-scheduler"
    return case


SPREAD = ("scores.PodTopologySpread", "scores.TopologyScoring", "total", "wouldChoose")


def on_purpose(case, found):
    """Those of the differences that come of spreading in another way."""
    pod = next(o for o in case["objects"] if _is_target(case, o))
    namespace = pod["metadata"].get("namespace", "default")
    may_be_spread = not pod["spec"].get("topologySpreadConstraints") and any(
        o["kind"] in ("Service", "ReplicaSet", "StatefulSet", "ReplicationController")
        and o["metadata"].get("namespace", "default") == namespace for o in case["objects"])
    is_spread = any(d.kind == "scores.TopologyScoring" for d in found)
    return [d for d in found if may_be_spread and is_spread and d.kind in SPREAD]
