"""Replicas are kept apart: over zones, and over racks. A real ReplicaSet of the real controller, whose pods say
nothing but who schedules them."""

import collections

from plane import node, pod
from stage import test

ZONE, RACK = "topology.kubernetes.io/zone", "network.kubenexus.io/rack-id"
IN_A_FILE = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {kubeconfig: %s}
leaderElection: {leaderElect: false}
profiles:
- schedulerName: kubenexus-scheduler
  plugins: {multiPoint: {enabled: [{name: KubeNexus}]}}
"""


def replica_set(stage, name, replicas, labels):
    labels = {"app": name, **labels}
    made = pod(name, labels=labels, schedulerName="kubenexus-scheduler")
    stage.plane.create({
        "apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": name, "namespace": stage.name},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}},
                 "template": {"metadata": {"labels": labels}, "spec": made["spec"]}}})


def replicas_by_domain(stage, n_domains, replicas, labels):
    """How many of the replicas are in each of the domains."""
    replica_set(stage, "web", replicas, labels)
    where = stage.wait_bound(replicas)
    placed = collections.Counter(int(name.split("-")[1]) for name in where.values())
    return [placed[domain] for domain in range(n_domains)]


def look(stage, key, sizes, replicas, wanted, config=None, labels=None):
    """In domains of so many nodes, which are there before the scheduler is: it knows all of them."""
    for domain, size in enumerate(sizes):
        for number in range(size):
            stage.plane.create(node("node-%d-%d" % (domain, number), labels={key: "d%d" % domain}))
    manager = stage.plane.start_controller_manager("--controllers=replicaset-controller")
    try:
        if config:
            file = stage.plane.folder / "spreading.yaml"
            file.write_text(config % stage.plane.kubeconfig("kubenexus"))
            stage.until_says(stage.run("--config", file), '"synced"')
        else:
            stage.run_synced()
        found = replicas_by_domain(stage, len(sizes), replicas, labels or {})
        assert found == wanted, found
        stage.plane.request("DELETE", "/apis/apps/v1/namespaces/%s/replicasets/web" % stage.name)
    finally:
        stage.plane.stop(manager)


@test
def nine_replicas_are_three_in_each_zone_of_six_three_and_one_nodes(stage):
    look(stage, ZONE, (6, 3, 1), 9, [3, 3, 3])


@test
def nine_replicas_are_three_in_each_zone_also_by_a_configuration(stage):
    look(stage, ZONE, (6, 3, 1), 9, [3, 3, 3], config=IN_A_FILE)


@test
def four_replicas_are_in_four_racks(stage):
    look(stage, RACK, (4, 2, 1, 1), 4, [1, 1, 1, 1])


@test
def replicas_that_are_called_a_service_are_kept_apart_likewise(stage):
    look(stage, RACK, (3, 3, 3, 3), 4, [1, 1, 1, 1], labels={"workload.kubenexus.io/type": "service"})
