"""Volumes: disks that cannot be shared, limits of CSI drivers, bound claims, and claims that wait.

What kube-scheduler would choose at random is not left to chance: volumes of a class differ in size, at most
one pool of capacity serves a node, and a claim has one volume that is promised to it.
"""

from objects import GI, ZONE, obj, size

BETA_ZONE = "failure-domain.beta.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"
BETA_REGION = "failure-domain.beta.kubernetes.io/region"
DRIVER, OTHER = "csi.example.com", "other.example.com"
STORAGE = "storage.k8s.io/v1"
MIGRATED = "storage.alpha.kubernetes.io/migrated-plugins"
BOUND = "pv.kubernetes.io/bind-completed"
SELECTED = "volume.kubernetes.io/selected-node"
OLD_CLASS = "volume.beta.kubernetes.io/storage-class"
PLUGINS = ["kubernetes.io/aws-ebs", "kubernetes.io/gce-pd", "kubernetes.io/azure-disk", "kubernetes.io/cinder",
           "kubernetes.io/portworx-volume", "kubernetes.io/vsphere-volume"]
DRIVERS = ["ebs.csi.aws.com", "pd.csi.storage.gke.io", "disk.csi.azure.com", "cinder.csi.openstack.org",
           "pxd.portworx.com"]
URI = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/disks/d%d"


# ---- pods and their volumes


def use(p, **source):
    """One more volume of the pod."""
    volumes = p["spec"].setdefault("volumes", [])
    volumes.append({"name": "vol%d" % len(volumes), **source})


def claim_volume(p, name):
    use(p, persistentVolumeClaim={"claimName": name})


def _disk(rng):
    """A source that stands in a pod; few names, so that pods meet."""
    number = rng.randint(1, 2)
    kind = rng.pick("gce", "aws", "iscsi", "rbd", "gce", "iscsi", "rbd", "gce", "azure", "cinder", "portworx", "vsphere", "file")
    read_only = {"readOnly": True} if rng.chance(0.6) else {}
    if kind == "gce":
        return {"gcePersistentDisk": {"pdName": "pd-%d" % number, **read_only}}
    if kind == "aws":
        name = rng.pick("vol-%d", "aws://zone-a/vol-%d", "aws:///vol-%d") % number
        return {"awsElasticBlockStore": {"volumeID": name, **read_only}}
    if kind == "iscsi":
        return {"iscsi": {"targetPortal": "10.0.0.%d" % rng.randint(1, 2), "lun": 0,
                          "iqn": "iqn.2001-04.com.example:d%d" % number, **read_only}}
    if kind == "rbd":
        pool = {"pool": rng.pick("rbd", "p")} if rng.chance(0.6) else {}
        return {"rbd": {"monitors": rng.sample(["m1:6789", "m2:6789", "m3:6789"], rng.randint(1, 2)),
                        "image": "i%d" % rng.randint(1, 2), **pool, **read_only}}
    if kind == "azure":
        return {"azureDisk": {"diskName": "d", "diskURI": URI % number, "kind": "Managed"}}
    if kind == "cinder":
        return {"cinder": {"volumeID": "c-%d" % number}}
    if kind == "portworx":
        return {"portworxVolume": {"volumeID": "x-%d" % number}}
    if kind == "vsphere":
        return {"vsphereVolume": {"volumePath": "[store] d%d" % number}}
    return {"azureFile": {"secretName": "s", "shareName": "s%d" % number}}


def disks(scene):
    """Disks in pods, and on some nodes a driver that counts them."""
    rng = scene.rng
    for p in scene.pods:
        if rng.chance(0.6):
            for _ in range(rng.randint(1, 2)):
                use(p, **_disk(rng))
    for _ in range(rng.randint(1, 2)):
        use(scene.target, **_disk(rng))
    if rng.chance(0.5):
        for n in scene.nodes:
            if rng.chance(0.7):
                _csi_node(scene, n, {d: rng.pick(None, 0, 1, 2, 3) for d in rng.some(DRIVERS)})
    if rng.chance(0.03):  # one that no driver can be told of
        use(scene.target, azureDisk={"diskName": "d", "diskURI": "https://a.blob.core.windows.net/vhds/d",
                                     "kind": "Shared"})


# ---- objects


def _add(scene, new):
    """Themes mix: what another one has put there already, stays."""
    def key(o):
        return o["kind"], o["metadata"].get("namespace"), o["metadata"]["name"]
    if key(new) not in map(key, scene.others):
        scene.others.append(new)


