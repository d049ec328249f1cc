"""What pods ask for and what nodes have: every way to spell, sum and default a request."""

from objects import GI, MI, amounts, container, cpu, size

GPU = "example.com/gpu"
FPGA = "example.com/fpga"
HUGE = "hugepages-2Mi"


def _nudge(scene, value):
    """Mostly the round number, sometimes one less or one more: the edge of fitting."""
    return value + scene.rng.choice([0] * 8 + [-1, 1])


def _stock(scene, devices, storage):
    """Small nodes, some of them with storage, huge pages and devices, some with few pod slots."""
    rng = scene.rng
    for n in scene.nodes:
        room = amounts(rng, cpu=_nudge(scene, rng.choice([1000, 1500, 2000, 3000, 4000])),
                       memory=_nudge(scene, rng.choice([1, 1, 2, 3, 4]) * GI))
        room["pods"] = str(rng.choice([110] * 7 + [0, 1, 2, 3, 4]))
        if storage and rng.chance(0.9):
            room.update(amounts(rng, storage=_nudge(scene, rng.choice([1, 2, 4]) * GI)))
        if devices and rng.chance(0.8):
            room[GPU] = str(rng.choice([0, 1, 2, 2, 4]))
        if devices and rng.chance(0.6):
            room[FPGA] = rng.choice([1, 2])
        if devices and rng.chance(0.7):
            room[HUGE] = size(rng, rng.choice([0, 64, 128, 256]) * MI)
        if rng.chance(0.1):
            room["attachable-volumes-example"] = "25"
        if rng.chance(0.03):
            room.pop(rng.pick("cpu", "memory", "pods"))
        n["status"] = {**n["status"], "capacity": room, "allocatable": dict(room)}
        if rng.chance(0.04):
            del n["status"]["allocatable"]  # then all of its capacity is
        elif rng.chance(0.1):  # what the node keeps for itself is not to be given away
            n["status"]["capacity"].update(amounts(rng, cpu=16000, memory=64 * GI))


