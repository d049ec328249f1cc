"""Who calls whom in the engine, read off the objects of a build without LTO: calls through pointers
are not seen, inlined functions are part of those that call them."""

import collections
import pathlib
import re
import subprocess

FOLDER = "core/engine"


def base_of(name):
    """Without what the compiler adds to the name of a part or a copy of a function."""
    return re.sub(r"(\.(cold|part|isra|constprop|lto_priv)(\.\d+)*)+$", "", name)


def sources(root):
    """The name of an object in the archive -> file below the engine's folder."""
    folder = root / "src" / FOLDER
    return {str(path.relative_to(root)).replace("/", "_") + ".o": str(path.relative_to(folder))
            for path in folder.rglob("*.c")}


def read(archive, root):
    """(file, function) -> set of (file, function)."""
    text = subprocess.run(["objdump", "-dr", "--no-show-raw-insn", str(archive)], text=True,
                          capture_output=True, check=True).stdout
    files = sources(root)
    file = function = None
    pending = None  # the target of a call, should no relocation follow
    wanted = collections.defaultdict(set)
    defined = collections.defaultdict(set)
    for line in text.splitlines():
        member = re.match(r"(\S+\.o):\s+file format", line)
        start = re.match(r"[0-9a-f]+ <(.+)>:$", line)
        moved = re.match(r"\s+[0-9a-f]+: R_X86_64_(?:PLT32|PC32)\s+(\S+?)([-+]0x[0-9a-f]+)?$", line)
        if pending and not moved and function:
            wanted[file, function].add(pending)
        call = re.match(r"\s+[0-9a-f]+:\s+(call|jmp|j\w+)\s+[0-9a-f]+ <([^+>]+)(\+0x[0-9a-f]+)?>", line)
        if member:
            file = files.get(pathlib.PurePath(member.group(1)).name)
            function = pending = None
        elif start:
            function, pending = (base_of(start.group(1)) if file else None), None
            if file:
                defined[function].add(file)
        elif pending and moved and function:
            if not moved.group(1).startswith("."):
                wanted[file, function].add(base_of(moved.group(1)))
            pending = None
        else:
            pending = base_of(call.group(2)) if call and function else None
    return resolve(wanted, defined)


def resolve(wanted, defined):
    graph = collections.defaultdict(set)
    for (file, function), names in wanted.items():
        for name in names - {function}:
            if file in defined[name]:
                graph[file, function].add((file, name))
            elif len(defined[name]) == 1:
                graph[file, function].add((next(iter(defined[name])), name))
    return graph


def folded(graph, key):
    """The same between what `key` makes of functions."""
    out = collections.defaultdict(set)
    for one, others in graph.items():
        out[key(one)] |= {key(other) for other in others} - {key(one)}
    return out


def cycles(graph):
    """The groups of those that reach each other, larger than one."""
    def reached(start, edges):
        seen, todo = set(), [start]
        while todo:
            for other in edges.get(todo.pop(), ()):
                if other not in seen:
                    seen.add(other)
                    todo.append(other)
        return seen
    back = collections.defaultdict(set)
    for one, others in graph.items():
        for other in others:
            back[other].add(one)
    found, done = [], set()
    for one in graph:
        if one not in done:
            group = (reached(one, graph) & reached(one, back)) | {one}
            done |= group
            if len(group) > 1:
                found.append(sorted(group))
    return found


def folder_of(file):
    parent = str(pathlib.PurePath(file).parent)
    return FOLDER if parent == "." else f"{FOLDER}/{parent}"
