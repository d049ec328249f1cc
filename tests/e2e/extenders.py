"""HTTP extenders have their say, as they have with kube-scheduler."""

import collections
import http.server
import json
import ssl
import threading
import time

from gangs import member
from plane import bound, node
from schedule import told
from stage import PATIENCE, test, until

CONFIG = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {kubeconfig: %s}
leaderElection: {leaderElect: false}
profiles:
- schedulerName: ours
extenders: %s
"""


class Extender:
    """A server that answers each verb by the function given for it, which gets what was asked and
    returns what to say, or (status, what to say)."""

    def __init__(self, certificate=None, **verbs):
        self.verbs, self.asked = verbs, collections.defaultdict(list)
        self.scheme = "https" if certificate else "http"
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                verb = self.path.rpartition("/")[2]
                outer.asked[verb].append(body)
                said = outer.verbs[verb](body)
                status, said = said if isinstance(said, tuple) else (200, said)
                said = json.dumps(said).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(said)))
                self.end_headers()
                self.wfile.write(said)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.handle_error = lambda *_: None  # who is late finds nobody there
        self.port = self.server.server_address[1]
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def config(self, **more):
        """As an entry of `extenders`, with the verbs that it knows."""
        known = {"%sVerb" % verb: verb for verb in self.verbs}
        weight = {"weight": 1} if "prioritize" in self.verbs else {}
        return {"urlPrefix": "%s://127.0.0.1:%d/scheduler/" % (self.scheme, self.port),
                "nodeCacheCapable": True, **known, **weight, **more}


def run_ours(stage, *extenders):
    file = stage.plane.folder / ("%s.yaml" % stage.name)
    file.write_text(CONFIG % (stage.plane.kubeconfig("kubenexus"), json.dumps(extenders)))
    return stage.run("--config", file)


def run_both(stage, *extenders):
    """Ours, and kube-scheduler, with the same extenders."""
    stage.started.append(stage.plane.start_scheduler(extenders=json.dumps(extenders)))
    return run_ours(stage, *extenders)


def both(stage, name, **how):
    """The same pod for each."""
    stage.pod("theirs-" + name, "default-scheduler", **how)
    stage.pod("ours-" + name, "ours", **how)


def label(asked):
    return asked["Pod"]["metadata"].get("labels", {}).get("say")


def filtered(asked):
    """What a filter says that is told by a label of the pod what to say."""
    names = asked["NodeNames"]
    say = label(asked)
    if say == "slow":
        time.sleep(5)
    return {
        "busy": {"NodeNames": [], "FailedNodes": {n: "node(s) were busy" for n in names}},
        "never": {"NodeNames": [], "FailedAndUnresolvableNodes": {n: "too old" for n in names}},
        "both": {"NodeNames": [], "FailedNodes": {n: "busy" for n in names},
                 "FailedAndUnresolvableNodes": {names[0]: "too old"}},
        "silent": {"NodeNames": []},
        "nothing": {},
        "error": {"NodeNames": names, "Error": "out of order"},
        "code": (503, {"NodeNames": names}),
        "stranger": {"NodeNames": ["stranger"]},
        "right": {"NodeNames": ["right"], "FailedNodes": {"left": "not today"}},
    }.get(say, {"NodeNames": names})


REFUSALS = ["busy", "never", "both", "silent", "nothing", "error", "code", "stranger", "slow"]


@test
def extenders_refuse_nodes_as_with_kube_scheduler(stage):
    for name in ("left", "right"):
        stage.plane.create(node(name))
    stage.plane.create(node("closed", unschedulable=True))
    with Extender(filter=filtered) as extender:
        run_both(stage, extender.config(httpTimeout="2s"))
        for say in REFUSALS:
            both(stage, say, labels={"say": say})
        both(stage, "right", labels={"say": "right"})
        where = stage.wait_bound(2)
        assert where == {"ours-right": "right", "theirs-right": "right"}, where
        for say in REFUSALS:
            theirs, ours = (without_series(told(stage, who + say)) for who in ("theirs-", "ours-"))
            assert ours == theirs, "%s:\n%s\n%s" % (say, ours, theirs)
        asked = {a["Pod"]["metadata"]["name"]: a for a in extender.asked["filter"]}
        theirs, ours = asked["theirs-right"], asked["ours-right"]
        assert sorted(ours["NodeNames"]) == sorted(theirs["NodeNames"]) == ["left", "right"]
        assert ours["Nodes"] is None and theirs["Nodes"] is None
        for part in ("containers", "tolerations"):
            assert ours["Pod"]["spec"][part] == theirs["Pod"]["spec"][part]


def without_series(what):
    """A refusal may have been told again by the time we look."""
    return {key: value for key, value in what.items() if key != "event.series"}


@test
def extenders_score_nodes_as_with_kube_scheduler(stage):
    for name in ("a", "b", "c"):
        stage.plane.create(node(name))
    scores = {"a": 1, "b": 9, "c": 10}
    with Extender(filter=lambda asked: {"NodeNames": ["a", "b"]},
                  prioritize=lambda asked: [{"Host": n, "Score": scores[n]}
                                            for n in asked["NodeNames"]]) as extender:
        run_both(stage, extender.config(weight=20))
        both(stage, "p")
        where = stage.wait_bound(2)
        assert where == {"ours-p": "b", "theirs-p": "b"}, where
        for asked in extender.asked["prioritize"]:
            assert sorted(asked["NodeNames"]) == ["a", "b"], asked


@test
def extenders_bind_as_with_kube_scheduler(stage):
    stage.plane.create(node("only"))

    def bind(asked):
        if "refused" in asked["PodName"]:
            return {"Error": "no, not this one"}
        stage.bind(asked["PodName"], asked["Node"])
        if "lost" in asked["PodName"]:  # it is bound, and we hear that it is not
            return 500, {}
        return {}
    with Extender(bind=bind) as extender:
        run_both(stage, extender.config())
        for name in ("fine", "lost", "refused"):
            both(stage, name)
        where = stage.wait_bound(4)
        assert set(where) == {who + what for who in ("ours-", "theirs-")
                              for what in ("fine", "lost")}, where
        theirs, ours = (without_series(told(stage, who)) for who in
                        ("theirs-refused", "ours-refused"))
        assert ours == theirs, "%s\n%s" % (ours, theirs)
        assert len(stage.wait_events("Scheduled", 1, about="ours-fine")) == 1
        asked = {a["PodName"]: a for a in extender.asked["bind"]}["ours-fine"]
        uid = stage.plane.get("Pod", "ours-fine", stage.name)["metadata"]["uid"]
        assert asked == {"PodName": "ours-fine", "PodNamespace": stage.name, "PodUID": uid,
                         "Node": "only"}, asked


@test
def extenders_that_may_fail_stop_nobody(stage):
    stage.plane.create(node("a"))
    stage.plane.create(node("b"))
    with Extender(filter=lambda asked: {"NodeNames": ["b"]}) as good, \
            Extender(filter=filtered, bind=lambda asked: (500, {})) as bad:
        dead = {"urlPrefix": "http://127.0.0.1:1", "filterVerb": "f", "prioritizeVerb": "p",
                "weight": 1, "nodeCacheCapable": True}
        run_ours(stage, {**dead, "ignorable": True}, bad.config(ignorable=True), good.config())
        stage.pod("p", "ours", labels={"say": "error"})
        assert stage.wait_bound(1) == {"p": "b"}
        assert bad.asked["filter"][0]["NodeNames"] == ["b"]  # those that may fail are asked last
        assert len(bad.asked["bind"]) == 1


@test
def an_extender_that_is_not_there_fails_as_with_kube_scheduler(stage):
    stage.plane.create(node("a"))
    run_both(stage, {"urlPrefix": "http://127.0.0.1:1/x", "filterVerb": "f",
                     "nodeCacheCapable": True})
    both(stage, "p")
    theirs, ours = (without_series(told(stage, who)) for who in ("theirs-p", "ours-p"))
    assert ours == theirs, "%s\n%s" % (ours, theirs)


@test
def who_waits_for_an_extender_holds_nobody_up(stage):
    stage.plane.create(node("a", extended={"example.com/slow": "9"}))
    gate = threading.Event()

    def wait(asked):
        gate.wait(PATIENCE)
        return {"NodeNames": asked["NodeNames"]}
    with Extender(filter=wait) as extender:
        run_ours(stage, extender.config(managedResources=[{"name": "example.com/slow"}],
                                        httpTimeout="50s"))
        stage.pod("slow", "ours", extended={"example.com/slow": "1"})
        until(lambda: extender.asked["filter"])
        stage.pods(20, scheduler="ours")
        assert "slow" not in stage.wait_bound(20)
        gate.set()
        assert "slow" in stage.wait_bound(21)
        assert len(extender.asked["filter"]) == 1  # the others are none of its business


def make_room(stage, who, scheduler, n_victims, **how):
    """Two full nodes of this one's own, of which the second is dearer, and a pod that wants in; what
    it and its victims are told, with the uids and names left out. The scheduler fills the nodes
    itself, so it knows them."""
    where = {"nodeSelector": {"who": who}}
    for number, priority in enumerate(("low", "middle")):
        name = "%s-%d" % (who, number)
        stage.plane.create(node(name, cpu="2", labels={"who": who, "number": str(number)}))
        stage.pod("%s-on-%d" % (who, number), scheduler, cpu="2", priorityClassName=priority,
                  nodeSelector={"who": who, "number": str(number)}, labels={"say": "all"})
    stage.plane.wait_for("Pod", lambda p: p["metadata"]["name"].startswith(who) and bound(p), 2,
                         PATIENCE, stage.name)
    high = stage.pod(who + "-high", scheduler, cpu="1", priorityClassName="high", **where, **how)
    said = told(stage, who + "-high")

    def leaving():
        return [p["metadata"]["name"] for p in stage.plane.list("Pod", stage.name)
                if p["metadata"].get("deletionTimestamp") and
                p["metadata"]["name"].startswith(who)]
    until(lambda: len(leaving()) >= n_victims)
    going = leaving()
    found = {"said": without_series(said), "going": going,
             "nominee": stage.plane.get("Pod", who + "-high", stage.name)["status"].get(
                 "nominatedNodeName")}
    found["said"].pop("event is named after the pod")
    uids = [p["metadata"]["uid"] for p in stage.plane.list("Pod", stage.name)]
    text = json.dumps(found).replace(high["metadata"]["uid"], "UID").replace(who, "WHO")
    for uid in uids:
        text = text.replace(uid, "UID")
    stage.plane.request("DELETE", "/api/v1/nodes", {"kind": "DeleteOptions", "apiVersion": "v1"})
    return json.loads(text)


def dearest(asked):
    """Leaves the last of the nodes, by name; or does what the pod says."""
    victims = asked["NodeNameToMetaVictims"]
    say = label(asked)
    name = max(victims)
    if say == "dear":
        return {"NodeNameToMetaVictims": {name: victims[name]}}
    return {
        "none": {"NodeNameToMetaVictims": {}},
        "empty": {"NodeNameToMetaVictims": {name: {"Pods": []}}},
        "stranger": {"NodeNameToMetaVictims": {name: {"Pods": [{"UID": "nobody"}]}}},
        "nowhere": {"NodeNameToMetaVictims": {"nowhere": victims[name]}},
        "code": (500, {}),
    }.get(say, {"NodeNameToMetaVictims": victims})


@test
def extenders_choose_victims_as_with_kube_scheduler(stage):
    for name, value in (("high", 1000), ("middle", 500), ("low", 100)):
        stage.plane.create({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
                            "metadata": {"name": name}, "value": value})
    with Extender(preempt=dearest) as extender:
        run_both(stage, extender.config())
        for say in ("all", "dear", "none", "empty", "stranger", "nowhere", "code"):
            chosen = {"all": "WHO-0", "dear": "WHO-1"}.get(say)
            how = {"n_victims": 1 if chosen else 0, "labels": {"say": say}}
            theirs = make_room(stage, "theirs-" + say, "default-scheduler", **how)
            ours = make_room(stage, "ours-" + say, "ours", **how)
            assert ours == theirs, "%s:\n%s\n%s" % (say, ours, theirs)
            assert ours["nominee"] == chosen, ours
        asked = {a["Pod"]["metadata"]["name"]: a for a in extender.asked["preempt"]}
        theirs, ours = asked["theirs-all-high"], asked["ours-all-high"]
        assert set(ours) == set(theirs), (set(ours), set(theirs))
        assert ours["NodeNameToVictims"] is None and len(ours["NodeNameToMetaVictims"]) == 2, ours
    for name in ("high", "middle", "low"):
        stage.plane.delete("PriorityClass", name)


def bare(what):
    """An object without its type, which those in lists lack, and without who wrote which field."""
    meta = {key: value for key, value in what["metadata"].items() if key != "managedFields"}
    return {**{key: value for key, value in what.items() if key not in ("kind", "apiVersion")},
            "metadata": meta}


@test
def extenders_are_shown_whole_objects_as_by_kube_scheduler(stage):
    for name, value in (("high", 1000), ("low", 100)):
        stage.plane.create({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
                            "metadata": {"name": name}, "value": value})
    for number in range(20):
        stage.plane.create(node("n%02d" % number, cpu="2", labels={"number": str(number)}))
    stage.plane.create(node("full", cpu="2", taints=[{"key": "full", "effect": "NoSchedule"}]))
    stage.pod("victim", "nobody", cpu="2", nodeName="full", priorityClassName="low")
    with Extender(filter=lambda asked: {"Nodes": {"items": asked["Nodes"]["items"][3:5]}},
                  prioritize=lambda asked: [{"Host": n["metadata"]["name"], "Score": int(n[
                      "metadata"]["labels"]["number"])} for n in asked["Nodes"]["items"]],
                  preempt=lambda asked: {"NodeNameToMetaVictims": {
                      n: {"Pods": [{"UID": p["metadata"]["uid"]} for p in v["Pods"]]}
                      for n, v in asked["NodeNameToVictims"].items()}}) as extender:
        run_both(stage, extender.config(nodeCacheCapable=False, weight=20))
        both(stage, "p")
        where = stage.wait_bound(3)  # with the victim
        chosen = {}
        for asked in extender.asked["prioritize"]:
            names = sorted(n["metadata"]["name"] for n in asked["Nodes"]["items"])
            assert len(names) == 2 and asked["NodeNames"] is None, asked
            chosen[asked["Pod"]["metadata"]["name"]] = names[1]  # the larger number
        assert {name: where[name] for name in chosen} == chosen, (where, chosen)
        shown = {}
        for asked in extender.asked["filter"]:
            who = asked["Pod"]["metadata"]["name"].partition("-")[0]
            shown[who] = {n["metadata"]["name"]: bare(n) for n in asked["Nodes"]["items"]}
        assert len(shown["ours"]) == 20, sorted(shown["ours"])
        for name, ours in shown["ours"].items():
            theirs = shown["theirs"].get(name)
            assert ours == theirs, "%s\n%s" % (ours, theirs)

        only = {"nodeSelector": {"kubernetes.io/hostname": "full"}, "priorityClassName": "high",
                "tolerations": [{"key": "full", "operator": "Exists"}], "cpu": "1"}
        stage.pod("ours-high", "ours", **only)
        until(lambda: stage.plane.get("Pod", "victim", stage.name)["metadata"].get(
            "deletionTimestamp"))
        asked = extender.asked["preempt"][0]
        assert asked["NodeNameToMetaVictims"] is None, asked
        victims = asked["NodeNameToVictims"]["full"]["Pods"]
        assert [v["metadata"]["name"] for v in victims] == ["victim"], victims
        assert victims[0]["spec"]["nodeName"] == "full", victims
    for name in ("high", "low"):
        stage.plane.delete("PriorityClass", name)


@test
def extenders_are_known_by_their_certificates(stage):
    stage.plane.create(node("a"))
    certs = stage.plane.folder / "certs"
    certificate = (certs / "apiserver.crt", certs / "apiserver.key")
    ca = {"caFile": str(stage.plane.ca)}
    with Extender(certificate, filter=filtered) as extender:
        for name, how, fate in (
                ("trusted", {"tlsConfig": ca}, None),
                ("any", {"enableHTTPS": True}, None),
                ("insecure", {"tlsConfig": {"insecure": True}}, None),
                ("strange", {}, "certificate"),
                ("misnamed", {"tlsConfig": {**ca, "serverName": "elsewhere"}}, "certificate")):
            child = run_ours(stage, extender.config(**how))
            stage.pod(name, "ours")
            if fate:
                said = stage.wait_refused(name)
                assert said["reason"] == "SchedulerError" and fate in said["message"], said
            else:
                stage.plane.wait_for("Pod", lambda p, name=name: p["metadata"]["name"] == name
                                     and bool(p["spec"].get("nodeName")), 1, PATIENCE, stage.name)
            stage.plane.stop(child)
            stage.started.remove(child)


@test
def a_gang_goes_where_extenders_let_each_of_its_members(stage):
    for name in ("n-0", "n-1", "n-2"):
        stage.plane.create(node(name, cpu="4"))
    allowed = {"g-0": ["n-0", "n-1"], "g-1": ["n-1"]}  # by member; others may go nowhere

    def by_name(asked):
        names = allowed.get(asked["Pod"]["metadata"]["name"], [])
        return {"NodeNames": names, "FailedNodes": {n: "not for it" for n in asked["NodeNames"] if n not in names}}

    with Extender(filter=by_name) as extender:
        file = stage.plane.folder / "gang-extender.yaml"
        file.write_text((CONFIG % (stage.plane.kubeconfig("kubenexus"), json.dumps([extender.config()]))).replace(
            "- schedulerName: ours", "- schedulerName: kubenexus-scheduler\n"
            "  plugins: {multiPoint: {enabled: [{name: Coscheduling}]}}"))
        stage.run("--config", file)
        for number in range(2):
            member(stage, "h-%d" % number, "h", 2, cpu="3")  # nobody lets these go anywhere
        refused = stage.wait_refused("h-1")["message"]
        assert "not for it" in refused, refused
        for number in range(2):
            member(stage, "g-%d" % number, "g", 2, cpu="3")
        where = stage.wait_bound(2)
        assert where == {"g-0": "n-0", "g-1": "n-1"}, where
        asked = {a["Pod"]["metadata"]["name"] for a in extender.asked["filter"]}
        assert asked == {"g-0", "g-1", "h-0", "h-1"}, asked
