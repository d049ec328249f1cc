"""Does the comparer notice? Mistakes are planted, one of each kind, and each must be named."""

import copy
import json
import os
import stat
import tempfile

from compare import differences, explain
from generate import generate
from shrink import shrink
from themes import ALL
from verdict import compare


def _score(raw, normalized, weighted):
    return {"raw": raw, "normalized": normalized, "weighted": weighted}


def _node(name, **scores):
    total = sum(s["weighted"] for s in scores.values())
    return {"name": name, "feasible": True, "rejectedBy": None, "code": "Success", "reasons": [],
            "scores": scores, "total": total}


ZERO = _score(0, 0, 0)
FULL = ["Too many pods", "Insufficient cpu", "Insufficient a.example/x", "Insufficient b.example/y"]

FITS = {
    "pod": "default/a", "profile": "default-scheduler",
    "nodes": [
        _node("n1", NodeResourcesFit=_score(61, 61, 61), TaintToleration=_score(1, 50, 150),
              VolumeBinding=ZERO),
        _node("n2", NodeResourcesFit=_score(60, 60, 60), TaintToleration=_score(0, 100, 300),
              VolumeBinding=ZERO),
        {"name": "n3", "feasible": False, "rejectedBy": "NodeResourcesFit", "code": "Unschedulable",
         "reasons": FULL, "scores": {}, "total": 0}],
    "summary": "", "filterSummary": "", "wouldChoose": ["n2"],
}
REFUSED = {
    "pod": "default/a", "profile": "default-scheduler", "nodes": [FITS["nodes"][2]], "wouldChoose": [],
    "filterSummary": "0/1 nodes are available: 1 Insufficient cpu.",
    "summary": "0/1 nodes are available: 1 Insufficient cpu. preemption: …",
    "preemption": {"nominatedNode": "n3", "victims": ["default/b"], "pdbViolations": 0,
                   "ties": ["n3"], "candidates": {"n3": ["default/b"]}, "message": "…"},
}
GATED = {**REFUSED, "gated": "SchedulingGates"}
BROKEN = {"pod": "default/a", "profile": "default-scheduler", "nodes": [], "wouldChoose": [],
          "summary": "", "filterSummary": "", "error": 'running PreScore plugin "NodeAffinity": no number'}

# (the answer, what is put where, the kind of difference that must be named)
PLANTED = [
    (FITS, ["pod"], "default/b", "pod"),
    (FITS, ["profile"], "kubenexus-scheduler", "profile"),
    (FITS, ["nodes", 0, "name"], "n9", "nodes"),
    (FITS, ["nodes"], FITS["nodes"][:2], "nodes"),
    (FITS, ["nodes"], FITS["nodes"][::-1], "nodes"),
    (FITS, ["nodes", 2, "feasible"], True, "feasible"),
    (FITS, ["nodes", 0, "feasible"], 1, "feasible"),
    (FITS, ["nodes", 2, "rejectedBy"], "NodePorts", "rejectedBy"),
    (FITS, ["nodes", 0, "rejectedBy"], "", "rejectedBy"),
    (FITS, ["nodes", 2, "code"], "UnschedulableAndUnresolvable", "code"),
    (FITS, ["nodes", 2, "reasons"], FULL[:3], "reasons"),
    (FITS, ["nodes", 2, "reasons"], [FULL[1], FULL[0], *FULL[2:]], "reasons"),
    (FITS, ["nodes", 2, "reasons"], [FULL[0], FULL[2], FULL[1], FULL[3]], "reasons"),
    (FITS, ["nodes", 0, "scores", "NodeResourcesFit", "raw"], 62, "scores.NodeResourcesFit"),
    (FITS, ["nodes", 0, "scores", "NodeResourcesFit", "normalized"], 62, "scores.NodeResourcesFit"),
    (FITS, ["nodes", 0, "scores", "NodeResourcesFit", "weighted"], 62, "scores.NodeResourcesFit"),
    (FITS, ["nodes", 0, "scores", "NodeResourcesFit"], None, "scores.NodeResourcesFit"),
    (FITS, ["nodes", 0, "scores", "ImageLocality"], ZERO, "scores.ImageLocality"),
    (FITS, ["nodes", 0, "scores", "VolumeBinding"], _score(1, 1, 1), "scores.VolumeBinding"),
    (FITS, ["nodes", 2, "scores", "NodeResourcesFit"], ZERO, "scores.NodeResourcesFit"),
    (FITS, ["nodes", 1, "total"], 361, "total"),
    (FITS, ["nodes", 1, "total"], 360.0, "total"),
    (FITS, ["wouldChoose"], ["n1"], "wouldChoose"),
    (FITS, ["wouldChoose"], ["n1", "n2"], "wouldChoose"),
    (FITS, ["error"], "too hard", "error"),
    (FITS, ["gated"], "SchedulingGates", "gated"),
    (FITS, ["nodes", 1], {"name": "n2"}, "shape"),
    (REFUSED, ["filterSummary"], "0/1 nodes are available: 1 Insufficient memory.", "filterSummary"),
    (REFUSED, ["summary"], "0/1 nodes are available.", "summary"),
    (REFUSED, ["preemption", "victims"], [], "preemption"),
    (REFUSED, ["preemption"], None, "preemption"),
    (GATED, ["gated"], "", "gated"),
    (BROKEN, ["error"], "", "error"),
    (BROKEN, ["error"], "TaintToleration: no number", "error"),
]


