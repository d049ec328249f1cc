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


def _block(value, indent):
    """The lines of one value, none of them closed by a newline."""
    pad = "  " * indent
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from _entry(pad + _scalar(key) + ":", item, indent)
    elif isinstance(value, list) and value:
        for item in value:
            lines = list(_block(item, indent + 1))
            yield pad + "- " + lines[0].lstrip()
            yield from lines[1:]
    else:
        yield pad + _scalar(value)


def _entry(head, item, indent):
    if isinstance(item, (dict, list)) and item:
        yield head
        yield from _block(item, indent + 1)
    else:
        yield head + " " + _scalar(item)


def to_yaml(value):
    return "\n".join(_block(value, 0)) + "\n"


def yaml_documents(objects):
    return "---\n".join(to_yaml(o) for o in objects)


def json_documents(objects):
    return "".join("---\n" + json.dumps(o) + "\n" for o in objects)


def json_list(objects):
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}, indent=4) + "\n"


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
