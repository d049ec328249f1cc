"""The oracle as a function: cases in, kube-scheduler's answers out."""

import json
import os
import subprocess
import threading

from manifest import render

HERE = os.path.dirname(os.path.abspath(__file__))


class NoOracle(Exception):
    """It cannot be built here; the text says why."""


def program():
    """The oracle's path, built now if need be."""
    if os.environ.get("ORACLE"):
        return os.environ["ORACLE"]
    built = subprocess.run([os.path.join(HERE, "build-oracle")], stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True, check=False)
    if built.returncode == 77:
        raise NoOracle(built.stderr.strip().removeprefix("build-oracle: "))
    if built.returncode != 0:
        raise SystemExit("build-oracle failed:\n" + built.stderr)
    return built.stdout.strip()


class Oracle:
    """One running oracle; it answers in the order it is asked."""

    def __init__(self, jobs=1):
        # Cases are short and memory is cheap: collecting garbage would be a third of its work.
        self.process = subprocess.Popen([program(), "serve", "-j", str(jobs)], text=True,
                                        env={"GOGC": "1600", **os.environ},
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def _ask(self, cases, validate):
        try:
            for case in cases:
                question = {"pod": case["pod"], "manifest": render(case), "validate": validate}
                self.process.stdin.write(json.dumps(question) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # the reader of the answers says so

    def answers(self, cases, validate=False):
        """An answer for each case. Questions are written while answers are read: pipes are short."""
        cases = list(cases)
        asker = threading.Thread(target=self._ask, args=(cases, validate))
        asker.start()
        for _ in cases:
            line = self.process.stdout.readline()
            if not line:
                raise SystemExit("the oracle died")
            yield json.loads(line)
        asker.join()

    def answer(self, case, validate=False):
        return list(self.answers([case], validate))[0]
