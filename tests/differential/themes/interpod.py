"""Pods that seek or avoid each other, from either side, within and across namespaces."""

from objects import HOSTNAME, ZONE, obj, terminate

RACK = "example.com/rack"
KEYS = [ZONE, ZONE, HOSTNAME, HOSTNAME, RACK, "kubernetes.io/os", "no-such-label"]


def _selector(rng, own):
    r = rng.random()
    if r < 0.03:
        return None  # means nobody
    if r < 0.08:
        return {}  # means everybody
    if r < 0.7:
        return {"matchLabels": {"app": own["app"] if rng.chance(0.6) else rng.choice("abc")}}
    op = rng.choice(["In", "NotIn", "Exists", "DoesNotExist"])
    key = rng.choice(["app", "tier", "version"])
    out = {"key": key, "operator": op}
    if op in ("In", "NotIn"):
        values = {"app": ["a", "b", "c"], "tier": ["web", "db"], "version": ["v1", "v2"]}[key]
        out["values"] = rng.sample(values, rng.randint(1, 2))
    return {"matchExpressions": [out]}


def _namespace_selector(rng):
    r = rng.random()
    if r < 0.25:
        return {}
    if r < 0.6:
        return {"matchLabels": {"team": rng.pick("a", "b")}}
    return {"matchExpressions": [rng.pick(
        {"key": "team", "operator": "Exists"}, {"key": "team", "operator": "DoesNotExist"},
        {"key": "team", "operator": "NotIn", "values": ["a"]})]}


def _label_keys(rng, term, own):
    """Keys whose values the pod itself gives. The API server writes them into the selector, which alone counts."""
    field, op = rng.pick(("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn"))
    term[field] = [rng.pick("tier", "version")]
    merged = [{"key": key, "operator": op, "values": [own[key]]} for key in term[field] if key in own]
    if merged and rng.chance(0.7):
        term["labelSelector"] = {**term["labelSelector"], "matchExpressions": merged}


def _term(scene, own, required):
    rng = scene.rng
    term = {"topologyKey": rng.choice(KEYS[:5] if rng.chance(0.9) else KEYS)}
    selector = _selector(rng, own)
    if selector is not None:
        term["labelSelector"] = selector
    if rng.chance(0.2):
        term["namespaces"] = rng.sample(scene.NAMESPACES, rng.randint(1, 2))
    if rng.chance(0.25):
        term["namespaceSelector"] = _namespace_selector(rng)
    if "matchLabels" in (selector or {}) and rng.chance(0.2):
        _label_keys(rng, term, own)
    return term if required else {"weight": rng.choice([1, 2, 10, 50, 100]),
                                  "podAffinityTerm": term}


def _affinity(scene, own, required, preferred):
    """Terms of both signs: each kind with some chance."""
    rng, out = scene.rng, {}
    for field in ("podAffinity", "podAntiAffinity"):
        kinds = {}
        if rng.chance(required):
            kinds["requiredDuringSchedulingIgnoredDuringExecution"] = [
                _term(scene, own, True) for _ in range(rng.choice([1, 1, 1, 2]))]
        if rng.chance(preferred):
            kinds["preferredDuringSchedulingIgnoredDuringExecution"] = [
                _term(scene, own, False) for _ in range(rng.choice([1, 1, 2, 3]))]
        if kinds or rng.chance(0.05):
            out[field] = kinds
    return out


def _ground(scene):
    rng = scene.rng
    for i, n in enumerate(scene.nodes):
        labels = n["metadata"]["labels"]
        labels[RACK] = "r%d" % (i % rng.choice([2, 3, 4]))
        for key, chance in ((RACK, 0.06), (ZONE, 0.08), (HOSTNAME, 0.05)):
            if rng.chance(chance):
                labels.pop(key, None)
        if HOSTNAME in labels and rng.chance(0.05):
            labels[HOSTNAME] = "shared"
        if rng.chance(0.02):
            labels.clear()


def _namespaces(scene):
    """Some exist and have labels, some exist without, some we were never told of."""
    rng = scene.rng
    known = {o["metadata"]["name"] for o in scene.others if o["kind"] == "Namespace"}
    for name in scene.NAMESPACES:
        if name not in known and rng.chance(0.75):
            labels = {"team": name[-1]} if rng.chance(0.7) else None
            scene.others.append(obj("Namespace", name, labels=labels))


def interpod(scene):
    rng = scene.rng
    _ground(scene)
    _namespaces(scene)
    own = scene.target["metadata"]["labels"]
    for n in scene.nodes if len(scene.nodes) < 40 else scene.nodes[:20]:
        for _ in range(rng.choice([0, 0, 1, 1, 2])):
            labels = dict(own) if rng.chance(0.5) else None
            p = scene.add_pod(n, labels, scene.namespace if rng.chance(0.7) else None)
            p["spec"]["containers"][0].pop("resources", None)
            if rng.chance(0.4):
                p["spec"]["affinity"] = _affinity(scene, own, 0.3, 0.3)
            if rng.chance(0.08):
                terminate(p)
    affinity = scene.target["spec"].setdefault("affinity", {})
    if rng.chance(0.8):
        affinity.update(_affinity(scene, own, 0.4, 0.4))
    if not affinity:
        del scene.target["spec"]["affinity"]
