"""Devices: resource claims of every kind, and pools that have just enough, or not quite.

What kube-scheduler would leave to chance is left out: at most one claim of the pod is unavailable for good,
two classes never stand for one extended resource with the same age, and no claim waits for a binding timeout.
"""

from objects import ZONE, obj

API = "resource.k8s.io/v1"
GPU, NIC = "gpu.example.com", "nic.example.com"
ROOT = "resource.kubernetes.io/pcieRoot"
DAY = "2026-0%d-01T00:00:00Z"
MODELS = ["A100 SXM", "A100 PCIe", "H100", "L4"]


def cel(text):
    return {"cel": {"expression": text}}


# ---- what there is


def _device(rng, driver, number, shared):
    """A device: model, index, a root that several have in common, memory."""
    attributes = {"model": {"string": rng.choice(MODELS)}, "index": {"int": number},
                  "ecc": {"bool": rng.chance(0.7)},
                  "driverVersion": {"version": rng.pick("580.95.5", "570.0.0", "580.95.5-rc.1", "1.2.3+b")}}
    if rng.chance(0.85):
        attributes[ROOT] = {"string": "pci%d" % rng.randint(0, 1)}
    if rng.chance(0.2):
        attributes[driver + "/extra"] = rng.pick({"int": 1}, {"string": "1"}, {"bool": True})
    if rng.chance(0.1):
        del attributes[rng.pick("index", "ecc", "driverVersion")]
    out = {"name": "d%d" % number, "attributes": attributes,
           "capacity": {"memory": {"value": rng.pick("40Gi", "80Gi", "81920Mi", "80G")}}}
    if rng.chance(0.15):
        out["taints"] = [{"key": "example.com/sick", "value": rng.pick("yes", "no"), "timeAdded": DAY % 1,
                          "effect": rng.pick("NoSchedule", "NoExecute", "None")}]
    if shared:
        _share(rng, out)
    return out


def _share(rng, device):
    """Several may use it: each takes a part of its memory."""
    device["allowMultipleAllocations"] = True
    value = rng.pick("8Gi", "10Gi", "16Gi")
    policy = rng.pick(
        None,
        {"default": "2Gi"},
        {"default": "1Gi", "validValues": ["1Gi", "2Gi", "4Gi", "8Gi"]},
        {"default": "1Gi", "validRange": {"min": "1Gi", "max": "6Gi", "step": "1Gi"}},
        {"default": "1Gi", "validRange": {"min": "1Gi"}},
        {"default": "500m", "validRange": {"min": "500m", "max": "8Gi", "step": "500m"}})
    device["capacity"] = {"memory": {"value": value}}
    if policy:
        device["capacity"]["memory"]["requestPolicy"] = policy
    if rng.chance(0.3):
        device["capacity"]["slots"] = {"value": "2", "requestPolicy": {"default": "1"}}


def _partition(rng, devices):
    """Devices that are cut out of one: each takes of its counters."""
    total = rng.pick(2, 3, 4)
    for d in devices:
        part = rng.pick(1, 1, 2, total)
        counters = {"memory": {"value": "%dGi" % (part * 10)}}
        if rng.chance(0.5):
            counters["slices"] = {"value": str(part)}
        d["consumesCounters"] = [{"counterSet": "card", "counters": counters}]
    return {"name": "card", "counters": {"memory": {"value": "%dGi" % (total * 10)},
                                         "slices": {"value": str(total)}}}


def _slice(scene, name, driver, pool, devices=None, counters=None, generation=1, count=1, **where):
    spec = {"driver": driver, "pool": {"name": pool, "generation": generation, "resourceSliceCount": count}, **where}
    if counters:
        spec["sharedCounters"] = counters
    else:
        spec["devices"] = devices
    scene.others.append(obj("ResourceSlice", name, api=API, spec=spec))


def _selector(rng):
    return {"nodeSelectorTerms": [{"matchExpressions": [
        {"key": ZONE, "operator": rng.pick("In", "In", "NotIn"), "values": rng.sample(["zone-a", "zone-b", "zone-c"], 1)}]}]}


