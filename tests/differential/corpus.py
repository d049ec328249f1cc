"""The stored cases: one file of generated ones per theme, and folders with small ones to read.

    corpus.py record [--themes A,B] [--per-theme N]
                                         ask the oracle anew about all of them, and store its answers;
                                         or only about the generated ones of these themes

Review the difference with git before committing: an answer of kube-scheduler 1.37 does not change by itself.
"""

import argparse
import gzip
import json
import os
import sys

import manifest
from generate import generate
from oracle import HERE, Oracle
from themes import ALL
from verdict import compare, show

GOLDEN = os.path.join(os.path.dirname(HERE), "golden", "explain")
LARGE = 40  # of larger clusters a few are enough


def _file(theme):
    return os.path.join(GOLDEN, theme + ".jsonl.gz")


def generated(theme):
    """The stored cases of a theme, each with what it must be answered under "want"."""
    with gzip.open(_file(theme), "rt", encoding="utf-8") as f:
        return [json.loads(line) for line in f]


def folders():
    """The small cases: as they stand in the file, since people write them too."""
    for name in sorted(os.listdir(GOLDEN)):
        path = os.path.join(GOLDEN, name)
        if not os.path.isdir(path):
            continue
        with open(os.path.join(path, "case.yaml"), encoding="utf-8") as f:
            text = f.read()
        case = {"name": name, "pod": text.split("\n")[0].removeprefix("# target: "), "text": text}
        want = os.path.join(path, "expect.json")
        if os.path.exists(want):
            with open(want, encoding="utf-8") as f:
                case["want"] = json.load(f)
        yield case


def store_folder(case, want):
    path = os.path.join(GOLDEN, case["name"])
    os.makedirs(path, exist_ok=True)
    if "objects" in case:
        with open(os.path.join(path, "case.yaml"), "w", encoding="utf-8") as f:
            f.write(manifest.header(case) + manifest.yaml_documents(case["objects"]))
    with open(os.path.join(path, "expect.json"), "w", encoding="utf-8") as f:
        json.dump(want, f, indent=2, ensure_ascii=False)
        f.write("\n")
    return path


def store_generated(theme, cases):
    os.makedirs(GOLDEN, exist_ok=True)
    with open(_file(theme), "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as f:
        for case in cases:
            f.write(json.dumps(case, separators=(",", ":"), ensure_ascii=False).encode() + b"\n")


def asked(oracle, cases):
    """Cases with answers. Each is asked about twice: what differs then is chance, and no truth to keep."""
    first, second = list(oracle.answers(cases, True)), list(oracle.answers(cases))
    for case, want, again in zip(cases, first, second):
        complaint = [want.get("failed")] + want.pop("invalid", [])
        complaint += [show(d) for d in compare(want, again)]
        if any(complaint):
            raise SystemExit("%s: %s" % (case["name"], "; ".join(filter(None, complaint))))
        yield case, want


def _drawn(theme, count):
    """The first cases of a theme; clusters of 100 nodes would fill the repository, so only one stays."""
    large, seed, out = 0, 0, []
    while len(out) < count:
        seed += 1
        case = generate(theme, seed)
        large += len(case["objects"]) > 4 * LARGE
        if len(case["objects"]) <= 4 * LARGE or large == 1:
            out.append(case)
    return out


def record(per_theme, themes):
    with Oracle() as oracle:
        for theme in themes or ALL:
            answers = asked(oracle, _drawn(theme, per_theme))
            store_generated(theme, [{**case, "want": want} for case, want in answers])
        for case, want in asked(oracle, [] if themes else list(folders())):
            store_folder(case, want)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["record"])
    parser.add_argument("--per-theme", type=int, default=50)
    parser.add_argument("--themes", type=lambda text: text.split(","), default=[])
    options = parser.parse_args()
    record(options.per_theme, options.themes)


if __name__ == "__main__":
    sys.exit(main())