def claim(scene, name, namespace=None, modes=("ReadWriteOnce",), request=GI, cls=None, **spec):
    annotations = spec.pop("annotations", None)
    body = {"accessModes": list(modes), "resources": {"requests": {"storage": size(scene.rng, request)}}}
    if cls is not None:
        body["storageClassName"] = cls
    out = obj("PersistentVolumeClaim", name, namespace or scene.namespace, spec={**body, **spec},
              status={"phase": "Bound" if spec.get("volumeName") else "Pending"})
    out["metadata"]["uid"] = "claim-" + name
    if annotations:
        out["metadata"]["annotations"] = annotations
    _add(scene, out)
    return out


def volume(scene, name, capacity=GI, modes=("ReadWriteOnce",), cls=None, labels=None, affinity=None, source=None,
           **spec):
    body = {"capacity": {"storage": size(scene.rng, capacity)}, "accessModes": list(modes),
            "persistentVolumeReclaimPolicy": "Retain"}
    body.update(source or {"csi": {"driver": DRIVER, "volumeHandle": name}})
    if cls:
        body["storageClassName"] = cls
    if affinity:
        body["nodeAffinity"] = {"required": {"nodeSelectorTerms": affinity}}
    out = obj("PersistentVolume", name, labels=labels, spec={**body, **spec}, status={"phase": "Available"})
    _add(scene, out)
    return out


def bound(scene, name, **volume_options):
    """A claim and its volume."""
    modes = volume_options.pop("claim_modes", ("ReadWriteOnce",))
    cls = volume_options.get("cls")
    pv = volume(scene, "pv-" + name, **volume_options)
    pvc = claim(scene, name, modes=modes, cls=cls, volumeName="pv-" + name, annotations={BOUND: "yes"})
    pv["spec"]["claimRef"] = {"namespace": scene.namespace, "name": name, "uid": "claim-" + name}
    pv["status"]["phase"] = "Bound"
    return pv, pvc


def storage_class(scene, name, provisioner=DRIVER, waits=True, **rest):
    if waits is not None:
        rest["volumeBindingMode"] = "WaitForFirstConsumer" if waits else "Immediate"
    _add(scene, obj("StorageClass", name, api=STORAGE, provisioner=provisioner, **rest))


def _csi_node(scene, n, limits, migrated=None):
    drivers = []
    for name, count in limits.items():
        driver = {"name": name, "nodeID": n["metadata"]["name"], "topologyKeys": []}
        if count is not None:
            driver["allocatable"] = {"count": count}
        drivers.append(driver)
    out = obj("CSINode", n["metadata"]["name"], api=STORAGE, spec={"drivers": drivers})
    if migrated is not None:
        out["metadata"]["annotations"] = {MIGRATED: migrated}
    _add(scene, out)


def _zones(rng):
    return rng.pick("zone-a", "zone-b", "zone-a__zone-b", "zone-b__zone-c", "zone-a__zone-b__zone-c", "zone-d")


def _zone_labels(rng):
    out = {}
    if rng.chance(0.5):
        out[rng.pick(ZONE, ZONE, BETA_ZONE)] = _zones(rng)
    if rng.chance(0.2):
        out[rng.pick(REGION, BETA_REGION)] = rng.pick("r1", "r2", "r1__r2")
    return out


def _affinity(rng, names):
    def term():
        if rng.chance(0.15) and names:
            return {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In",
                                          "values": rng.sample(names, rng.randint(1, min(3, len(names))))}]}
        if rng.chance(0.06) and names:
            return {"matchFields": [{"key": "metadata.name", "operator": rng.pick("In", "NotIn"),
                                     "values": [rng.choice(names)]}]}
        if rng.chance(0.1):
            return {"matchExpressions": [{"key": "gpu", "operator": rng.pick("Exists", "DoesNotExist")}]}
        return {"matchExpressions": [{"key": rng.pick(ZONE, ZONE, ZONE, BETA_ZONE), "operator": rng.pick("In", "In", "NotIn"),
                                      "values": rng.sample(["zone-a", "zone-b", "zone-c"], rng.randint(1, 2))}]}
    return [term() for _ in range(rng.pick(1, 1, 2))]


def _label_nodes(scene):
    rng = scene.rng
    for n in scene.nodes:
        labels = n["metadata"]["labels"]
        zone = labels.get(ZONE, "zone-a")
        if rng.chance(0.15):
            labels.pop(ZONE, None)
        elif rng.chance(0.1):
            labels.pop(ZONE, None)
            labels[BETA_ZONE] = zone
        if rng.chance(0.4):
            labels[rng.pick(REGION, REGION, BETA_REGION)] = rng.pick("r1", "r2")
        if rng.chance(0.2):
            labels["gpu"] = "yes"