def _requests(scene, storage):
    rng = scene.rng
    out = {}
    if rng.chance(0.8):
        out.update(amounts(rng, cpu=rng.choice([0, 1, 100, 100, 250, 250, 500, 1000, 1500])))
    if rng.chance(0.75):
        out.update(amounts(rng, memory=rng.choice([0, 1, 64 * MI, 64 * MI, 256 * MI, 512 * MI, GI])))
    if rng.chance(0.4 if storage else 0.02):
        out.update(amounts(rng, storage=rng.choice([0, 1, GI // 2, GI, GI, 2 * GI])))
    if rng.chance(0.1):  # finer than a milli: summed exactly, rounded up once per pod
        out["cpu"] = rng.pick("1500u", "100u", "1n", "0.0001", "1.0005", "999999999n", "2500001n")
    if rng.chance(0.05):
        out["memory"] = rng.pick("100m", "1.5", "1500m", "0.1Ki", "1e-3", "1.1Mi")
    return out


def _devices(scene):
    """Devices and huge pages are asked for in whole numbers, and limits equal requests."""
    rng = scene.rng
    out = {}
    if rng.chance(0.6):
        out[GPU] = rng.choice(["1", 1, "1", "1e0", "2", 2, "4", "0"] + ["1k"] * rng.chance(0.2))
    if rng.chance(0.2):
        out[FPGA] = rng.choice(["1", 2])
    if rng.chance(0.3):
        out[HUGE] = size(rng, rng.choice([2, 64, 128]) * MI)
    if rng.chance(0.05):
        out["example.com/nowhere"] = rng.choice(["1", "0"])
    return out


def _container(scene, name, devices, storage):
    rng = scene.rng
    if rng.chance(0.08):
        return container(name)
    requests, limits = _requests(scene, storage), None
    if rng.chance(0.12) and requests:  # requests come from limits
        requests, limits = None, requests
    if devices:
        exact = _devices(scene)
        if HUGE in exact and not {"cpu", "memory"} & {*(requests or limits or {})}:
            requests = {**(requests or {}), "cpu": "100m"}  # huge pages do not come alone
        limits = {**(limits or {}), **exact}
        if requests is not None:
            requests.update(exact)
    return container(name, requests=requests, limits=limits or None)


def _fill(scene, p, devices, storage):
    """Give a pod containers of all sorts."""
    rng = scene.rng
    spec = p["spec"]
    spec.pop("resources", None)
    spec["containers"] = [_container(scene, "c%d" % i, devices, storage)
                          for i in range(rng.choice([1, 1, 1, 2, 3]))]
    if rng.chance(0.35):
        spec["initContainers"] = []
        for i in range(rng.choice([1, 1, 2, 3])):
            c = _container(scene, "i%d" % i, devices, storage)
            if rng.chance(0.5):
                c["restartPolicy"] = "Always"
            spec["initContainers"].append(c)
    if rng.chance(0.15):
        spec["overhead"] = amounts(rng, cpu=rng.choice([0, 10, 250]), memory=rng.choice([0, 64 * MI]))
    if rng.chance(0.2) and not devices:
        _pod_level(scene, spec)


def _busy(scene):
    """Pods that hold devices and storage which the target may want."""
    rng = scene.rng
    for n in scene.nodes:
        room = n["status"]["capacity"]
        held = {name: room[name] for name in (GPU, FPGA, HUGE, "ephemeral-storage")
                if name in room and rng.chance(0.5)}
        if held and rng.chance(0.6):
            p = scene.add_pod(n)
            p["spec"]["containers"] = [container("main", requests={"cpu": "10m", **held}, limits=held)]


def _pod_level(scene, spec):
    """Requests of the pod as a whole: they cover what its containers ask for together."""
    rng = scene.rng
    spec["resources"] = {"requests": {}}
    whole = spec["resources"]["requests"]
    count = len(spec["containers"]) + len(spec.get("initContainers", []))
    if rng.chance(0.8):
        whole["cpu"] = cpu(rng, 2000 * count)
    if rng.chance(0.8) or not whole:
        whole["memory"] = size(rng, 2 * GI * count)
    for c in spec["containers"] + spec.get("initContainers", []):
        if rng.chance(0.5):
            c.pop("resources", None)
    if rng.chance(0.2):
        spec["resources"]["limits"] = dict(whole)
        if rng.chance(0.3):
            del spec["resources"]["requests"]
    if rng.chance(0.3):  # nobody asks for anything but the pod
        for c in spec["containers"] + spec.get("initContainers", []):
            c.pop("resources", None)
        whole.update(amounts(rng, cpu=rng.choice([100, 500, 1000, 2000])))


def _huge(scene):
    """Numbers at the end of 64 bits, and over it."""
    rng = scene.rng
    many = ["9223372036854775807", "9223372036854775806", "8E", "7Ei", "16Ei", "1e18", "1e19", "4Ei"]
    for n in scene.nodes:
        room = n["status"].setdefault("allocatable", {})
        if rng.chance(0.5):
            room["memory"] = rng.choice(many)
        if rng.chance(0.3):
            room["cpu"] = rng.choice(many + ["9223372036854775"])
    for p in scene.pods + [scene.target]:
        if rng.chance(0.3) and "resources" not in p["spec"]:
            p["spec"]["containers"][0]["resources"] = {
                "requests": {rng.pick("memory", "cpu"): rng.choice(many)}}


def requests(scene):
    rng = scene.rng
    scene.plain = False
    devices, storage = rng.chance(0.4), rng.chance(0.4)
    _stock(scene, devices or rng.chance(0.1), storage or rng.chance(0.1))
    for p in scene.pods:
        if rng.chance(0.5):
            _fill(scene, p, devices and rng.chance(0.8), storage)
    _busy(scene)
    _fill(scene, scene.target, devices, storage)
    if rng.chance(0.05) and "resources" not in scene.target["spec"]:  # too big for every node, whoever leaves
        scene.target["spec"]["containers"][0]["resources"] = {
            "requests": {rng.pick("cpu", "memory", "ephemeral-storage"): "1T"}}
    if rng.chance(0.04):
        _huge(scene)


def _other_amounts(rng):
    """What a kubelet tells beside cpu and memory."""
    all_of_it = {GPU: rng.choice(["0", "1", "2", "1000m"]), HUGE: size(rng, rng.choice([0, 64, 128]) * MI),
                 "hugepages-1Gi": size(rng, rng.choice([1, 2]) * GI), "vendor.example/nic": "1",
                 **amounts(rng, storage=rng.choice([0, GI // 2, GI]))}
    return {name: all_of_it[name] for name in rng.some(all_of_it, 3)}


def _status_of(scene, p, honest):
    """What the kubelet says it gave: more, less or the same as the spec now asks for."""
    rng = scene.rng
    for kind in ("containers", "initContainers"):
        rows = []
        for c in p["spec"].get(kind, []):
            row = {"name": c["name"], "image": c["image"], "imageID": "", "ready": True,
                   "restartCount": 0}
            if rng.chance(0.8):
                row["allocatedResources"] = amounts(
                    rng, cpu=rng.choice([100, 500, 1000, 2000]), memory=rng.choice([64 * MI, GI]))
            if rng.chance(0.7):
                row["resources"] = {"requests": amounts(
                    rng, cpu=rng.choice([100, 500, 1000, 1500]), memory=rng.choice([64 * MI, GI]))}
            for given in (row.get("allocatedResources"), row.get("resources", {}).get("requests")):
                if given and rng.chance(0.15):
                    given.update(_other_amounts(rng))
            if honest or rng.chance(0.9):
                rows.append(row)
        if rows:
            p["status"]["containerStatuses" if kind == "containers" else
                        "initContainerStatuses"] = rows


def _resized(scene, p):
    rng = scene.rng
    _status_of(scene, p, rng.chance(0.5))
    if rng.chance(0.5):
        p["status"].setdefault("conditions", []).append({
            "type": "PodResizePending", "status": "True",
            "reason": rng.pick("Infeasible", "Infeasible", "Deferred")})
    elif rng.chance(0.3):
        p["status"].setdefault("conditions", []).append(
            {"type": "PodResizeInProgress", "status": "True"})
    if rng.chance(0.4):
        if not scene.plain or rng.chance(0.5):  # a pod asks for no less than its containers
            for c in p["spec"]["containers"] + p["spec"].get("initContainers", []):
                c.pop("resources", None)
        p["spec"]["resources"] = {"requests": amounts(rng, cpu=rng.choice([2000, 3000]),
                                                      memory=rng.choice([2 * GI, 3 * GI]))}
    if rng.chance(0.4):
        p["status"]["allocatedResources"] = amounts(rng, cpu=rng.choice([500, 1000, 2000]),
                                                    memory=rng.choice([GI // 2, GI]))
    if rng.chance(0.4):
        p["status"]["resources"] = {"requests": amounts(rng, cpu=rng.choice([500, 1000, 2000]))}


def resize(scene):
    """Pods whose requests were changed while they ran: the largest of what is true counts."""
    rng = scene.rng
    for n in scene.nodes:
        room = n["status"].setdefault("allocatable", {})
        room.update(amounts(rng, cpu=rng.choice([1500, 2000, 3000, 4000]),
                            memory=rng.choice([2, 3, 4, 6]) * GI // 2))
        if rng.chance(0.5):
            room.update(_other_amounts(rng))
    own = scene.target["spec"]["containers"][0].setdefault("resources", {})
    if rng.chance(0.3):
        exact = {name: amount for name, amount in _other_amounts(rng).items() if str(amount)[0] not in "0."}
        own["limits"] = {**own.get("limits", {}), **exact}
        own["requests"] = {"cpu": "100m", **own.get("requests", {}), **exact}
    for p in scene.pods:
        if rng.chance(0.7) and "nodeName" in p["spec"]:
            _resized(scene, p)
    if rng.chance(0.25):
        _resized(scene, scene.target)


def _whole(scene, p):
    """It asks as a whole, in text that Go keeps as 64 bits or as a decimal without limit, and has overhead."""
    rng, spec = scene.rng, p["spec"]
    spec["containers"] = [container("main", requests=amounts(rng, cpu=rng.choice([100, 250])) if rng.chance(0.5) else None)]
    whole = {"memory": rng.pick("512Mi", "0.5Gi", ".5Gi", "1.25Gi", "1Gi", "1.0Gi", "0.75Gi", "1500.5Mi", "1073741824.0")}
    if rng.chance(0.6):
        whole["cpu"] = rng.pick("500m", "1", "0.5", "1.000000000000000000", "500000000000000000000e-21")
    if rng.chance(0.1):
        whole = {"cpu": "1", HUGE: rng.pick("64Mi", "0.0625Gi")}
    spec["resources"] = {"requests": whole, "limits": {name: whole[name] for name in whole if name == HUGE}}
    if rng.chance(0.8):
        spec["overhead"] = amounts(rng, cpu=rng.choice([0, 100, 250]), memory=rng.choice([0, 16, 64, 250]) * MI)
    if rng.chance(0.1):
        p["status"]["resources"] = {"requests": amounts(rng, cpu=500, memory=GI)}


def levels(scene):
    """Pods that ask as a whole, on nodes where the overhead decides."""
    rng = scene.rng
    scene.plain = False
    for n in scene.nodes:
        room = amounts(rng, cpu=rng.choice([1000, 2000, 4000]), memory=rng.choice([2, 4, 6, 8]) * GI // 2 +
                       rng.choice([0, 0, 1, 2, 3, 4, 5, 6]) * rng.choice([16, 64, 250]) * MI)
        room = {**n["status"].get("allocatable", n["status"]["capacity"]), **room, HUGE: "256Mi"}
        n["status"].update(capacity=room, allocatable=dict(room))
    for _ in range(rng.choice([0, 0, 1, 3])):
        if scene.nodes:
            scene.add_pod(None)["status"]["nominatedNodeName"] = rng.choice(scene.node_names())
    for p in scene.pods:
        if rng.chance(0.5):
            _whole(scene, p)
    _whole(scene, scene.target)
