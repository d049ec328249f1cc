"""Themes: each adds one kind of question to a scene. They compose; `mixed` takes several.

A new theme is a function of a scene, named here. Its cases must stay valid API objects.
"""

from themes import affinity, devices, images, interpod, nominations, odds, ports, preemption, resources, spread, taints, volumes

THEMES = {
    "resources": resources.requests,
    "resize": resources.resize,
    "levels": resources.levels,
    "taints": taints.taints,
    "affinity": affinity.affinity,
    "spread": spread.spread,
    "defaults": spread.defaults,
    "interpod": interpod.interpod,
    "ports": ports.ports,
    "images": images.images,
    "nominations": nominations.nominations,
    "preemption": preemption.preemption,
    "disks": volumes.disks,
    "claims": volumes.claims,
    "limits": volumes.limits,
    "waiting": volumes.waiting,
    "features": volumes.features,
    "dra": devices.dra,
    "extended": devices.extended,
    "selectors": devices.selectors,
    "gates": odds.gates,
    "noise": odds.noise,
}


def mixed(scene):
    """Several. Of those with devices one, since two would contradict each other about pools, and last: where devices cannot
    be judged nobody is evicted, since errors come in any order then."""
    names = scene.rng.sample(list(THEMES), scene.rng.randint(2, 5))
    about_devices = [name for name in names if name in ("dra", "extended", "selectors")]
    for name in [name for name in names if name not in about_devices] + about_devices[:1]:
        THEMES[name](scene)
    if "extended" in about_devices[:1]:
        scene.target["spec"]["priority"] = -5


ALL = {**THEMES, "mixed": mixed}
