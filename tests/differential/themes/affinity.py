"""Where a pod says it must, or would like to, run."""

NUMBERS = ["1", "2", "3", "8", "10", "007"]
ODD_NUMBERS = ["abc", "", "1.5", "1e3", "0x10", "9223372036854775807", "9223372036854775808"]
ODD_VALUES = ["-5", "+5", "-a", "a b", "a/b", "x" * 64]  # of no label: the API server minds in required terms alone
LABELS = {
    "disk": ["ssd", "hdd", "nvme"],
    "example.com/gen": NUMBERS,
    "pool": ["a", "b", ""],
}


def _requirement(rng, odd):
    op = rng.choice(["In", "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"])
    key = "example.com/gen" if op in ("Gt", "Lt") else rng.choice([*LABELS, "kubernetes.io/os"])
    if rng.chance(0.05):
        key = "no-such-label"
    out = {"key": key, "operator": op}
    if op in ("In", "NotIn"):
        values = LABELS.get(key, ["linux", "windows"])
        out["values"] = rng.sample(values, rng.randint(1, min(3, len(values))))
    elif op in ("Gt", "Lt"):
        out["values"] = [rng.choice(NUMBERS + odd)]
    if odd and out.get("values") and "-5" in odd and rng.chance(0.3):
        out["values"][-1] = rng.choice(ODD_VALUES)
    return out


def _field(scene):
    rng = scene.rng
    names = scene.node_names() + ["gone"]
    return {"key": "metadata.name", "operator": rng.choice(["In", "In", "In", "NotIn"]),
            "values": [rng.choice(names)]}


def _term(scene, odd=(), fields=0.0):
    rng = scene.rng
    out = {}
    if rng.chance(0.04):
        return out  # an empty term matches nothing
    if rng.chance(0.9) or not fields:
        out["matchExpressions"] = [_requirement(rng, list(odd))
                                   for _ in range(rng.choice([1, 1, 1, 2]))]
    if rng.chance(fields) or not out:
        out["matchFields"] = [_field(scene) for _ in range(rng.choice([1, 1, 1, 2]))]
    return out


def _required(scene):
    rng = scene.rng
    if rng.chance(0.2):  # pinned to nodes by name, as a DaemonSet pins its pods
        terms = [{"matchFields": [_field(scene) for _ in range(rng.choice([1, 1, 2]))]}
                 for _ in range(rng.choice([1, 1, 2, 3]))]
        if rng.chance(0.3):
            rng.choice(terms)["matchExpressions"] = [_requirement(rng, [])]
    else:
        terms = [_term(scene, ODD_NUMBERS, 0.12) for _ in range(rng.choice([1, 1, 2, 3]))]
    return {"nodeSelectorTerms": terms}


def _preferred(scene):
    rng = scene.rng
    odd = rng.pick(ODD_NUMBERS, ODD_VALUES) if rng.chance(0.25) else ()  # what is odd here is an error, not a miss
    return [{"weight": rng.choice([1, 2, 10, 50, 100]), "preference": _term(scene, odd, 0.1)}
            for _ in range(rng.choice([1, 2, 2, 3, 5]))]


def affinity(scene):
    rng = scene.rng
    for n in scene.nodes:
        for key, values in LABELS.items():
            if rng.chance(0.75):
                odd = key.endswith("gen") and rng.chance(0.15)
                n["metadata"]["labels"][key] = rng.choice(ODD_NUMBERS if odd else values)
    spec = scene.target["spec"]
    if rng.chance(0.25):
        spec["nodeSelector"] = {k: rng.choice(LABELS[k]) for k in rng.some(LABELS, 2)}
    wish = {}
    if rng.chance(0.6):
        wish["requiredDuringSchedulingIgnoredDuringExecution"] = _required(scene)
    if rng.chance(0.6):
        wish["preferredDuringSchedulingIgnoredDuringExecution"] = _preferred(scene)
    if wish:
        spec["affinity"] = {"nodeAffinity": wish}