def _planted(answer, path, value):
    answer = copy.deepcopy(answer)
    at = answer
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return answer


def test_equal_answers_are_equal():
    for answer in (FITS, REFUSED, GATED, BROKEN):
        assert compare(answer, copy.deepcopy(answer)) == []


def test_each_planted_mistake_is_named():
    for answer, path, value, kind in PLANTED:
        kinds = [d.kind for d in compare(answer, _planted(answer, path, value))]
        assert kinds == [kind], "%s = %r is seen as %s, not %s" % (path, value, kinds, kind)


def test_what_we_say_besides_is_no_difference():
    assert compare(REFUSED, _planted(REFUSED, ["preemption", "pdb"], "default/keep")) == []


def test_scalar_resources_come_in_any_order():
    swapped = FULL[:2] + [FULL[3], FULL[2]]
    assert compare(FITS, _planted(FITS, ["nodes", 2, "reasons"], swapped)) == []


def test_errors_need_the_same_plugin_not_the_same_words():
    assert compare(BROKEN, {**BROKEN, "nodes": None, "error": "NodeAffinity: 1.5 is no integer"}) == []


def test_a_program_that_gives_no_answer_differs():
    case = {"name": "x", "pod": "default/a", "objects": []}
    for script in ("exit 2", "kill -9 $$", "echo not json", "echo '{}'; exit 3", "true"):
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "kubenexus")
            with open(program, "w", encoding="utf-8") as f:
                f.write("#!/bin/sh\n%s\n" % script)
            os.chmod(program, stat.S_IRWXU)
            assert [d.kind for d in differences(FITS, explain(case, program))] == ["failed"], script
    assert [d.kind for d in differences(FITS, explain(case, "/no/such/program"))] == ["failed"]


def test_a_program_that_answers_is_believed():
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "kubenexus")
        with open(program, "w", encoding="utf-8") as f:
            f.write("#!/bin/sh\ncat <<'END'\n%s\nEND\nexit 1\n" % json.dumps(REFUSED))
        os.chmod(program, stat.S_IRWXU)
        case = {"name": "x", "pod": "default/a", "objects": []}
        assert differences(REFUSED, explain(case, program)) == []


def test_shrinking_keeps_what_matters_and_little_else():
    case = generate("mixed", 3)

    def still(smaller):
        target = [o for o in smaller["objects"] if o["metadata"].get("name") == "target"]
        nodes = [o for o in smaller["objects"] if o["kind"] == "Node"]
        return bool(target and "containers" in target[0].get("spec", {}) and len(nodes) >= 2)

    small = shrink(case, still)
    assert still(small)
    assert len(small["objects"]) == 3
    assert [o["spec"] for o in small["objects"] if o["kind"] == "Pod"] == [{"containers": []}]


def test_the_same_seed_gives_the_same_case():
    for theme in ALL:
        assert generate(theme, 7) == generate(theme, 7)
        assert generate(theme, 7)["objects"] != generate(theme, 8)["objects"]


TESTS = {name[len("test_"):].replace("_", " "): run
         for name, run in list(globals().items()) if name.startswith("test_")}