def _local_pool(scene, n, driver):
    """The pool of one node: whole, in pieces, half replaced, incomplete, contradictory or cut up."""
    rng, name = scene.rng, n["metadata"]["name"]
    shared = rng.chance(0.2)
    devices = [_device(rng, driver, i, shared) for i in range(rng.pick(1, 2, 2, 3, 4))]
    pool, prefix, here = name, "%s-%s" % (name, driver.split(".")[0]), {"nodeName": name}
    way = rng.pick("plain", "plain", "plain", "plain", "pieces", "older", "incomplete", "twice", "parts", "parts", "waits")
    if way == "plain":
        _slice(scene, prefix, driver, pool, devices, **here)
    elif way == "pieces":
        cut = rng.randint(0, len(devices))
        _slice(scene, prefix + "-b", driver, pool, devices[:cut], count=2, **here)
        _slice(scene, prefix + "-a", driver, pool, devices[cut:], count=2, **here)
    elif way == "older":
        _slice(scene, prefix + "-old", driver, pool, [_device(rng, driver, 7, False)], **here)
        _slice(scene, prefix + "-new", driver, pool, devices, generation=2, count=rng.pick(1, 1, 2), **here)
    elif way == "incomplete":
        _slice(scene, prefix, driver, pool, devices, count=2, **here)
    elif way == "twice":
        _slice(scene, prefix + "-a", driver, pool, devices, count=2, **here)
        _slice(scene, prefix + "-b", driver, pool, [dict(devices[0])], count=2, **here)
    elif way == "parts":
        card = _partition(rng, devices)
        if rng.chance(0.1):
            card["name"] = "another"
        _slice(scene, prefix + "-a", driver, pool, devices, count=2, **here)
        _slice(scene, prefix + "-c", driver, pool, counters=[card], count=2, **here)
    else:
        for d in devices:
            if rng.chance(0.6):
                d.update(bindingConditions=["Attached"], bindingFailureConditions=["Broken"])
        _slice(scene, prefix, driver, pool, devices, **here)
    return devices


def _wide_pool(scene):
    """Devices beside the nodes: for all of them, for some, each for its own."""
    rng = scene.rng
    devices = [_device(rng, NIC, i, rng.chance(0.2)) for i in range(rng.randint(1, 3))]
    where = rng.pick({"allNodes": True}, {"nodeSelector": _selector(rng)}, {"perDeviceNodeSelection": True})
    for d in devices:
        if "perDeviceNodeSelection" in where:
            d.update(rng.pick({"allNodes": True}, {"nodeSelector": _selector(rng)},
                              {"nodeName": rng.choice(scene.node_names() or ["n0"])}))
        if rng.chance(0.1):
            d["bindsToNode"] = True
    _slice(scene, "wide", NIC, "wide", devices, **where)
    return devices


# ---- who has what


def claim(scene, name, requests, constraints=None, namespace=None, owner=None, **status):
    devices = {"requests": requests}
    if constraints:
        devices["constraints"] = constraints
    out = obj("ResourceClaim", name, namespace or scene.namespace, api=API, spec={"devices": devices})
    out["metadata"]["uid"] = "claim-" + name
    if owner:
        out["metadata"]["ownerReferences"] = [{"apiVersion": "v1", "kind": "Pod", "name": owner["metadata"]["name"],
                                               "uid": owner["metadata"].get("uid", ""), "controller": True}]
    if status:
        out["status"] = status
    scene.others.append(out)
    return out


def _take(scene, n, driver, devices, name):
    """Somebody has one of the node's devices."""
    rng = scene.rng
    d = rng.choice(devices)
    result = {"request": "r", "driver": driver, "pool": n, "device": d["name"]}
    if d.get("allowMultipleAllocations"):
        result["shareID"] = "00000000-0000-4000-8000-%012d" % len(scene.others)
        result["consumedCapacity"] = {"memory": rng.pick("1Gi", "2Gi", "4Gi", "6Gi")}
    if rng.chance(0.1):
        result["adminAccess"] = True
    claim(scene, name, [{"name": "r", "exactly": {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1}}],
          allocation={"devices": {"results": [result]}, "nodeSelector": _only(n)},
          reservedFor=[{"resource": "pods", "name": "other", "uid": "other"}])