def _in_tree(rng, number):
    return rng.pick({"gcePersistentDisk": {"pdName": "pd-%d" % number}},
                    {"awsElasticBlockStore": {"volumeID": "vol-%d" % number}},
                    {"awsElasticBlockStore": {"volumeID": "aws://zone-a/vol-%d" % number}},
                    {"azureDisk": {"diskName": "d", "diskURI": URI % number, "kind": "Managed"}},
                    {"cinder": {"volumeID": "c-%d" % number}},
                    {"portworxVolume": {"volumeID": "x-%d" % number}},
                    {"vsphereVolume": {"volumePath": "[store] d%d" % number}},
                    {"hostPath": {"path": "/d%d" % number}})


# ---- bound claims


def _spoil(scene, pv, pvc):
    """One of the ways in which a claim can be wrong."""
    rng = scene.rng
    way = rng.pick("no claim", "no volume", "lost", "deleting", "unfinished", "prebound", "no class", "immediate")
    if way == "no claim":
        scene.others.remove(pvc)
    elif way == "no volume":
        scene.others.remove(pv)
    elif way == "lost":
        pvc["status"]["phase"] = "Lost"
    elif way == "deleting":
        pvc["metadata"].update({"deletionTimestamp": "2026-03-01T09:00:00Z", "finalizers": ["example.com/keep"]})
    elif way == "unfinished":  # volumeName is there, the annotation is not
        del pvc["metadata"]["annotations"]
    elif way == "prebound":
        del pvc["metadata"]["annotations"]
        pvc["spec"]["storageClassName"] = "waits"
        storage_class(scene, "waits")
    elif way == "no class":
        del pvc["spec"]["volumeName"]
        if rng.chance(0.5):
            pvc["spec"]["storageClassName"] = "nowhere"
    else:
        del pvc["spec"]["volumeName"]
        pvc["spec"]["storageClassName"] = "now"
        storage_class(scene, "now", waits=rng.pick(False, None))


