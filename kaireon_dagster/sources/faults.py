"""Errors of finding, claiming and reading source files.

They name sources, files, lines and columns, never a value out of a row.
"""

from __future__ import annotations

from kaireon_dagster.errors import NotYetRunnable, Terminal, Transient


class SourceNotRunnable(NotYetRunnable):
    """A source whose connector or format this release cannot read."""

    def __init__(self, node: str, feature: str) -> None:
        super().__init__("", node, feature)
        self.args = (node, feature)

    def __str__(self) -> str:
        return f"source {self.node!r}: {self.feature} cannot be read in this release"


class FilesNotThere(Transient):
    """No file has arrived yet, and the wait policy allows another look.

    Attributes:
        source: id of the source node.
        attempt: how many looks were taken before this one.
        wait_seconds: how long to wait before the next.
    """

    def __init__(self, source: str, attempt: int, wait_seconds: float) -> None:
        super().__init__(source, attempt, wait_seconds)
        self.source = source
        self.attempt = attempt
        self.wait_seconds = wait_seconds

    def __str__(self) -> str:
        return (
            f"source {self.source!r}: no file matches yet (look {self.attempt + 1}); "
            f"next look in {self.wait_seconds:g} seconds"
        )


class DeadlineMissed(Terminal):
    """No file had arrived at the last look, and the document says that this fails the run."""

    def __init__(self, source: str, folder: str, pattern: str) -> None:
        super().__init__(source, folder, pattern)
        self.source = source
        self.folder = folder
        self.pattern = pattern

    def __str__(self) -> str:
        return (
            f"source {self.source!r}: file arrival deadline missed: no file in {self.folder!r} "
            f"matches {self.pattern!r}; deliver the file and run again, or set "
            "waitPolicy.onMissAction to 'skip' or 'alert'"
        )


class FolderUnusable(Terminal):
    """A source folder that is missing, is no folder, or may not be read."""

    def __init__(self, folder: str, reason: str) -> None:
        super().__init__(folder, reason)
        self.folder = folder
        self.reason = reason

    def __str__(self) -> str:
        return f"folder {self.folder!r} cannot be used: {self.reason}"


class FolderRefused(Terminal):
    """A staging, success or failure folder that would lie outside the source folder."""

    def __init__(self, option: str, value: str, reason: str) -> None:
        super().__init__(option, value, reason)
        self.option = option
        self.value = value
        self.reason = reason

    def __str__(self) -> str:
        return (
            f"{self.option} {self.value!r} is refused: {self.reason}; give a folder below the "
            "source's path, such as '.processing/'"
        )


class PatternInvalid(Terminal):
    """A file name pattern that does not compile."""

    def __init__(self, pattern: str, reason: str) -> None:
        super().__init__(pattern, reason)
        self.pattern = pattern
        self.reason = reason

    def __str__(self) -> str:
        return f"pattern {self.pattern!r} is not a regular expression: {self.reason}"


class FileChanged(Terminal):
    """A file that is not as it was when it was claimed: its sender had not finished."""

    def __init__(self, file: str, claimed_size: int, size: int | None) -> None:
        super().__init__(file, claimed_size, size)
        self.file = file
        self.claimed_size = claimed_size
        self.size = size

    def __str__(self) -> str:
        now = "gone" if self.size is None else f"{self.size} bytes"
        return (
            f"{self.file}: changed after it was claimed ({self.claimed_size} bytes then, {now} "
            "now); have it written under another name and renamed when complete, or set "
            "trigger.file_arrival.minFileAgeSeconds"
        )


class FileBroken(Terminal):
    """A file that cannot be read at all, with the cause and, where there is one, the line."""

    def __init__(self, file: str, cause: str, line: int | None = None) -> None:
        super().__init__(file, cause, line)
        self.file = file
        self.cause = cause
        self.line = line

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{place}: {self.cause}"


class HeaderRefused(Terminal):
    """A header or schema whose column names cannot be used; all its problems together."""

    def __init__(self, file: str, problems: tuple[str, ...]) -> None:
        super().__init__(file, problems)
        self.file = file
        self.problems = problems

    def __str__(self) -> str:
        return f"{self.file}: the header is refused: {'; '.join(self.problems)}"


class ColumnTypesDiffer(Terminal):
    """One column that has different types in two files of one source."""

    def __init__(self, column: str, first: tuple[str, str], second: tuple[str, str]) -> None:
        super().__init__(column, first, second)
        self.column = column
        self.first = first
        self.second = second

    def __str__(self) -> str:
        return (
            f"column {self.column!r} is {self.first[1]} in {self.first[0]} but {self.second[1]} "
            f"in {self.second[0]}; load them by separate sources, or write one type"
        )
