"""Host ports: who listens where."""

ADDRESSES = ["", "", "", "0.0.0.0", "127.0.0.1", "10.0.0.1", "::", "::1"]
PROTOCOLS = ["", "TCP", "TCP", "UDP", "SCTP"]


def _ports(rng, count, host_network):
    out = {}
    for _ in range(count):
        host, address, protocol = rng.choice([80, 8080, 9100]), rng.choice(ADDRESSES), rng.choice(PROTOCOLS)
        port = {"containerPort": host if host_network else rng.choice([80, host]), "hostPort": host}
        if address:
            port["hostIP"] = address
        if protocol:
            port["protocol"] = protocol
        if rng.chance(0.15):
            del port["hostPort"]  # on the host's network it is the container's port all the same
        out[host, address, protocol or "TCP"] = port
    return list(out.values())


def _listen(rng, p, most):
    spec = p["spec"]
    if rng.chance(0.1):
        spec["hostNetwork"] = True
    where = spec["containers"][0]
    if rng.chance(0.25):  # a sidecar's ports count, those of a plain init container do not
        where = {"name": "early", "image": "registry.example/early:1"}
        if rng.chance(0.6):
            where["restartPolicy"] = "Always"
        spec["initContainers"] = spec.get("initContainers", []) + [where]
    where["ports"] = _ports(rng, rng.randint(1, most), "hostNetwork" in spec)


def ports(scene):
    rng = scene.rng
    for p in scene.pods:
        if rng.chance(0.7):
            _listen(rng, p, 3)
    if rng.chance(0.95):
        _listen(rng, scene.target, 2)
    if rng.chance(0.25):  # one agent on (nearly) every node
        for n in scene.nodes:
            if rng.chance(0.97):
                p = scene.add_pod(n)
                p["spec"]["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 80}]
