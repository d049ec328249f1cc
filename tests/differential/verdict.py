"""Two answers about one case: where do they differ?

`want` is kube-scheduler's answer, `got` is that of `kubenexus explain -o json`. What is compared, what
is not and why is told in docs/parity.md.
"""

import collections
import re

# NodeResourcesFit names these in this order; the scalar resources after them stand in a Go map's order.
FIRST_REASONS = ["Too many pods", "Insufficient cpu", "Insufficient memory",
                 "Insufficient ephemeral-storage"]

Difference = collections.namedtuple("Difference", "kind where want got")


def show(difference):
    return "%s%s: kube-scheduler %r, kubenexus %r" % (
        difference.where and difference.where + ": ", difference.kind, difference.want, difference.got)


def _in_order(reasons):
    """Reasons with those that come in any order sorted; the rest stays where it is."""
    if not isinstance(reasons, list):
        return reasons
    head = [r for r in reasons if r in FIRST_REASONS or not r.startswith("Insufficient ")]
    return reasons[:len(head)] + sorted(reasons[len(head):])


def _scores(where, want, got):
    for plugin in sorted({*want, *got}):
        a, b = want.get(plugin), got.get(plugin)
        if a != b:
            yield Difference("scores." + plugin, where, a, b)


def _node(want, got):
    where = want["name"]
    fields = {
        "feasible": want["feasible"],
        "rejectedBy": want["rejectedBy"],
        "code": want["code"],
        "reasons": _in_order(want["reasons"]),
        "total": want["total"],
    }
    for field, value in fields.items():
        mine = _in_order(got[field]) if field == "reasons" else got[field]
        if mine != value or type(mine) is not type(value):
            yield Difference(field, where, value, mine)
    yield from _scores(where, want["scores"], got["scores"])


def _errors(want, got):
    """Two errors need not share their words, but the plugin they blame."""
    if bool(want) != bool(got):
        yield Difference("error", "", want, got)
    for plugin in re.findall(r'plugin "(\w+)"', want or "")[:1]:
        if got and plugin not in got:
            yield Difference("error", "", want, got)


def _in_short(text):
    """A refusal as text; where an error is part of it, its own words are left out."""
    return re.sub(r'(running "\w+" filter plugin): .*', r"\1", text or "", flags=re.DOTALL)


def _outcome(preemption):
    """Without the budget's name, which is ours."""
    if not preemption:
        return preemption
    kept = {key: value for key, value in preemption.items() if key != "pdb"}
    return {**kept, "message": _in_short(preemption["message"])}


def compare(want, got):
    """All differences."""
    try:
        return list(_compare(want, got))
    except (KeyError, TypeError, AttributeError) as e:
        return [Difference("shape", "", "an answer as documented", "%s: %s" % (type(e).__name__, e))]


def _compare(want, got):
    yield from _errors(want.get("error"), got.get("error"))
    if want.get("error") or got.get("error"):
        return
    texts = ["pod", "profile", "filterSummary", "summary", "gated"]
    for field in texts:
        if _in_short(want.get(field)) != _in_short(got.get(field)):
            yield Difference(field, "", want.get(field, ""), got.get(field, ""))
    if [n["name"] for n in want["nodes"]] != [n["name"] for n in got["nodes"]]:
        yield Difference("nodes", "", [n["name"] for n in want["nodes"]],
                         [n["name"] for n in got["nodes"]])
        return
    for a, b in zip(want["nodes"], got["nodes"]):
        yield from _node(a, b)
    if want["wouldChoose"] != got["wouldChoose"]:
        yield Difference("wouldChoose", "", want["wouldChoose"], got["wouldChoose"])
    if _outcome(want.get("preemption")) != _outcome(got.get("preemption")):
        yield Difference("preemption", "", want.get("preemption"), got.get("preemption"))
