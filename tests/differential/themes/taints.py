"""Nodes that repel, pods that bear it, and cordons."""

KEYS = ["dedicated", "example.com/gpu", "spot", "node.kubernetes.io/not-ready",
        "node.kubernetes.io/unreachable"]
VALUES = ["", "a", "b", "true"]
EFFECTS = ["NoSchedule", "NoExecute", "PreferNoSchedule", "PreferNoSchedule"]
CORDON = "node.kubernetes.io/unschedulable"


def _taints(rng, hard):
    out = {}
    for _ in range(rng.choice([0, 0, 1, 1, 2, 3, 4])):
        key, effect = rng.choice(KEYS), rng.choice(EFFECTS if hard else EFFECTS[2:])
        taint = {"key": key, "effect": effect}
        value = rng.choice(VALUES)
        if value:
            taint["value"] = value
        if effect == "NoExecute" and rng.chance(0.3):
            taint["timeAdded"] = "2026-03-01T08:00:00Z"
        out[key, effect] = taint
    return list(out.values())


def _toleration(rng):
    effect = rng.choice(["", "", "NoSchedule", "NoExecute", "PreferNoSchedule"])
    out = {"effect": effect} if effect else {}
    if rng.chance(0.06):
        return {**out, "operator": "Exists"}  # an empty key with Exists: everything
    out["key"] = rng.choice(KEYS + [CORDON])
    if rng.chance(0.45):
        out["operator"] = "Exists"
    else:
        if rng.chance(0.5):
            out["operator"] = "Equal"
        value = rng.choice(VALUES)
        if value:
            out["value"] = value
    if effect == "NoExecute" and rng.chance(0.5):
        out["tolerationSeconds"] = rng.choice([0, 300])
    return out


def taints(scene):
    rng = scene.rng
    hard = rng.chance(0.75)
    for n in scene.nodes:
        found = _taints(rng, hard)
        if hard and rng.chance(0.12):
            n["spec"]["unschedulable"] = True
            if rng.chance(0.7):  # the node controller follows a moment later
                found.append({"key": CORDON, "effect": "NoSchedule"})
        if found:
            n["spec"]["taints"] = found
    if rng.chance(0.8):
        scene.target["spec"]["tolerations"] = [_toleration(rng) for _ in range(rng.randint(1, 6))]
