"""Versions that clash although pip may install them together."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from kaireon_dagster.cli.checks.finding import Finding, ok, problem, warning

_PYTHON: Final = ((3, 10), (3, 13))
_TESTED: Final = {"duckdb": ((1, 5), (2, 0)), "pyarrow": ((18,), None), "sqlglot": ((30,), (30,))}
_LIBRARY_OFFSET: Final = 16
"""dagster 1.13.27 goes with libraries 0.29.27: 13 + 16 = 29."""

_SCHEME: Final = "postgresql+psycopg2"


def check_versions() -> Iterator[Finding]:
    """Check Python, Dagster and its libraries, SQLAlchemy, and the engine's packages."""
    yield _python()
    yield from _dagster()
    yield _sqlalchemy()
    for package, (low, high) in _TESTED.items():
        yield _package(package, low, high)


def _python() -> Finding:
    found = ".".join(str(part) for part in sys.version_info[:3])
    low, high = _PYTHON
    if sys.version_info[:2] > high:
        message = f"{found} is newer than what this release was tested with"
        return warning("python", message, "use Python 3.10 to 3.13 if something fails strangely")
    return ok("python", found) if sys.version_info[:2] >= low else _too_old(found)


def _too_old(found: str) -> Finding:
    return problem("python", f"{found} is too old", "use Python 3.10 or newer")


def _dagster() -> Iterator[Finding]:
    core = _find("dagster")
    if core is None:
        yield problem("dagster", "not installed", "pip install kaireon-dagster")
        return
    yield ok("dagster", core)
    yield _paired("dagster-webserver", core, core)
    yield _paired("dagster-postgres", core, _library_version(core))


def _library_version(core: str) -> str:
    _, minor, patch = [*core.split("."), "0", "0"][:3]
    return f"0.{int(minor) + _LIBRARY_OFFSET}.{patch}"


def _paired(package: str, core: str, wanted: str) -> Finding:
    found = _find(package)
    if found == wanted:
        return ok(package, found)
    said = f"{found or 'not installed'}, and dagster {core} goes with {wanted}"
    return problem(package, said, f"pip install 'dagster=={core}' '{package}=={wanted}'")


def _sqlalchemy() -> Finding:
    found = _find("sqlalchemy") or ""
    if _numbers(found) < (2, 1) or _storage_names_driver():
        return ok("sqlalchemy", found)
    return problem(
        "sqlalchemy",
        f"{found} reads postgresql:// as psycopg 3, which dagster-postgres cannot use",
        f"pip install 'sqlalchemy<2.1', or write scheme: {_SCHEME} into the storage of dagster.yaml",
    )


def _storage_names_driver() -> bool:
    """Whether the instance in use stores nothing in PostgreSQL, or says by which driver."""
    home = os.environ.get("DAGSTER_HOME")
    file = Path(home or ".", "dagster.yaml")
    if not file.is_file():
        return True
    text = file.read_text(encoding="utf-8", errors="replace")
    return not re.search(r"^\s*postgres", text, re.MULTILINE) or _SCHEME in text


def _package(package: str, low: tuple[int, ...], high: tuple[int, ...] | None) -> Finding:
    found = _find(package)
    if found is None:
        return problem(package, "not installed", "pip install kaireon-dagster")
    numbers = _numbers(found)
    if numbers < low:
        wanted = ".".join(str(part) for part in low)
        return problem(package, f"{found} is too old", f"pip install '{package}>={wanted}'")
    if high is not None and numbers[: len(high)] > high:
        tested = ".".join(str(part) for part in high)
        advice = f"pip install '{package}=={tested}.*' if loads fail or differ"
        return warning(package, f"{found} is newer than what this release was tested with", advice)
    return ok(package, found)


def _find(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", text)[:3])
