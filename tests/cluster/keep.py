"""A process that may have only so much memory, as kubelet keeps a container to its limit."""

import os
import pathlib
import re
import secrets

ROOT = pathlib.Path(__file__).resolve().parents[2]
UNITS = {"": 1, "k": 1000, "M": 1000 ** 2, "G": 1000 ** 3, "Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30}
GROUPS = pathlib.Path("/sys/fs/cgroup")


def limit_of_manifest():
    """Bytes that deploy/deployment.yaml allows the scheduler."""
    found = re.findall(r"limits: *\{[^}]*memory: *(\d+)([A-Za-z]*)", (ROOT / "deploy/deployment.yaml").read_text())
    assert len(found) == 1, found
    return int(found[0][0]) * UNITS[found[0][1]]


def own_group(controllers):
    """The path of this process in the hierarchy of these controllers."""
    for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
        _, names, path = line.split(":", 2)
        if names.split(",") == controllers:
            return path.lstrip("/")
    return ""


def new_group(limit):
    """A control group with this limit, or None where none may be made."""
    name = "kubenexus-" + secrets.token_hex(6)
    for parent, file in ((GROUPS / "memory" / own_group(["memory"]), "memory.limit_in_bytes"),
                         (GROUPS, "memory.max")):
        folder = parent / name
        try:
            folder.mkdir()
        except OSError:
            continue
        try:
            (folder / file).write_text(str(limit))
            return folder
        except OSError:  # the controller is not to be had here
            folder.rmdir()
    return None


class Keeper:
    """`command` in front of a program's keeps it to the limit: by a control group, or, where
    none may be made, by a limit on its data."""

    def __init__(self, limit=None):
        self.limit = limit or limit_of_manifest()
        self.group = new_group(self.limit) if os.geteuid() == 0 else None
        if self.group:
            self.command = ("sh", "-c", 'echo $$ >"$0" && exec "$@"', self.group / "cgroup.procs")
        else:
            self.command = ("prlimit", "--data=%d" % self.limit)

    def close(self):
        """When the program has ended."""
        if self.group:
            self.group.rmdir()
