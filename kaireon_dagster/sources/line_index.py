"""Finding the file and line of a delivered row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from kaireon_dagster.sources.claimed import ClaimedFile

Lines = Callable[[], Iterator[int]]


class LineIndex:
    """Counts delivered rows through the files again, on from the last answer where it can."""

    def __init__(self, files: Iterable[tuple[ClaimedFile, Lines]]) -> None:
        self._files = tuple(files)
        self._reached = -1
        self._last: tuple[ClaimedFile, int] | None = None
        self._walk = self._walk_all()

    def locate(self, ordinal: int) -> tuple[ClaimedFile, int]:
        """Say where the row with this ordinal, from 0, begins.

        Raises:
            IndexError: when there are not so many rows.
        """
        if ordinal < self._reached:
            self._reached, self._walk = -1, self._walk_all()
        while self._last is None or self._reached < ordinal:
            self._last = next(self._walk, None)
            if self._last is None:
                raise IndexError(f"there is no row {ordinal}")
            self._reached += 1
        return self._last

    def _walk_all(self) -> Iterator[tuple[ClaimedFile, int]]:
        for file, lines in self._files:
            for line in lines():
                yield file, line
