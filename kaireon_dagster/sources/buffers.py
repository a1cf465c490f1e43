"""The size of DuckDB's read buffers for a file."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path


def find_buffer_size(paths: Iterable[Path], least: int) -> int:
    """Find a size at which no buffer of any of the files begins or ends inside a CRLF.

    DuckDB takes the LF for data when a wrong record ends where a buffer does.

    Args:
        paths: the files, each read from its start in buffers of one size.
        least: bytes of a buffer at least.
    """
    found = tuple(paths)
    size = least
    while not all(_suits(path, size) for path in found):
        size += 1
    return size


def _suits(path: Path, size: int) -> bool:
    with path.open("rb") as file:
        end = path.stat().st_size
        edges = (os.pread(file.fileno(), 3, edge - 1) for edge in range(size, end, size))
        return all(b"\r\n" not in edge for edge in edges)
