"""Full nodes and pods of all priorities: who would have to go, and where that hurts least."""

from objects import GI, HOSTNAME, ZONE, amounts, container, obj, terminate

PRIORITIES = [-10, 0, 0, 5, 10, 10, 50, 100]
EXTREME = [-2147483648, -1, 999999999, 1000000000]


def _budget(scene, i):
    rng = scene.rng
    selector = rng.choice([{"matchLabels": {"app": rng.choice("abc")}}, {}, None,
                           {"matchExpressions": [{"key": "tier", "operator": "Exists"}]},
                           {"matchLabels": {"app": rng.choice("abc")}}])
    spec = {"minAvailable": 1}
    if selector is not None:
        spec["selector"] = selector
    status = {"disruptionsAllowed": rng.choice([0, 0, 1, 2]), "currentHealthy": 3, "desiredHealthy": 1,
              "expectedPods": 3}
    if rng.chance(0.2):
        named = rng.choice(scene.pods)["metadata"]["name"] if scene.pods else "gone"
        status["disruptedPods"] = {named: "2026-03-10T08:00:00Z"}
    return obj("PodDisruptionBudget", "budget-%d" % i, rng.choice(scene.NAMESPACES), api="policy/v1",
               spec=spec, status=status)


def _crowd(scene):
    """Pods that fill the nodes; every one has a start time of its own, so that no two are equal."""
    rng, started = scene.rng, 0
    priorities = PRIORITIES + (EXTREME if rng.chance(0.1) else [])
    for n in scene.nodes if len(scene.nodes) < 40 else scene.nodes[:20]:
        listener = rng.randint(0, 9)  # no two pods of a node can have the same port
        for i in range(rng.choice([1, 2, 3, 4, 6])):
            p = scene.add_pod(n, None, None)
            p["spec"]["priority"] = rng.choice(priorities)
            p["spec"]["containers"] = [container("main", requests=amounts(
                rng, cpu=rng.choice([250, 500, 1000]), memory=rng.choice([1, 1, 2]) * GI))]
            if i == listener:
                p["spec"]["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 8080}]
            if rng.chance(0.06):
                terminate(p)
                if rng.chance(0.5):
                    p["status"]["conditions"] = [{
                        "type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}]
    for p in scene.pods:
        if "startTime" in p.get("status", {}):
            started += 1
            p["status"]["startTime"] = "2026-03-%02dT%02d:%02d:00Z" % (
                1 + started // 1440, started // 60 % 24, started % 60)
    rng.shuffle(scene.pods)


def preemption(scene):
    rng = scene.rng
    target = scene.target
    _crowd(scene)
    for n in scene.nodes:
        n["status"]["allocatable"] = n["status"]["capacity"] = {
            **n["status"].get("allocatable", {}),
            **amounts(rng, cpu=rng.choice([1000, 2000, 2000, 4000]), memory=rng.choice([2, 4, 4, 8]) * GI)}
        if rng.chance(0.15):
            n["status"]["allocatable"]["pods"] = str(rng.randint(1, 5))
    target["spec"]["priority"] = rng.choice([0, 5, 10, 50, 100, 1000, 1000] + [1000000000, 2000001000] * rng.chance(0.1))
    target["spec"]["containers"][0]["resources"] = {"requests": amounts(
        rng, cpu=rng.choice([500, 1000, 1500, 2000]), memory=rng.choice([1, 2, 3]) * GI)}
    if rng.chance(0.1):
        target["spec"]["preemptionPolicy"] = rng.pick("Never", "PreemptLowerPriority")
    if rng.chance(0.15):
        target["spec"]["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 8080}]
    if rng.chance(0.15) and scene.nodes:
        target["status"]["nominatedNodeName"] = rng.choice(scene.node_names())
    if rng.chance(0.15):
        target["spec"]["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": rng.pick(HOSTNAME, ZONE),
             "labelSelector": {"matchLabels": {"app": rng.choice("abc")}}}]}}
    for i in range(rng.choice([0, 0, 1, 2, 3])):
        scene.others.append(_budget(scene, i))
    if rng.chance(0.15):  # victims that are leaving already count in spread constraints, too
        target["spec"].setdefault("topologySpreadConstraints", [{
            "maxSkew": rng.choice([1, 2]), "topologyKey": rng.pick(HOSTNAME, ZONE), "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": target["metadata"]["labels"]["app"]}}}])
