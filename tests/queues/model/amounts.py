"""Amounts as Q9 counts them: cpu and accelerators in thousandths, all else whole; always integers."""

import re
from fractions import Fraction

SUFFIXES = {
    "": 1, "m": Fraction(1, 1000), "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15,
    "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50,
}
ACCELERATORS = ("nvidia.com/gpu", "nvidia.com/mig-", "amd.com/gpu", "intel.com/gpu", "habana.ai/gaudi", "google.com/tpu")
TIMES = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}


def is_accelerator(resource):
    return resource.startswith(ACCELERATORS)


def amount(resource, quantity):
    """amount("cpu", "500m") == 500; amount("memory", "1Gi") == 2**30"""
    number, suffix = re.fullmatch(r"([0-9.]+)([a-zA-Z]*)", str(quantity)).groups()
    scale = 1000 if resource == "cpu" or is_accelerator(resource) else 1
    exact = Fraction(number) * SUFFIXES[suffix] * scale
    return -(-exact.numerator // exact.denominator)  # a part of a unit counts as one


def amounts(quantities):
    return {r: amount(r, q) for r, q in (quantities or {}).items()}


def milliseconds(text):
    """milliseconds("1m30s") == 90_000; None for none."""
    if text is None:
        return None
    parts = re.findall(r"([0-9.]+)(ms|s|m|h|d)", str(text))
    return int(sum(Fraction(number) * TIMES[unit] for number, unit in parts))


def times(ask, n):
    return {r: a * n for r, a in ask.items()}


def add(into, ask, sign=1):
    for r, a in ask.items():
        into[r] = into.get(r, 0) + sign * a
    return into
