"""Make a case small while it still shows what it shows: fewer objects first, then fewer fields."""

import copy

KEPT = {("apiVersion",), ("kind",), ("metadata",), ("metadata", "name"), ("metadata", "namespace")}


def _fewer_objects(case, still):
    step = max(1, len(case["objects"]) // 2)
    while True:
        at = 0
        while at < len(case["objects"]):
            fewer = {**case, "objects": case["objects"][:at] + case["objects"][at + step:]}
            if still(fewer):
                case = fewer
            else:
                at += step
        if step == 1:
            return case
        step //= 2


def _paths(value, path=()):
    """Every field and item below `value`, outer ones first, later items before earlier ones."""
    if isinstance(value, dict):
        below = list(value.items())
    elif isinstance(value, list):
        below = list(enumerate(value))[::-1]
    else:
        return
    for key, _ in below:
        yield path + (key,)
    for key, item in below:
        yield from _paths(item, path + (key,))


def _without(value, path):
    value = copy.deepcopy(value)
    at = value
    for key in path[:-1]:
        at = at[key]
    del at[path[-1]]
    return value


def _reaches(value, path):
    for key in path:
        if isinstance(value, list) and not (isinstance(key, int) and key < len(value)):
            return False
        if not isinstance(value, (dict, list)) or (isinstance(value, dict) and key not in value):
            return False
        value = value[key]
    return True


def _fewer_fields(case, still):
    for i in range(len(case["objects"])):
        for path in list(_paths(case["objects"][i])):
            if path in KEPT or not _reaches(case["objects"][i], path):
                continue
            objects = list(case["objects"])
            objects[i] = _without(objects[i], path)
            fewer = {**case, "objects": objects}
            if still(fewer):
                case = fewer
    return case


def shrink(case, still):
    """The smallest case found for which `still(case)` holds; it holds for the one given."""
    while True:
        before = case["objects"]
        case = _fewer_fields(_fewer_objects(case, still), still)
        if case["objects"] == before:
            return case
