"""Which of the files that are there a run takes, and in which order."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from kaireon_dagster.sources.store import Entry

_SECOND_NS: Final = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Selection:
    """Files to load in this order, and older ones that the newest makes superfluous."""

    files: tuple[Entry, ...]
    superseded: tuple[Entry, ...] = ()


def select(entries: Iterable[Entry], ordering: str, max_files: int | None = None) -> Selection:
    """Order the matching files and take as many as the document allows.

    Args:
        entries: all files that match, in listing order.
        ordering: `lexicographic` and `fifo_by_name` go by the bytes of the name, `process_all`
            by listing order; `latest_by_mtime` takes the newest (of equally new ones the last
            by name) and supersedes the rest.
        max_files: files that one run takes; the rest wait. Superseded ones are not counted.
    """
    found = list(entries)
    if ordering == "latest_by_mtime":
        found.sort(key=lambda entry: (entry.mtime_ns, _name_bytes(entry)))
        return Selection(tuple(found[-1:]), tuple(found[:-1]))
    if ordering != "process_all":
        found.sort(key=_name_bytes)
    return Selection(tuple(found[:max_files]))


def is_settled(entry: Entry, min_age_seconds: float, clock_ns: int | None = None) -> bool:
    """Whether a file has not changed for a while, by the store's clock.

    A file whose last change lies in the future, as the clock of another machine may have it,
    counts as settled: it must not hide for ever.
    """
    clock_ns = time.time_ns() if clock_ns is None else clock_ns
    age_ns = clock_ns - entry.changed_ns
    return age_ns < 0 or age_ns >= min_age_seconds * _SECOND_NS


def _name_bytes(entry: Entry) -> bytes:
    return entry.name.encode("utf-8", "surrogateescape")
