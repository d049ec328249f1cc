"""The same quantities in other words. Text that no API server returns, since it stores the shortest form; but
files have it, and Go reads what it means from how it is written: "2000m" is no integer, "0.5Gi" is a decimal
without limit."""

from fractions import Fraction
import re

LISTS = {"requests", "limits", "capacity", "allocatable", "overhead", "allocatedResources", "podFixed"}
_SUFFIXES = {"": 1, "n": Fraction(1, 10**9), "u": Fraction(1, 10**6), "m": Fraction(1, 1000), "k": 10**3, "M": 10**6,
             "G": 10**9, "T": 10**12, "P": 10**15, "E": 10**18, "Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30,
             "Ti": 1 << 40, "Pi": 1 << 50, "Ei": 1 << 60}
_TEXT = re.compile(r"([+-]?\d*\.?\d*)(?:([eE][+-]?\d+)|([A-Za-z]*))\Z")


def value(text):
    """What it means, in units; None if it is no such text, or finer than a milli: that is stored rounded up."""
    found = _TEXT.match(text)
    if not found or not any(c.isdigit() for c in found[1]) or (found[3] or "") not in _SUFFIXES:
        return None
    factor = Fraction(10) ** int(found[2][1:]) if found[2] else _SUFFIXES[found[3] or ""]
    units = Fraction(found[1] + ("0" if found[1].endswith(".") else "")) * factor
    return units if (units * 1000).denominator == 1 and 0 <= units < 1 << 62 else None


def _in(units, size):
    """As a decimal number of them; None if it has too many digits."""
    quarters = units * 4 / size
    return None if quarters.denominator != 1 or not quarters else "%.2f" % float(quarters / 4)


def _forms(text, units):
    whole = units.denominator == 1
    out = ["%dm" % (units * 1000), "%dE-3" % (units * 1000), "%de-3" % (units * 1000), "0" + text.lstrip("+")]
    if not text.startswith(("+", "-")):
        out.append("+" + text)
    if whole:
        out += ["%d" % units, "%d.000" % units, "%de0" % units, "%d." % units, "%dE0" % units, "%d.0" % units]
        out += ["%d%s" % (units // size, suffix) for suffix, size in _SUFFIXES.items()
                if size > 1 and units and units % size == 0]
        out += [_in(units, _SUFFIXES[suffix]) + suffix for suffix in ("k", "M", "G", "Ki", "Mi", "Gi", "Ti")
                if _in(units, _SUFFIXES[suffix])]
    return out


def respell(rng, text):
    units = value(text)
    return text if units is None else rng.choice(_forms(text, units))


def respell_all(rng, o, chance):
    """Some of the quantities in an object's lists."""
    for key, below in o.items() if isinstance(o, dict) else enumerate(o):
        if key in LISTS and isinstance(below, dict):
            for name, amount in below.items():
                if isinstance(amount, (str, int)) and not isinstance(amount, bool) and rng.chance(chance):
                    below[name] = respell(rng, str(amount))
        if isinstance(below, (dict, list)):
            respell_all(rng, below, chance)
