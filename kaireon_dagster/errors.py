"""Every error that leaves the package: what went wrong, where, and what to do.

Errors are either `Transient` (the same call may succeed later) or `Terminal` (it will not).
Messages name documents, files, lines and columns; they never carry values from rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


class FlowError(Exception):
    """Base of all errors. Subclasses pass their typed attributes to `__init__`, so they pickle."""


class Transient(FlowError):
    """A fault that may pass: the work can be tried again unchanged."""


class Terminal(FlowError):
    """A fault that stays until somebody changes a document, a file or a database."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with a document.

    Attributes:
        path: JSON path in the document, such as `nodes[2].ops[0].type`; empty for the whole.
        message: what was found, what is allowed, and the nearest valid spelling if there is one.
    """

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


class DocumentInvalid(Terminal):
    """A Flow document that cannot be used; all its problems together."""

    def __init__(self, source: str, problems: tuple[Problem, ...]) -> None:
        super().__init__(source, problems)
        self.source = source
        self.problems = problems

    def __str__(self) -> str:
        return "\n".join(f"{self.source}: {problem}" for problem in self.problems)


class NotYetRunnable(Terminal):
    """A valid document that uses a part of the language this release cannot execute."""

    def __init__(self, pipeline: str, node: str, feature: str) -> None:
        super().__init__(pipeline, node, feature)
        self.pipeline = pipeline
        self.node = node
        self.feature = feature

    def __str__(self) -> str:
        return (
            f"pipeline {self.pipeline!r}, node {self.node!r}: {self.feature} cannot run in this "
            "release; the document is valid, and `kaireon-dagster validate` accepts it"
        )


class MissingExtra(Terminal):
    """A feature whose optional dependency is not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(feature, extra)
        self.feature = feature
        self.extra = extra

    def __str__(self) -> str:
        return f"{self.feature} needs the extra {self.extra!r}: pip install 'kaireon-dagster[{self.extra}]'"


def quote_allowed(values: Any) -> str:
    """Write the allowed values of a choice as one phrase: `'a', 'b' or 'c'`."""
    words = [repr(value) for value in values]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
