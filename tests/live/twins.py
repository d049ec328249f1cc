"""Two control planes with the same objects: one has kube-scheduler, the other kubenexus.

Both schedulers start when all is there: so neither can miss what the other saw. From then on only pods
come, and a watch tells of them in order."""

import copy
import pathlib
import sys
from concurrent.futures import ThreadPoolExecutor

HERE = pathlib.Path(__file__).resolve().parent
for folder in ("../e2e", "../cluster", "../differential"):
    sys.path.insert(0, str(HERE / folder))

from plane import Plane  # noqa: E402  (found only now)
import stage  # noqa: E402

PATIENCE = 60  # seconds until something that must happen has failed: the machine may be busy
MERGE = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
STAYS = "example.com/stays"  # a finalizer: what is being deleted stays until we wipe it
# What admission would add, refuse or change is not the question here.
FLAGS = ["--disable-admission-plugins=Priority,RuntimeClass,StorageObjectInUseProtection,DefaultStorageClass"]
# Pods before claims and claims before volumes: the later ones name the uids of the earlier ones.
KINDS = {"Namespace": "namespaces", "PriorityClass": "priorityclasses", "StorageClass": "storageclasses",
         "CSIDriver": "csidrivers", "Node": "minions", "CSINode": "csinodes", "Service": "services/specs",
         "ReplicationController": "controllers", "ReplicaSet": "replicasets", "StatefulSet": "statefulsets",
         "Job": "jobs", "PodDisruptionBudget": "poddisruptionbudgets", "Pod": "pods",
         "PersistentVolumeClaim": "persistentvolumeclaims", "PersistentVolume": "persistentvolumes",
         "CSIStorageCapacity": "csistoragecapacities", "VolumeAttachment": "volumeattachments"}
WITH_STATUS = {"Pod", "PersistentVolumeClaim", "PersistentVolume", "PodDisruptionBudget", "VolumeAttachment"}
SYSTEM = {"default", "kube-system", "kube-public", "kube-node-lease"}
SERVERS = ("uid", "resourceVersion", "creationTimestamp", "managedFields", "generation", "generateName",
           "deletionTimestamp", "deletionGracePeriodSeconds")


class Twin(Plane):
    """One of the two. `start` starts its scheduler."""

    def __init__(self, start):
        super().__init__(FLAGS)
        self.start_its, self.scheduler = start, None
        self.uids = {}

    def clear(self):
        """No scheduler, no objects; namespaces that everybody expects stay."""
        if self.scheduler:
            self.stop(self.scheduler)
            self.scheduler = None
        kinds = [prefix for kind, prefix in KINDS.items() if kind != "Namespace"]
        others = [o["metadata"]["name"] for o in self.list("Namespace")]
        self.wipe("events/", *(prefix + "/" for prefix in kinds),
                  *("namespaces/" + name for name in others if name not in SYSTEM))
        for kind in ("Pod", "Node", "Namespace"):  # the server's cache has seen it, too
            self.wait_for(kind, lambda o: o["metadata"]["name"] not in SYSTEM, 0, PATIENCE)

    def schedule(self):
        self.scheduler = self.start_its(self)

    # Objects as they would have become in time

    def _point(self, obj):
        """References to objects, by the uids that these got here."""
        for owner in obj["metadata"].get("ownerReferences", []):
            here = owner["kind"], obj["metadata"].get("namespace"), owner["name"]
            owner["uid"] = self.uids.get(here, owner["uid"])
        claim = obj["spec"].get("claimRef") if obj["kind"] == "PersistentVolume" else None
        if claim and claim.get("uid"):
            here = "PersistentVolumeClaim", claim["namespace"], claim["name"]
            claim["uid"] = self.uids.get(here, claim["uid"])

    def _namespaces(self, objects):
        """Every case has these three; whatever else it says of them are labels."""
        labels = {o["metadata"]["name"]: o["metadata"].get("labels", {}) for o in objects if o["kind"] == "Namespace"}
        for name in {"default", "team-a", "team-b", *labels}:
            made = {"labels": {**labels.get(name, {}), "kubernetes.io/metadata.name": name}}
            if name == "default":
                self.request("PATCH", self.path("Namespace", name), [
                    {"op": "replace", "path": "/metadata/labels", "value": made["labels"]}], JSON_PATCH)
            else:
                self.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, **made}})

    def put(self, given):
        obj = copy.deepcopy(given)
        meta, status = obj["metadata"], obj.get("status")
        leaving = "deletionTimestamp" in meta
        for field in SERVERS:
            meta.pop(field, None)
        if leaving:
            meta["finalizers"] = meta.get("finalizers", []) + [STAYS]
        self._point(obj)
        made = self.create(obj)
        where = (obj["kind"], meta["name"], meta.get("namespace"))
        self.uids[obj["kind"], meta.get("namespace"), meta["name"]] = made["metadata"]["uid"]
        if obj["kind"] in WITH_STATUS and status:
            made = self.request("PATCH", self.path(*where, api=obj["apiVersion"], sub="status"),
                                {"status": status}, MERGE)
        if leaving:
            self.delete(*where, grace=3600, api=obj["apiVersion"])
        return made

    def load(self, objects):
        self.uids = {}
        self._namespaces(objects)
        for kind in KINDS:
            for obj in objects:
                if obj["kind"] == kind != "Namespace":
                    self.put(obj)

    def dump(self):
        """All that a scheduler sees."""
        found = []
        for kind in KINDS:
            for obj in self.list(kind, limit=100000):
                api = self.known[None, kind][0].split("/", 2)[2]
                found.append({"apiVersion": api, "kind": kind, **obj})
        return found

    # What became of a pod

    def fate(self, name, namespace):
        """The pod, once its scheduler has said where it goes or why not."""
        def told(pod):
            return pod["metadata"]["name"] == name and (
                pod["spec"].get("nodeName") or stage.condition(pod).get("status") == "False")
        return list(self.wait_for("Pod", told, 1, PATIENCE, namespace).values())[0]

    def note(self, name, namespace, reason):
        def about(event):
            return event["regarding"]["name"] == name and event["reason"] == reason
        found = self.wait_for("Event", about, 1, PATIENCE, namespace, "events.k8s.io/v1")
        first = min(found.values(), key=lambda event: event["eventTime"])
        return {key: first.get(key) for key in ("type", "action", "note", "reportingController")}


def like_upstream(plane):
    return plane.start_scheduler(parallelism=1, percentageOfNodesToScore=100)


class Twins:
    """Both of them; what is done to one is done to the other at the same time."""

    def __init__(self, ours=stage.run_in_place):
        self.theirs, self.ours = Twin(like_upstream), Twin(ours)

    def __enter__(self):
        self.theirs.__enter__()
        self.ours.__enter__()
        stage.grant(self.ours)
        self.pool = ThreadPoolExecutor(2)
        return self

    def __exit__(self, *_):
        self.pool.shutdown()
        self.ours.__exit__()
        self.theirs.__exit__()

    def both(self, do):
        """(theirs, ours)"""
        return tuple(self.pool.map(do, (self.theirs, self.ours)))
