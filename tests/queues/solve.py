"""One scenario, solved by the model or by the product: the lines of --decisions, `queues` and `evictions`."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE / "model"))

import scenario  # noqa: E402
import world  # noqa: E402

BUILD = pathlib.Path(os.environ.get("KUBENEXUS_BUILD", "build"))
BINARY = ROOT / BUILD / "kubenexus"


class Result:
    def __init__(self, lines, queues, evictions):
        self.lines, self.queues, self.evictions = lines, queues, evictions

    def of(self, kind):
        return [line for line in self.lines if kind in line]

    def starts(self):
        return self.of("start")

    def refused(self, unit):
        """What it was told last: rule, at."""
        told = [(line["refuse"], line.get("at")) for line in self.of("refuse") if line["unit"] == unit]
        return told[-1] if told else None

    def victims(self):
        return [victim for line in self.starts() for victim in line.get("victims", [])]

    def row(self, queue, resource):
        nothing = dict.fromkeys(("guaranteed", "entitled", "used", "borrowed", "lent", "meanUsed"), 0)
        return self.queues.get(queue, {}).get(resource, nothing)


def by_model(path, config):
    done = world.simulate(scenario.read(path), scenario.read_config(config))
    return Result(done.lines, done.rows(done.end), done.evictions())


def by_product(path, config, limit_s=60):
    with tempfile.NamedTemporaryFile(suffix=".json") as lines:
        command = [BINARY, "simulate", path, "--decisions", lines.name, "-o", "json", "--no-host", "--quiet"]
        command += ["--config", config] if config else []
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit_s, check=False)
        if done.returncode:
            raise RuntimeError(f"{' '.join(map(str, command))}: exit code {done.returncode}: {done.stderr.strip()[-800:]}")
        printed = json.loads(done.stdout)
        told = [json.loads(line) for line in pathlib.Path(lines.name).read_text().splitlines()]
    return Result(told, printed.get("queues", {}), printed.get("evictions", {}))


def solve(solver, document, config=None):
    """`document`: a scenario; `config`: a configuration, or None."""
    with tempfile.TemporaryDirectory() as folder:
        path, config_path = pathlib.Path(folder, "scenario.yaml"), pathlib.Path(folder, "config.yaml")
        path.write_text(json.dumps(document))
        if config:
            config_path.write_text(json.dumps(config))
        return solver(path, config_path if config else None)
