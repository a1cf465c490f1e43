"""What claiming asks of a file store; one small adapter per kind of store."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, Protocol

from kaireon_dagster.sources.claimed import ClaimedFile


@dataclass(frozen=True, slots=True)
class Entry:
    """One file that a store lists.

    Attributes:
        name: its name without folder.
        location: where it is, in the store's own spelling.
        size: bytes.
        mtime_ns: modification time that its writer gave it, in nanoseconds since 1970.
        changed_ns: when its content last changed by the store's own clock.
    """

    name: str
    location: str
    size: int
    mtime_ns: int
    changed_ns: int


class Store(Protocol):
    """A folder of files, and the folders below it that files are moved through.

    Folders are given relative to the source's path, with date tokens already written.
    """

    def list(self) -> Iterator[Entry]:
        """Yield the regular files that lie directly in the source's path, in the store's order."""

    def folders(self, template: str) -> Iterator[str]:
        """Yield the existing folders that a template with date tokens can stand for."""

    def owners(self, folder: str) -> Iterator[str]:
        """Yield the names of the folders below a folder; none if it does not exist."""

    def held(self, folder: str) -> Iterator[Entry]:
        """Yield the files below a folder, at any depth; none if it does not exist."""

    def claim(self, entry: Entry, folder: str) -> ClaimedFile | None:
        """Move a file into a folder; None when another got it, or the name is taken there.

        A file is moved by exactly one of any number of callers, whole or not at all. One that
        is in the folder already counts as moved.
        """

    def in_place(self, entry: Entry) -> ClaimedFile:
        """Describe a file that stays where it is."""

    def archive(self, file: ClaimedFile, folder: str) -> str | None:
        """Move a claimed file into a folder and say where it is; None when it was moved before.

        Nothing is overwritten: where the name is taken, a number goes before the suffix. The
        folders that the move leaves empty, of the source and of the run, are removed.
        """

    def discard(self, folder: str) -> None:
        """Remove a folder and those below it as far as they are empty."""

    def open(self, file: ClaimedFile) -> BinaryIO:
        """Open a claimed file for reading.

        Raises:
            FileChanged: when it is not as it was when it was claimed.
        """
