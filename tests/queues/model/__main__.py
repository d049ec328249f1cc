"""The model by itself: python3 tests/queues/model SCENARIO [--config FILE] [--decisions FILE]; prints what -o json has of it."""

import argparse
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import scenario  # noqa: E402
import world  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scenario")
    parser.add_argument("--config")
    parser.add_argument("--decisions", help="file for the lines")
    args = parser.parse_args()
    done = world.simulate(scenario.read(args.scenario), scenario.read_config(args.config))
    if args.decisions:
        with open(args.decisions, "w") as f:
            f.writelines(json.dumps(line) + "\n" for line in done.lines)
    print(json.dumps({"queues": done.rows(done.end), "evictions": done.evictions()}, indent=2))


main()
