"""Room promised to pods that wait: nominated nodes of the target and of others."""

from objects import GI, amounts, terminate


def nominations(scene):
    rng = scene.rng
    names = scene.node_names() + ["gone"]
    for n in scene.nodes:
        room = n["status"].setdefault("allocatable", {})
        room.update(amounts(rng, cpu=rng.choice([500, 1000, 1000, 2000]),
                            memory=rng.choice([1, 2, 4]) * GI))
        if rng.chance(0.2):
            room["pods"] = str(rng.randint(1, 4))
    for _ in range(rng.randint(0, min(12, 2 * len(scene.nodes) + 1))):
        p = scene.add_pod(None)
        p["status"]["nominatedNodeName"] = rng.choice(names)
        p["spec"]["priority"] = scene.target["spec"]["priority"] + rng.choice([-1, 0, 0, 1, 100])
        if rng.chance(0.5):
            p["metadata"]["labels"] = dict(scene.target["metadata"]["labels"])
        if rng.chance(0.3):
            p["spec"]["containers"][0]["ports"] = [{"containerPort": 8080, "hostPort": 8080}]
        if rng.chance(0.1):
            p["spec"]["schedulerName"] = "another-scheduler"
        if rng.chance(0.05):
            terminate(p)
        if rng.chance(0.1):
            p["spec"]["tolerations"] = [{"operator": "Exists"}]
    target = scene.target
    if rng.chance(0.5):
        target["status"]["nominatedNodeName"] = rng.choice(names)
    if rng.chance(0.3) and "ports" not in target["spec"]["containers"][0]:
        target["spec"]["containers"][0]["ports"] = [{"containerPort": 8080, "hostPort": 8080}]
    if rng.chance(0.3):
        target["spec"].setdefault("topologySpreadConstraints", [{
            "maxSkew": rng.choice([1, 2]), "topologyKey": "topology.kubernetes.io/zone",
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": target["metadata"]["labels"]["app"]}}}])