def _ephemeral(scene, p, number):
    """A volume whose claim is made for the pod; sometimes it is missing, or another's."""
    rng = scene.rng
    p["metadata"].setdefault("uid", "uid-" + p["metadata"]["name"])
    use(p, ephemeral={"volumeClaimTemplate": {"spec": {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}})
    name = "%s-%s" % (p["metadata"]["name"], p["spec"]["volumes"][-1]["name"])
    if rng.chance(0.1) and p is scene.target:
        return
    volume(scene, "pv-" + name, affinity=_affinity(rng, scene.node_names()) if rng.chance(0.5) else None)
    pvc = claim(scene, name, namespace=p["metadata"]["namespace"], volumeName="pv-" + name,
                annotations={BOUND: "yes"})
    owner = p["metadata"]["uid"] if rng.chance(0.9) or p is not scene.target else "somebody"
    pvc["metadata"]["ownerReferences"] = [{"apiVersion": "v1", "kind": "Pod", "name": p["metadata"]["name"],
                                           "uid": owner, "controller": True}]


def claims(scene):
    """Claims that are bound: zones, nodes that reach the volume, one pod only; and those that are broken."""
    rng = scene.rng
    _label_nodes(scene)
    names = []
    for i in range(rng.pick(1, 1, 2, 2, 3)):
        name = "c%d" % i
        exclusive = rng.chance(0.2)
        pv, pvc = bound(scene, name, labels=_zone_labels(rng),
                        affinity=_affinity(rng, scene.node_names()) if rng.chance(0.3) else None,
                        source=_in_tree(rng, i) if rng.chance(0.35) else None,
                        claim_modes=("ReadWriteOncePod",) if exclusive else ("ReadWriteOnce",),
                        modes=("ReadWriteOncePod",) if exclusive else ("ReadWriteOnce",))
        claim_volume(scene.target, name)
        names.append(name)
        if rng.chance(0.1):
            _spoil(scene, pv, pvc)
    if rng.chance(0.15):
        _ephemeral(scene, scene.target, 0)
    for p in scene.pods:
        if rng.chance(0.15):
            claim_volume(p, rng.choice(names))
    if rng.chance(0.5):
        for n in scene.nodes:
            if rng.chance(0.6):
                migrated = ",".join(rng.some(PLUGINS)) if rng.chance(0.7) else None
                _csi_node(scene, n, {}, migrated)


# ---- limits


def limits(scene):
    """CSI drivers that can attach so many: at the limit, one over, shared, attached without a pod."""
    rng = scene.rng
    storage_class(scene, "made", provisioner=DRIVER)
    storage_class(scene, "old", provisioner=rng.choice(PLUGINS))
    names = []
    for i in range(rng.randint(2, 7)):
        name = "l%d" % i
        kind = rng.pick("csi", "csi", "csi", "other", "in-tree", "waits", "old")
        if kind == "waits" or kind == "old":
            claim(scene, name, cls="made" if kind == "waits" else "old")
        else:
            source = {"csi": {"driver": OTHER, "volumeHandle": "h%d" % rng.randint(0, 2)}} if kind == "other" else \
                _in_tree(rng, i) if kind == "in-tree" else None
            bound(scene, name, source=source)
        names.append(name)
    for p in scene.pods:
        for name in rng.some(names, 3):
            claim_volume(p, name)
        if rng.chance(0.1):
            claim_volume(p, "gone")  # it counts for nothing
        if rng.chance(0.1):
            use(p, **_disk(rng))
        if rng.chance(0.1):
            _ephemeral(scene, p, 0)
    for name in rng.sample(names, rng.randint(1, min(3, len(names)))):
        claim_volume(scene.target, name)
    if rng.chance(0.1):
        use(scene.target, **_disk(rng))
    for n in scene.nodes:
        if rng.chance(0.85):
            counts = {d: rng.pick(None, 0, 1, 1, 2, 2, 3, 4) for d in rng.some([DRIVER, DRIVER, OTHER] + DRIVERS)}
            _csi_node(scene, n, counts)
    for i, n in enumerate(scene.nodes):
        if rng.chance(0.3):
            _add(scene, obj("VolumeAttachment", "a%d" % i, api=STORAGE, spec={
                "attacher": rng.pick(DRIVER, DRIVER, OTHER), "nodeName": n["metadata"]["name"],
                "source": {"persistentVolumeName": "pv-" + rng.choice(names + ["none"])}}, status={"attached": True}))
    if rng.chance(0.3):
        _add(scene, obj("CSIDriver", DRIVER, api=STORAGE, spec={
            "preventPodSchedulingIfMissing": rng.chance(0.7), "storageCapacity": False}))


# ---- claims that wait


def _topologies(rng):
    zones = rng.sample(["zone-a", "zone-b", "zone-c"], 3)
    out = [{"matchLabelExpressions": [{"key": ZONE, "values": zones[:rng.randint(1, 2)]}]}]
    if rng.chance(0.3):
        out[0]["matchLabelExpressions"].append({"key": "kubernetes.io/os", "values": [rng.pick("linux", "windows")]})
    if rng.chance(0.3):
        out.append({"matchLabelExpressions": [{"key": ZONE, "values": zones[2:]}]})
    return out


def _capacities(scene, cls):
    """Pools by zone, or one for all nodes, or one that no node reaches."""
    rng = scene.rng

    def pool(name, topology):
        rest = {"capacity": size(rng, rng.pick(1, 2, 3, 5, 8) * GI)} if rng.chance(0.93) else {}
        if rest and rng.chance(0.5):
            rest["maximumVolumeSize"] = size(rng, rng.pick(1, 2, 3, 5, 10) * GI)
        if topology is not None:
            rest["nodeTopology"] = topology
        _add(scene, obj("CSIStorageCapacity", "%s-%s" % (cls, name), scene.namespace, api=STORAGE,
                        storageClassName=cls, **rest))
    if rng.chance(0.15):
        pool("all", {})
        return
    for zone in "abc":
        if rng.chance(0.8):
            pool(zone, {"matchLabels": {ZONE: "zone-" + zone}})
    if rng.chance(0.2):
        pool("nowhere", None)


def waiting(scene):
    """WaitForFirstConsumer: volumes to be found, volumes to be made, and how full that makes them."""
    rng = scene.rng
    _label_nodes(scene)
    classes = ["fast", "slow"][:rng.randint(1, 2)]
    for cls in classes:
        provisioner = rng.pick(DRIVER, DRIVER, DRIVER, OTHER, "kubernetes.io/no-provisioner", "kubernetes.io/aws-ebs")
        rest = {"allowedTopologies": _topologies(rng)} if rng.chance(0.4) else {}
        storage_class(scene, cls, provisioner=provisioner, **rest)
        if rng.chance(0.6):
            _capacities(scene, cls)
    if rng.chance(0.7):
        _add(scene, obj("CSIDriver", DRIVER, api=STORAGE, spec={"storageCapacity": rng.chance(0.9)}))
    wanted = ["w%d" % i for i in range(rng.pick(1, 1, 2, 3))]
    _volumes_to_find(scene, classes, wanted)
    for name in wanted:
        _wait(scene, classes, name)
        claim_volume(scene.target, name)
    if rng.chance(0.2):
        bound(scene, "own", affinity=_affinity(rng, scene.node_names()) if rng.chance(0.6) else None)
        claim_volume(scene.target, "own")


def _volumes_to_find(scene, classes, wanted):
    rng = scene.rng
    promised = set()
    sizes = rng.sample(range(1, 9), rng.randint(0, 7))
    for i, gib in enumerate(sizes):
        cls = rng.choice(classes + ["another"])
        pv = volume(scene, "pv%d" % i, capacity=gib * GI + rng.pick(0, 0, 0, 0, 0, 1, -1), cls=cls,
                    modes=["ReadWriteOnce"] + rng.some(["ReadOnlyMany", "ReadWriteMany"]),
                    labels={"tier": rng.pick("gold", "iron")} if rng.chance(0.4) else None,
                    affinity=_affinity(rng, scene.node_names()) if rng.chance(0.5) else None)
        if rng.chance(0.1):
            pv["spec"]["volumeMode"] = "Block"
        if rng.chance(0.08):
            pv["spec"]["volumeAttributesClassName"] = "gold"
        if rng.chance(0.1):
            pv["status"]["phase"] = rng.pick("Pending", "Released", "Failed", "Bound")
        if rng.chance(0.06):
            pv["metadata"].update({"deletionTimestamp": "2026-03-01T09:00:00Z", "finalizers": ["example.com/keep"]})
        if rng.chance(0.06):
            pv["metadata"]["annotations"] = {OLD_CLASS: rng.choice(classes)}
        if rng.chance(0.2):
            name = rng.choice(wanted + ["other"])
            if name not in promised:
                promised.add(name)
                pv["spec"]["claimRef"] = {"namespace": scene.namespace, "name": name}
                if rng.chance(0.5):
                    pv["spec"]["claimRef"]["uid"] = rng.pick("claim-" + name, "claim-" + name, "before")


def _wait(scene, classes, name):
    rng = scene.rng
    request = rng.randint(1, 8) * GI + rng.pick(0, 0, 0, 0, 0, 1, -1)
    rest = {}
    if rng.chance(0.2):
        rest["selector"] = {"matchLabels": {"tier": rng.pick("gold", "iron")}}
    if rng.chance(0.1):
        rest["volumeMode"] = rng.pick("Block", "Filesystem")
    if rng.chance(0.08):
        rest["volumeAttributesClassName"] = "gold"
    if rng.chance(0.15) and scene.nodes:
        rest["annotations"] = {SELECTED: rng.choice(scene.node_names() + ["elsewhere"])}
    modes = ["ReadWriteOnce"] if rng.chance(0.7) else rng.sample(["ReadOnlyMany", "ReadWriteMany"], rng.pick(1, 2))
    if rng.chance(0.05):
        modes = ["ReadWriteOncePod"]
    claim(scene, name, modes=modes, request=request, cls=rng.choice(classes), **rest)


# ---- features that nodes declare

FEATURES = ["RestartAllContainersOnContainerExits", "UserNamespacesHostNetworkSupport", "VolumeBindMountOptions",
            "SomethingElse"]


def features(scene):
    rng = scene.rng
    for n in scene.nodes:
        if rng.chance(0.7):
            n["status"]["declaredFeatures"] = sorted(rng.some(FEATURES))
    spec = scene.target["spec"]
    if rng.chance(0.6):
        rule = {"action": rng.pick("RestartAllContainers", "RestartAllContainers", "Restart"),
                "exitCodes": {"operator": "In", "values": [42]}}
        spec["containers"][0].update({"restartPolicy": "Never", "restartPolicyRules": [rule]})
    if rng.chance(0.2):  # users of its own on the host's network: no API server of 1.37 takes that
        spec[rng.pick("hostNetwork", "hostUsers")] = True
    if rng.chance(0.3):
        use(scene.target, emptyDir={})
        spec["containers"][0]["volumeMounts"] = [{"name": spec["volumes"][-1]["name"], "mountPath": "/d",
                                                  "bindMountOptions": ["noexec"]}]