def _only(node):
    return {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}]}


# ---- what is asked for


def _expression(rng, driver):
    a, c = "device.attributes['%s']" % driver, "device.capacity['%s']" % driver
    return rng.pick(
        a + ".model == 'H100'",
        a + ".model.startsWith('A100')",
        a + ".model.lowerAscii().matches('^a100 (sxm|pcie)$')",
        a + ".model in ['H100', \"L4\"] || " + a + ".?index.orValue(9) < 1",
        "has(" + a + ".ecc) && " + a + ".ecc",
        "!has(" + a + ".ecc) || !" + a + ".ecc",
        "'index' in " + a + " && " + a + ".index >= 1",
        a + ".?index.orValue(0) % 2 == 0",
        c + ".memory.compareTo(quantity('80Gi')) >= 0",
        c + ".memory.isGreaterThan(quantity('40Gi'))",
        c + ".memory.isLessThan(quantity('80Gi'))",
        "has(" + a + ".driverVersion) && " + a + ".driverVersion.compareTo(semver('580.95.5')) >= 0",
        "has(" + a + ".driverVersion) && " + a + ".driverVersion.isLessThan(semver('580.0.0'))",
        "device.attributes['resource.kubernetes.io'].?pcieRoot.orValue('') == 'pci0'",
        "cel.bind(a, " + a + ", a.model.contains('100') && a.?index.orValue(0) < 3)",
        "device.driver == '%s' && !device.allowMultipleAllocations" % driver,
        a + ".?extra.orValue(1) == 1",
        "size(" + a + ".model) > 4 ? true : " + a + ".model.endsWith('4')",
        "true")


def _composed(rng, driver, depth=2):
    """Any expression that the API server takes; some fail on some devices, or on all."""
    a, c = "device.attributes['%s']" % driver, "device.capacity['%s']" % driver
    if depth and rng.chance(0.6):
        x, y = _composed(rng, driver, depth - 1), _composed(rng, driver, depth - 1)
        return rng.pick("(%s) && (%s)", "(%s) || (%s)", "!(%s) || %s", "(%s) != (%s)", "(%s) ? (%s) : false") % (x, y)
    return rng.pick(
        a + ".model == '%s'" % rng.choice(MODELS), a + ".model != '%s'" % rng.choice(MODELS),
        a + ".index %s %d" % (rng.pick("==", "!=", "<", "<=", ">", ">="), rng.randint(-1, 4)),
        a + ".ecc", a + ".ecc == true", a + ".ecc == 'true'", a + ".index == 1u", a + ".nothing == 1",
        a + "[?'index'].hasValue()", a + ".?nothing.hasValue()", a + ".?index.orValue(2) + 1 < 4",
        "has(" + a + "." + rng.pick("index", "ecc", "driverVersion", "nothing") + ")",
        "'%s' in %s" % (rng.pick("index", "ecc", "extra", "nothing"), a),
        "'%s' in device.%s" % (rng.pick(driver, "resource.kubernetes.io", "nowhere"), rng.pick("attributes", "capacity")),
        a + ".?extra.orValue(%s) == 1" % rng.pick("1", "'1'", "true"),
        a + ".model < 'H'", a + ".model >= 'H100'", a + ".model.size() == 4", a + ".model.upperAscii() == 'L4'",
        a + ".model.matches('%s')" % rng.pick("^A100", "100$", "[AH]100( SXM)?$", "(?i)pcie", "^.{2}$", "\\\\d{3}", "a|L", "^$"),
        a + ".model + '!' == 'L4!'", "[1, 2, 3].size() == 3", "7 / 2 == 3 && -7 % 3 == -1", "1 / 0 == 1 || true",
        c + ".memory.%s(quantity('%s'))" % (rng.pick("isGreaterThan", "isLessThan"), rng.pick("40Gi", "80Gi", "80G", "1")),
        c + ".memory == quantity('%s')" % rng.pick("80Gi", "81920Mi", "8e10"),
        c + ".memory.compareTo(quantity('80Gi')) == %d" % rng.randint(-1, 1), "sign(" + c + ".memory) == 1",
        c + ".memory.sub(quantity('40Gi')).add(quantity('1')).isGreaterThan(quantity('0'))",
        c + ".memory.asInteger() > 1000", c + ".memory.isInteger()", c + ".?slots.hasValue()",
        a + ".driverVersion.%s(semver('%s'))" % (rng.pick("isGreaterThan", "isLessThan"),
                                                 rng.pick("580.95.5", "580.95.5-rc.2", "1.2.3")),
        a + ".driverVersion.major() > 500", a + ".driverVersion.compareTo(semver('580.95.5-rc.1')) == 0",
        "isSemver('%s')" % rng.pick("1.2.3", "1.2", "01.2.3"), "isQuantity('%s')" % rng.pick("1Gi", "1.5", "x"),
        "device.driver.endsWith('.com')", "device.driver in ['%s', 'x']" % driver, "device.allowMultipleAllocations",
        "cel.bind(m, %s.model, m == 'L4' || m.contains('A'))" % a, "false", "true")


