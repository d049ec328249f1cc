"""Plain pods under our own profile: kubenexus-scheduler must judge them as kube-scheduler does.

A pod is plain that nobody says anything special about. A Job's pod is batch work, which our profile packs.
"""

import copy


def _is_target(case, o):
    namespace, name = case["pod"].split("/")
    m = o.get("metadata", {})
    return o["kind"] == "Pod" and m.get("name") == name and m.get("namespace", "default") == namespace


def _is_plain(pod):
    owners = pod["metadata"].get("ownerReferences", [])
    return not any(o.get("controller") and o["kind"] in ("Job", "CronJob") for o in owners)


def ours(case):
    """The case with its pod under our profile; None if the pod is not plain."""
    case = copy.deepcopy(case)
    for o in case["objects"]:
        if _is_target(case, o):
            if not _is_plain(o):
                return None
            o.setdefault("spec", {})["schedulerName"] = "kubenexus-scheduler"
    return case
