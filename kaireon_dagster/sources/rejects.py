"""Records that could not be read."""

from __future__ import annotations

from dataclasses import dataclass

from kaireon_dagster.sources.claimed import ClaimedFile


@dataclass(frozen=True, slots=True)
class Reject:
    """One record that gave no row.

    Attributes:
        file: the file it stands in.
        line: physical line of the file in which it begins, from 1.
        cause: why it could not be read; never quotes it.
        raw: its bytes as they stand in the file, without line end.
    """

    file: ClaimedFile
    line: int
    cause: str
    raw: bytes
