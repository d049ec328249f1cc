"""Themes: each adds one kind of question to a scene. They compose; `mixed` takes several.

A new theme is a function of a scene, named here. Its cases must stay valid API objects.
"""

from themes import affinity, devices, images, interpod, nominations, odds, ports, preemption, resources, spread, taints, volumes

THEMES = {
    "resources": resources.requests,
    "resize": resources.resize,
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
    for theme in scene.rng.sample(list(THEMES.values()), scene.rng.randint(2, 5)):
        theme(scene)


ALL = {**THEMES, "mixed": mixed}
