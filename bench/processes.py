"""Processes and what they cost."""

import json
import pathlib
import subprocess
import threading
import time


def cpu_s(pid):
    """Of all threads, in nanoseconds' resolution."""
    total = 0
    for task in pathlib.Path("/proc/%d/task" % pid).iterdir():
        total += int((task / "schedstat").read_text().split()[0])
    return total / 1e9


def memory(pid):
    """(resident, private, most resident) in MB of 2^20 bytes."""
    fields = dict(line.split(":", 1) for line in
                  pathlib.Path("/proc/%d/status" % pid).read_text().splitlines())
    return tuple(int(fields[name].split()[0]) / 1024 for name in ("VmRSS", "RssAnon", "VmHWM"))


class Meter:
    """Looks at a process 20 times a second: `cpu` seconds so far, and memory."""

    def __init__(self, pid):
        self.pid, self.cpu, self.peak_private = pid, 0.0, 0.0
        self.rss = self.private = self.peak_rss = 0.0
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self.look()
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()

    def look(self):
        try:
            self.cpu = cpu_s(self.pid)
            self.rss, self.private, self.peak_rss = memory(self.pid)
            self.peak_private = max(self.peak_private, self.private)
        except (OSError, KeyError):
            pass  # it has ended

    def _run(self):
        while not self.ended.wait(0.05):
            self.look()


class Observer:
    """Sees when pods are bound: the same for all that bind, so that its cost is the same, too."""

    def __init__(self, client, kubeconfig, pods, say):
        self.pods, self.say, self.times, self.begun = pods, say, None, threading.Event()
        self.child = subprocess.Popen([client, "watch", kubeconfig, str(pods)], text=True,
                                      stdout=subprocess.PIPE)
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()
        if not self.begun.wait(60):
            raise RuntimeError("the watch of pods does not begin")

    def _read(self):
        for text in self.child.stdout:
            if text.startswith("{"):
                self.times = json.loads(text)
            elif text.startswith("bound"):
                self.say("%s of %d bound" % (text.split()[1], self.pods))
            else:
                self.begun.set()

    def wait(self, timeout):
        """The times of the first and the last binding."""
        self.thread.join(timeout)
        self.child.kill()
        self.child.wait()
        if not self.times:
            raise RuntimeError("not all pods are bound after %d s" % timeout)
        return self.times


def ask(client, what, kubeconfig, *how, text=None):
    """Runs a program of bench-client; what it says."""
    done = subprocess.run([client, what, kubeconfig, *map(str, how)], input=text, text=True,
                          stdout=subprocess.PIPE, check=True)
    said = json.loads(done.stdout)
    if said.get("refused"):
        raise RuntimeError("%d requests were refused" % said["refused"])
    return said


def until(holds, timeout, what):
    deadline = time.monotonic() + timeout
    while not (held := holds()):
        if time.monotonic() > deadline:
            raise RuntimeError("not within %d s: %s" % (timeout, what))
        time.sleep(0.05)
    return held
