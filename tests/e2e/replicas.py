"""Several replicas, one of which schedules."""

import signal
import time

from stage import PATIENCE, test

LEASE, RENEWED = 8, 6  # seconds; a busy machine may take some to answer
CONFIG = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {{kubeconfig: {kubeconfig}}}
leaderElection:
  leaderElect: true
  resourceName: kubenexus-scheduler
  leaseDuration: %ds
  renewDeadline: %ds
  retryPeriod: 300ms
profiles:
- schedulerName: kubenexus-scheduler
""" % (LEASE, RENEWED)


def replica(stage, name, **how):
    """Two retries (a retry is at most 2.2 periods) and the lease make less than 9.5 s."""
    file = stage.plane.folder / "replica.yaml"
    file.write_text(CONFIG.format(kubeconfig=stage.plane.kubeconfig("kubenexus")))
    return stage.run("--config", file, name=name, **how)


def holder(stage):
    return stage.plane.get("Lease", "kubenexus-scheduler", "kube-system")["spec"]["holderIdentity"]


def leads_after(stage, heir):
    """Seconds until it leads, and the longest that a question to the server takes meanwhile: the machine may be busy."""
    start, slowest = time.monotonic(), 0
    while "became leader" not in stage.log(heir):
        asked = time.monotonic()
        assert heir.poll() is None and asked < start + PATIENCE, stage.log(heir)
        holder(stage)
        time.sleep(0.02)
        slowest = max(slowest, time.monotonic() - asked)
    return time.monotonic() - start, slowest


def binds(stage, child):
    return stage.log(child).count('"bind" pod=')


@test
def has_one_leader_and_an_heir(stage):
    stage.plane.make_nodes(10, cpu="4")
    leader = replica(stage, "leader")
    stage.until_says(leader, "became leader")
    first = holder(stage)
    heir = replica(stage, "heir")
    stage.until_says(heir, '"synced"')
    stage.pods(100, name="before-%d")
    stage.wait_bound(100)
    assert binds(stage, heir) == 0 and "became leader" not in stage.log(heir), stage.log(heir)
    assert holder(stage) == first
    said = stage.plane.wait_for("Event", lambda e: e["reason"] == "LeaderElection"
                                and first in e["note"], 1, PATIENCE, "kube-system",
                                "events.k8s.io/v1")
    assert [e["note"] for e in said.values()] == [first + " became leader"], said

    stage.pods(300, name="after-%d")  # while these are bound
    stage.plane.stop(leader)  # kill -9
    took, slowest = leads_after(stage, heir)
    print("# the heir leads after %.1f s; who asks beside it waits up to %.2f s" % (took, slowest))
    assert took <= LEASE + 2 + 3 * slowest, (took, slowest)
    where = stage.wait_bound(400)
    assert len(where) == 400 and holder(stage) not in ("", first), holder(stage)
    stage.check_scheduled_once(where)


@test
def has_no_leader_that_overslept(stage):
    """Stopped for longer than its lease, it must leave without another word."""
    stage.plane.make_nodes(2)
    leader = replica(stage, "leader")
    stage.until_says(leader, "became leader")
    heir = replica(stage, "heir")
    stage.until_says(heir, '"synced"')
    leader.send_signal(signal.SIGSTOP)
    stage.pods(20)
    stage.until_says(heir, "became leader")
    leader.send_signal(signal.SIGCONT)
    assert leader.wait(PATIENCE) == 1, stage.log(leader)
    assert "lost the lease" in stage.log(leader) and binds(stage, leader) == 0, stage.log(leader)
    stage.check_scheduled_once(stage.wait_bound(20))


@test
def gives_the_lease_back_when_asked_to_leave(stage):
    child = replica(stage, "leaving")
    stage.until_says(child, "became leader")
    us = holder(stage)
    assert us
    stage.plane.make_nodes(2, cpu="4")
    stage.pods(20)
    stage.wait_bound(20)
    child.terminate()
    assert child.wait(PATIENCE) == 0, stage.log(child)
    assert holder(stage) == "", holder(stage)
    stage.plane.wait_for("Event", lambda e: e["note"] == us + " stopped leading", 1, 1,
                         "kube-system", "events.k8s.io/v1")
    stage.plane.wait_for("Event", lambda e: e["reason"] == "Scheduled", 20, 1, stage.name,
                         "events.k8s.io/v1")
