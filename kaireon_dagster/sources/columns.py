"""The names that columns of a source may have."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from kaireon_dagster.sources.faults import HeaderRefused

RESERVED_PREFIX: Final = "_flow_"
LONGEST_NAME: Final = 63
"""Bytes of the longest name that PostgreSQL keeps whole."""


def check_names(file: str, names: Sequence[str]) -> None:
    """Check that all names of a header can be columns side by side.

    Names are kept exactly as written: spaces around them stay, and two spellings of one accented
    letter are two names.

    Raises:
        HeaderRefused: naming every column that cannot be used, and its position from 1.
    """
    problems = [*_find_unusable(names), *_find_twins(names)]
    if problems:
        raise HeaderRefused(file, tuple(problems))


def merge_names(headers: Iterable[tuple[str, Sequence[str]]]) -> tuple[str, ...]:
    """Merge the columns of several files by name, in the order in which they first appear.

    Args:
        headers: for each file its name and its columns.

    Raises:
        HeaderRefused: when names of two files are equal but for letter case.
    """
    seen: dict[str, tuple[str, str]] = {}
    for file, names in headers:
        for name in names:
            known, where = seen.setdefault(name.lower(), (name, file))
            if known != name:
                raise HeaderRefused(
                    file, (f"{name!r} differs from {known!r} of {where} only in letter case",)
                )
    return tuple(name for name, _ in seen.values())


def _find_unusable(names: Sequence[str]) -> Iterator[str]:
    for position, name in enumerate(names, 1):
        if not name.strip():
            yield f"column {position} has no name"
        elif name.lower().startswith(RESERVED_PREFIX):
            yield f"column {position} {name!r} begins with {RESERVED_PREFIX!r}, which is reserved"
        elif len(name.encode("utf-8")) > LONGEST_NAME:
            yield f"column {position} {name!r} is longer than {LONGEST_NAME} bytes"


def _find_twins(names: Sequence[str]) -> Iterator[str]:
    places: dict[str, list[int]] = defaultdict(list)
    for position, name in enumerate(names, 1):
        if name.strip():
            places[name.lower()].append(position)
    for positions in places.values():
        if len(positions) > 1:
            spelled = ", ".join(f"{position} {names[position - 1]!r}" for position in positions)
            yield f"columns {spelled} have one name, letter case aside"
