"""Tests of a script, as TAP: a function each, whose name is the rule it checks.

    from tap import report, test

    @test
    def water_is_wet():
        assert water.is_wet, water      # or: return what is wrong, a line each

    raise SystemExit(report("nature."))
"""

LINES_MOST = 20  # of what is wrong, in one test
tests = []


class Skip(Exception):
    """The test cannot be done here."""


def test(check):
    tests.append(check)
    return check


def fate(check, arguments):
    """What is wrong, a line each; and a note."""
    try:
        return check(*arguments) or [], ""
    except Skip as why:
        return [], f" # SKIP {why}"
    except Exception as e:  # whatever it is, the next test has its turn
        return [f"{type(e).__name__}: {e}"], ""


def report(prefix, *arguments):
    """Runs them all, each with these arguments; the exit code. Behind a blank, names are words."""
    failed = 0
    print(f"1..{len(tests)}", flush=True)
    for number, check in enumerate(tests, 1):
        wrong, note = fate(check, arguments)
        name = check.__name__.replace("_", " ") if prefix.endswith(" ") else check.__name__
        failed += bool(wrong)
        print(f"{'not ' if wrong else ''}ok {number} - {prefix}{name}{note}")
        for line in wrong[:LINES_MOST]:
            print("#", str(line).replace("\n", "\n# "), flush=True)
    return 1 if failed else 0
