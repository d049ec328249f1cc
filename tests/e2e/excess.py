"""Objects that say more than anybody writes, as the API server takes them. Each function gives the
objects of one such thing; `scheduler` is whose pods they are, `node` where they run already."""

from plane import node, pod

API = "resource.k8s.io/v1"
GPU = "nvidia.com/gpu"
CLASS = "excess"
NODES, DEVICES, REQUESTS, ALIKE = 30, 16, 8, 4  # of claims that cannot be met
FIRST = {"priorityClassName": "system-cluster-critical"}


def world():
    """Thirty nodes, each with sixteen devices of which three share an attribute."""
    driver = CLASS + ".example.com"
    yield {"apiVersion": API, "kind": "DeviceClass", "metadata": {"name": CLASS}, "spec": {
        "selectors": [{"cel": {"expression": "device.driver == '%s'" % driver}}]}}
    for number in range(NODES):
        name = "n%d" % number
        yield node(name, cpu="64", memory="256Gi", pods="1000", extended={GPU: "8"})
        yield {"apiVersion": API, "kind": "ResourceSlice", "metadata": {"name": "%s-%s" % (CLASS, name)}, "spec": {
            "driver": driver, "nodeName": name, "pool": {"name": name, "generation": 1, "resourceSliceCount": 1},
            "devices": [{"name": "d%d" % i, "attributes": {"example.com/m": {"int": i // 3}}}
                        for i in range(DEVICES)]}}


class Excess:
    """Makes objects of one namespace, all called `tag` and more."""

    def __init__(self, namespace, tag, scheduler, on=None):
        self.namespace, self.tag, self.scheduler, self.on = namespace, tag, scheduler, on

    def pod(self, name="", **how):
        where = {"nodeName": self.on} if self.on else {}
        return pod(self.tag + name, namespace=self.namespace, schedulerName=self.scheduler, **{
            "cpu": "10m", "memory": "8Mi", **where, **how})

    def gates(self, n):
        yield self.pod(schedulingGates=[{"name": "example.com/g%d" % i} for i in range(n)])

    def constraints(self, n):
        yield self.pod(topologySpreadConstraints=[
            {"topologyKey": "example.com/k%d" % i, "maxSkew": 1, "whenUnsatisfiable": "ScheduleAnyway",
             "labelSelector": {}} for i in range(n)])

    def resources(self, n):
        yield self.pod(extended={"example.com/r%d" % i: "1" for i in range(n)})

    def claims(self, n):
        """So many pods, with a claim each that no node can meet."""
        names = ["r%d" % i for i in range(REQUESTS)]
        exactly = {"deviceClassName": CLASS, "allocationMode": "ExactCount", "count": 1}
        for i in range(n):
            name = "%s%d" % (self.tag, i)
            yield {"apiVersion": API, "kind": "ResourceClaim",
                   "metadata": {"name": name, "namespace": self.namespace}, "spec": {"devices": {
                       "requests": [{"name": r, "exactly": exactly} for r in names],
                       "constraints": [{"requests": names[-ALIKE:], "matchAttribute": "example.com/m"}]}}}
            yield self.pod(str(i), resourceClaims=[{"name": "x", "resourceClaimName": name}], **FIRST)

    def drivers(self, n, workers):
        for i in range(n):
            made = self.pod(str(i))
            made["metadata"]["labels"] = {"scheduling.kubenexus.io/app-id": "%s%d" % (self.tag, i)}
            made["metadata"]["annotations"] = {"kubenexus.io/executor-count": str(workers),
                                               "kubenexus.io/executor-cpu": "1m"}
            yield made

    def reservations(self, n):
        for i in range(n):
            yield {"apiVersion": "scheduling.kubenexus.io/v1alpha1", "kind": "ResourceReservation",
                   "metadata": {"name": "%s%d" % (self.tag, i), "namespace": self.namespace},
                   "spec": {"podGroupName": "g%d" % i, "reservations": {
                       "a": {"node": "", "cpu": "1m", "memory": "1Mi"}}}}

    def apart(self, n, terms):
        for i in range(n):
            yield self.pod(str(i), affinity={"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
                {"topologyKey": "kubernetes.io/hostname",
                 "labelSelector": {"matchLabels": {"%s%d-%d" % (self.tag, i, t): "v"}}} for t in range(terms)]}})

    def vast(self):
        """As many GPUs as the API server takes, wanted and there."""
        most = "8Pi"  # 1Ei in thousandths is more than 64 bits: the API server refuses it
        yield node(self.tag, cpu="64", memory="256Gi", extended={GPU: most})
        yield self.pod("-all", extended={GPU: most})
        yield self.pod("-again", extended={GPU: most})
        yield self.pod("-one", extended={GPU: "1"})


TRIALS = {
    "nothing": lambda e: (),
    "40,000 gates": lambda e: e.gates(40000),
    "12,000 gates": lambda e: e.gates(12000),
    "14,000 spread constraints": lambda e: e.constraints(14000),
    "20,000 names of resources": lambda e: e.resources(20000),
    "4 claims that cannot be met": lambda e: e.claims(4),
    "400 drivers of 100 workers": lambda e: e.drivers(400, 100),
    "4,000 reservations": lambda e: e.reservations(4000),
    "2,000 pods with 50 terms": lambda e: e.apart(2000, 50),
    "8Pi GPUs": lambda e: e.vast(),
}
