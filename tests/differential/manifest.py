"""Objects as text: the spellings in which `kubectl get`, people and programs hand them over.

Stdlib has no YAML, and none is needed: what is written here is a small, certain part of it.
"""

import json
import re

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*\Z")
_RESERVED = {"true", "false", "yes", "no", "on", "off", "y", "n", "null"}


def _scalar(value):
    if isinstance(value, str) and _PLAIN.match(value) and value.lower() not in _RESERVED:
        return value
    return json.dumps(value)


def _write(out, lead, value, pad):
    """Adds the lines of one value, none of them closed by a newline; the first begins with `lead`, which
    holds what stands before the value on its line, the others with `pad`."""
    if isinstance(value, dict) and value:
        for key, item in value.items():
            head = lead + _scalar(key) + ":"
            if isinstance(item, (dict, list)) and item:
                out.append(head)
                _write(out, pad + "  ", item, pad + "  ")
            else:
                out.append(head + " " + _scalar(item))
            lead = pad
    elif isinstance(value, list) and value:
        for item in value:
            _write(out, lead + "- ", item, pad + "  ")
            lead = pad
    else:
        out.append(lead + _scalar(value))


def to_yaml(value):
    out = []
    _write(out, "", value, "")
    return "\n".join(out) + "\n"


def yaml_documents(objects):
    return "---\n".join(to_yaml(o) for o in objects)


def json_documents(objects):
    return "".join("---\n" + json.dumps(o) + "\n" for o in objects)


def json_list(objects):
    """As kubectl prints it; long ones, for which that takes long, on one line."""
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": objects},
                      indent=4 if len(objects) < 20 else None) + "\n"


def yaml_list(objects):
    return to_yaml({"apiVersion": "v1", "kind": "List", "items": objects})


SPELLINGS = [yaml_documents, json_documents, json_list, yaml_list]


def render(case):
    """One case as text: its own, or else a spelling picked by its name, so that all of them are met."""
    if "text" in case:
        return case["text"]
    return SPELLINGS[sum(case["name"].encode()) % len(SPELLINGS)](case["objects"])


def header(case):
    """The first line of a stored case: whom it asks about."""
    return "# target: %s\n" % case["pod"]
