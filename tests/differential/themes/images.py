"""Images that are there already. One image has one size everywhere: see docs/parity.md."""

from objects import MI

REPOSITORIES = ["nginx", "library/redis", "registry.example/app", "registry.example:5000/team/tool"]
DIGEST = "@sha256:" + "0123456789abcdef" * 4
SIZES = [1, 22 * MI, 23 * MI, 24 * MI, 100 * MI, 500 * MI, 1000 * MI, 1001 * MI, 3000 * MI, 7777777]


def _catalogue(rng):
    """Names of an image and its size."""
    out = []
    for repository in REPOSITORIES:
        for tag in (":latest", ":1.2"):
            names = [repository + tag]
            if rng.chance(0.4):
                names.append(repository + DIGEST[:-1] + "%x" % len(out))
            out.append((names, rng.choice(SIZES)))
    return out


def _reference(rng, catalogue):
    name = rng.choice(rng.choice(catalogue)[0])
    if name.endswith(":latest") and rng.chance(0.6):
        name = name[:-len(":latest")]  # no tag means latest
    return name if rng.chance(0.93) else "registry.example/unknown"


def images(scene):
    rng = scene.rng
    catalogue = _catalogue(rng)
    for n in scene.nodes:
        here = [{"names": names, "sizeBytes": size} for names, size in catalogue if rng.chance(0.4)]
        if rng.chance(0.1):
            here.append({"sizeBytes": 12345})  # an image nobody named any more
        if here:
            n["status"]["images"] = here
    spec = scene.target["spec"]
    for i in range(rng.choice([0, 0, 1, 2])):
        spec["containers"].append({"name": "more-%d" % i, "image": "nginx"})
    if rng.chance(0.3):
        spec["initContainers"] = spec.get("initContainers", []) + [{"name": "fetch", "image": "nginx"}]
    for c in spec["containers"] + spec.get("initContainers", []):
        c["image"] = _reference(rng, catalogue)
    if rng.chance(0.25):
        spec["volumes"] = spec.get("volumes", []) + [
            {"name": "model", "image": {"reference": _reference(rng, catalogue)}}]