def _ask(rng, calm, alternatives=False):
    name = rng.pick("gpu", "gpu", "gpu", "any", "nic")
    out = {"deviceClassName": name}
    mode = rng.pick("ExactCount", "ExactCount", "ExactCount", "ExactCount", "ExactCount" if calm else "All")
    out["allocationMode"] = mode
    if mode == "ExactCount":
        out["count"] = rng.pick(1, 1, 1, 2, 2, 3)
    if rng.chance(0.5):
        driver = NIC if name == "nic" else GPU
        out["selectors"] = [cel(_expression(rng, driver) if calm or rng.chance(0.8) else _composed(rng, driver))]
        if name == "any":  # a device of another driver has no such attributes: an error, if nothing guards it
            out["selectors"] = [cel("device.driver != '%s' || (%s)" % (GPU, out["selectors"][0]["cel"]["expression"]))]
    if rng.chance(0.3):
        out["tolerations"] = [rng.pick({"operator": "Exists"}, {"key": "example.com/sick", "operator": "Exists"},
                                       {"key": "example.com/sick", "operator": "Equal", "value": "yes"},
                                       {"key": "example.com/sick", "operator": "Exists", "effect": "NoExecute"},
                                       {"key": "example.com/other", "operator": "Exists"})]
    if rng.chance(0.12):
        out["capacity"] = {"requests": {"memory": rng.pick("1Gi", "1500Mi", "3Gi", "5Gi", "7Gi", "100Gi")}}
        if rng.chance(0.2):
            out["capacity"]["requests"]["slots"] = "1"
    if not alternatives and rng.chance(0.06):
        out["adminAccess"] = True
    return out


def _requests(rng, calm=True):
    out = []
    for i in range(rng.pick(1, 1, 1, 2, 2, 3)):
        if rng.chance(0.25):
            out.append({"name": "r%d" % i, "firstAvailable": [
                {"name": "s%d" % k, **_ask(rng, calm, True)} for k in range(rng.randint(1, 3))]})
        else:
            out.append({"name": "r%d" % i, "exactly": _ask(rng, calm)})
    return out


def _constraints(rng, requests):
    if not rng.chance(0.3):
        return None
    out = []
    for _ in range(rng.pick(1, 1, 2)):
        one = {rng.pick("matchAttribute", "matchAttribute", "distinctAttribute"):
               rng.pick(ROOT, ROOT, GPU + "/model", GPU + "/index", GPU + "/extra")}
        names = [r["name"] for r in requests]
        names += ["%s/%s" % (r["name"], s["name"]) for r in requests for s in r.get("firstAvailable", [])]
        if rng.chance(0.5):
            one["requests"] = rng.sample(names, rng.randint(1, min(2, len(names))))
        out.append(one)
    return out


