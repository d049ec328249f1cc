"""Plain pods under our own profile: kubenexus-scheduler must judge them as kube-scheduler does.

A pod is plain that nobody says anything special about. A Job's pod is batch work, which our profile packs and rather
evicts than a service; a pod of negative priority fills gaps, and goes first.
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
