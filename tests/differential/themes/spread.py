"""Pods that keep apart: constraints of their own, and the ones every pod has by default."""

from objects import HOSTNAME, ZONE, owned_by, service, workload

RACK = "example.com/rack"


def _selector(scene):
    rng = scene.rng
    r = rng.random()
    if r < 0.04:
        return None  # matches nothing
    if r < 0.1:
        return {}  # matches everything, and counts nothing
    own = scene.target["metadata"]["labels"]
    if r < 0.65:
        return {"matchLabels": {"app": own["app"] if rng.chance(0.85) else rng.choice("abc")}}
    op = rng.choice(["In", "NotIn", "Exists", "DoesNotExist"])
    key = rng.choice(["app", "tier", "version"])
    out = {"key": key, "operator": op}
    if op in ("In", "NotIn"):
        values = {"app": ["a", "b", "c"], "tier": ["web", "db"], "version": ["v1", "v2"]}[key]
        out["values"] = rng.sample(values, rng.randint(1, 2))
    selector = {"matchExpressions": [out]}
    if rng.chance(0.2):
        selector["matchLabels"] = {"app": own["app"]}
    return selector


def _keys_in(selector):
    return {*selector.get("matchLabels", {}),
            *(e["key"] for e in selector.get("matchExpressions", []))}


def _match_label_keys(scene, c):
    """Keys whose values the pod itself gives. The API server writes them into the selector too."""
    rng = scene.rng
    selector = c["labelSelector"]
    keys = [k for k in ("version", "tier", "missing") if k not in _keys_in(selector)]
    c["matchLabelKeys"] = rng.sample(keys, rng.randint(1, len(keys)))
    own = scene.target["metadata"]["labels"]
    if rng.chance(0.5):
        merged = [{"key": k, "operator": "In", "values": [own[k]]}
                  for k in c["matchLabelKeys"] if k in own]
        if merged:
            c["labelSelector"] = {**selector, "matchExpressions":
                                  selector.get("matchExpressions", []) + merged}


def _constraint(scene, key, hard):
    rng = scene.rng
    c = {"maxSkew": rng.choice([1, 1, 1, 2, 3, 5]), "topologyKey": key,
         "whenUnsatisfiable": "DoNotSchedule" if hard else "ScheduleAnyway"}
    selector = _selector(scene)
    if selector is not None:
        c["labelSelector"] = selector
        if rng.chance(0.2) and len(_keys_in(selector)) < 2:
            _match_label_keys(scene, c)
    if hard and rng.chance(0.3):
        c["minDomains"] = rng.choice([1, 2, 3, 4, 10])
    if rng.chance(0.3):
        c["nodeAffinityPolicy"] = rng.pick("Honor", "Ignore")
    if rng.chance(0.4):
        c["nodeTaintsPolicy"] = rng.pick("Honor", "Honor", "Ignore")
    return c


def _ground(scene):
    """Zones and racks, some labels missing, some host names shared; a selector and taints to honour."""
    rng = scene.rng
    for i, n in enumerate(scene.nodes):
        labels = n["metadata"]["labels"]
        labels[RACK] = "r%d" % (i % rng.choice([2, 3, 4]))
        if rng.chance(0.05):
            labels.pop(RACK, None)
        if rng.chance(0.06):
            labels.pop(ZONE, None)
        if rng.chance(0.04):
            labels.pop(HOSTNAME, None)
        elif rng.chance(0.04):
            labels[HOSTNAME] = "shared"
        if rng.chance(0.3):
            labels["disk"] = "ssd"
        if rng.chance(0.15) and "taints" not in n["spec"]:
            n["spec"]["taints"] = [{"key": "dedicated", "value": "a",
                                    "effect": rng.pick("NoSchedule", "PreferNoSchedule")}]
    spec = scene.target["spec"]
    if rng.chance(0.2) and scene.nodes:
        spec.setdefault("nodeSelector", {"disk": "ssd"})
    if rng.chance(0.2):
        spec.setdefault("tolerations", [{"key": "dedicated", "operator": "Exists"}])


def _crowd(scene):
    """More pods, of the target's own kind mostly, unevenly spread."""
    rng = scene.rng
    own = scene.target["metadata"]["labels"]
    for n in scene.nodes if len(scene.nodes) < 40 else scene.nodes[:20]:
        for _ in range(rng.choice([0, 0, 1, 1, 2, 4])):
            labels = dict(own) if rng.chance(0.7) else None
            p = scene.add_pod(n, labels, scene.namespace if rng.chance(0.85) else None)
            p["spec"]["containers"][0].pop("resources", None)


def spread(scene):
    rng = scene.rng
    _ground(scene)
    _crowd(scene)
    wanted = [(k, h) for k in (ZONE, RACK, HOSTNAME, ZONE) for h in (True, False)]
    if rng.chance(0.1):
        wanted.append(("no-such-label", rng.chance(0.5)))
    out = {}
    for key, hard in rng.sample(wanted, rng.choice([1, 1, 1, 2, 2, 3])):
        out[key, hard] = _constraint(scene, key, hard)
    scene.target["spec"]["topologySpreadConstraints"] = list(out.values())


def defaults(scene):
    """No constraint of its own: services and owners tell which pods belong together."""
    rng = scene.rng
    _ground(scene)
    _crowd(scene)
    own = scene.target["metadata"]["labels"]
    for i in range(rng.choice([0, 1, 1, 2])):
        selector = rng.choice([{"app": own["app"]}, dict(own), {"app": rng.choice("abc")}, None])
        where = scene.namespace if rng.chance(0.85) else rng.choice(scene.NAMESPACES)
        scene.others.append(service("svc-%d" % i, where, selector))
    for kind in ("ReplicaSet", "StatefulSet", "ReplicationController"):
        if rng.chance(0.35):
            _owner(scene, kind, own)
            break
    if rng.chance(0.1):
        owned_by(scene.target, "Job", "batch", "batch/v1",
                 not scene.target["metadata"].get("ownerReferences"))


def _owner(scene, kind, own):
    rng = scene.rng
    labels = {"app": own["app"]} if rng.chance(0.5) else dict(own)
    selector = None
    if kind != "ReplicationController" and rng.chance(0.3):
        selector = {"matchExpressions": [{"key": "app", "operator": "In", "values": [own["app"], "z"]}]}
    owned_by(scene.target, kind, "set", "v1" if kind == "ReplicationController" else "apps/v1",
             rng.chance(0.9))
    if rng.chance(0.9):  # else: owned by what is gone
        scene.others.append(workload(kind, "set", scene.namespace, labels, selector))
    if rng.chance(0.3):
        scene.others.append(workload(kind, "other-set", scene.namespace, {"app": "b"}))