def _classes(scene):
    rng = scene.rng
    for name, driver in (("gpu", GPU), ("nic", NIC), ("any", None)):
        if rng.chance(0.03):
            continue
        spec = {"selectors": [cel("device.driver == '%s'" % driver)]} if driver else {}
        if name == "gpu" and rng.chance(0.1):
            spec["selectors"].append(cel("device.attributes['%s'].index < 3" % GPU))  # fails where it has none
            scene.target["spec"]["priority"] = -5  # it would fail while victims are looked for, too
        scene.others.append(obj("DeviceClass", name, api=API, spec=spec))


def _supply(scene):
    """Pools and those who have devices of them."""
    rng = scene.rng
    _classes(scene)
    local = []
    for n in scene.nodes:
        for driver in (GPU, NIC):
            if rng.chance(0.75 if driver == GPU else 0.3):
                local.append((n["metadata"]["name"], driver, _local_pool(scene, n, driver)))
    if rng.chance(0.3):
        local.append(("wide", NIC, _wide_pool(scene)))
    for i in range(rng.randint(0, len(local))):
        _take(scene, *rng.choice(local), "taken-%d" % i)
    if rng.chance(0.2):
        selector = rng.pick({}, {"driver": GPU}, {"pool": "n1"}, {"driver": GPU, "device": "d0"})
        scene.others.append(obj("DeviceTaintRule", "rule", api=API, spec={
            "deviceSelector": selector, "taint": {"key": "example.com/sick", "value": "yes", "timeAdded": DAY % 1,
                                                  "effect": rng.pick("NoSchedule", "NoExecute", "None")}}))
    return local


def _allocated(scene, local, name, requests, **more):
    """A claim that has its devices already: on one node, on some, anywhere; some of them broken."""
    rng = scene.rng
    where, driver, devices = rng.choice(local) if local else ("n0", GPU, [{"name": "d0"}])
    result = {"request": requests[0]["name"], "driver": driver, "pool": where, "device": rng.choice(devices)["name"]}
    if "firstAvailable" in requests[0]:
        result["request"] += "/" + requests[0]["firstAvailable"][-1]["name"]
    allocation = {"devices": {"results": [result]}}
    selector = rng.pick(_only(where), _only(where), _selector(rng), None)
    if selector:
        allocation["nodeSelector"] = selector
    status = {"allocation": allocation}
    if rng.chance(0.2):
        result.update(bindingConditions=["Attached"], bindingFailureConditions=["Broken"])
        kind = rng.pick("Attached", "Broken")
        status["devices"] = [{"driver": driver, "pool": where, "device": result["device"], "conditions": [
            {"type": kind, "status": rng.pick("True", "False"), "reason": "r", "message": "m",
             "lastTransitionTime": DAY % 1}]}]
    if rng.chance(0.6):
        status["reservedFor"] = [{"resource": "pods", "name": "p%d" % i, "uid": "u%d" % i}
                                 for i in range(rng.pick(1, 2, 256))]
    return claim(scene, name, requests, **more, **status)


def _spoil(scene, new):
    """One of the ways in which a claim is no claim."""
    rng = scene.rng
    way = rng.pick("gone", "going", "of somebody")
    if way == "gone":
        scene.others.remove(new)
    elif way == "going":
        new["metadata"].update(deletionTimestamp=DAY % 2, finalizers=["example.com/keep"])
    elif "ownerReferences" in new["metadata"]:
        new["metadata"]["ownerReferences"][0]["uid"] = "another"


def dra(scene):
    """Claims of the pod: named or made from templates, with and without devices, whole and broken."""
    rng = scene.rng
    local = _supply(scene)
    target = scene.target
    target["metadata"]["uid"] = "uid-target"
    refs, statuses = [], []
    has_allocated, calm = False, rng.chance(0.4)
    if not calm:  # errors come in any order while victims are looked for: there are none
        target["spec"]["priority"] = -5
    for i in range(rng.pick(1, 1, 1, 2, 2, 3)):
        name, requests = "c%d" % i, _requests(rng, calm)
        templated = rng.chance(0.5)
        owner = {"owner": target} if templated else {}
        if rng.chance(0.25) and not has_allocated:
            has_allocated = True
            new = _allocated(scene, local, name, requests, **owner)
        else:
            new = claim(scene, name, requests, _constraints(rng, requests), **owner)
        if not templated:
            refs.append({"name": "x%d" % i, "resourceClaimName": name})
        else:
            refs.append({"name": "x%d" % i, "resourceClaimTemplateName": "t%d" % i})
            if rng.chance(0.95):
                statuses.append({"name": "x%d" % i, "resourceClaimName": name} if rng.chance(0.95) else
                                {"name": "x%d" % i})
        if rng.chance(0.04):
            _spoil(scene, new)
    target["spec"]["resourceClaims"] = refs
    if statuses:
        target["status"]["resourceClaimStatuses"] = statuses


def selectors(scene):
    """One selector, and a device for it on every node."""
    rng = scene.rng
    scene.target["spec"]["priority"] = -5
    scene.others.append(obj("DeviceClass", "gpu", api=API, spec={}))
    for n in scene.nodes:
        name = n["metadata"]["name"]
        _slice(scene, name, GPU, name, [_device(rng, GPU, rng.randint(0, 3), rng.chance(0.2))], nodeName=name)
    claim(scene, "c", [{"name": "r", "exactly": {
        "deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1,
        "tolerations": [{"operator": "Exists"}], "selectors": [cel(_composed(rng, GPU, rng.randint(0, 3)))]}}])
    scene.target["spec"]["resourceClaims"] = [{"name": "x", "resourceClaimName": "c"}]


def extended(scene):
    """Plain requests for a resource that devices stand for, on nodes where no plugin offers it."""
    rng = scene.rng
    _supply(scene)
    for n in scene.nodes:
        for name in ("example.com/gpu", "example.com/other"):
            if rng.chance(0.25):
                for key in ("capacity", "allocatable"):
                    n["status"].setdefault(key, {})[name] = rng.pick("0", "1", "2")
    for i, o in enumerate([o for o in scene.others if o["kind"] == "DeviceClass"]):
        o["metadata"]["creationTimestamp"] = DAY % (i + 1)
        if rng.chance(0.7):
            o["spec"]["extendedResourceName"] = "example.com/gpu" if o["metadata"]["name"] != "nic" else "example.com/nic"
    spec = scene.target["spec"]
    scene.target["metadata"]["uid"] = "uid-target"

    def ask(c):
        requests = c.setdefault("resources", {}).setdefault("requests", {})
        for name in rng.sample(["example.com/gpu", "example.com/gpu", "example.com/nic", "example.com/other",
                                "deviceclass.resource.kubernetes.io/nic"], rng.pick(1, 1, 2)):
            requests[name] = rng.pick("1", "1", "2", 3) if rng.chance(0.8) else rng.pick(
                "1000m", "2000E-3", "1.0", "+2", "2e0", "0", "1.", "3000m")
        c["resources"]["limits"] = {**c["resources"].get("limits", {}), **{k: v for k, v in requests.items() if "/" in k}}
    ask(spec["containers"][0])
    for i in range(rng.pick(0, 0, 1, 2)):
        c = scene.plain_container("more%d" % i)
        if rng.chance(0.7):
            ask(c)
        spec["containers"].append(c)
    for i in range(rng.pick(0, 0, 0, 1, 2)):
        c = scene.plain_container("init%d" % i)
        if rng.chance(0.8):
            ask(c)
        if rng.chance(0.3):
            c["restartPolicy"] = "Always"
        spec.setdefault("initContainers", []).append(c)
    if rng.chance(0.15):
        requests = _requests(rng)
        claim(scene, "also", requests)
        spec["resourceClaims"] = [{"name": "also", "resourceClaimName": "also"}]
    if rng.chance(0.05):
        left = claim(scene, "left", [{"name": "container-0-request-0", "exactly": {
            "deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1}}], owner=scene.target)
        left["metadata"]["annotations"] = {"resource.kubernetes.io/extended-resource-claim": "true"}
        if len(scene.nodes) % 2:  # whether the pod was told of it
            scene.target["status"]["extendedResourceClaimStatus"] = {"resourceClaimName": "left", "requestMappings": [
                {"containerName": "main", "resourceName": "example.com/gpu", "requestName": "container-0-request-0"}]}
