"""Casts and formats that a document cannot ask for."""

from __future__ import annotations

from kaireon_dagster.errors import Terminal
from kaireon_dagster.plan.types import SqlType


class CastRefused(Terminal):
    """A pair of types between which there is no cast.

    Attributes:
        source: the type of the values.
        target: the type asked for.
        advice: what to do in its place.
    """

    def __init__(self, source: SqlType, target: SqlType, advice: str) -> None:
        super().__init__(source, target, advice)
        self.source = source
        self.target = target
        self.advice = advice

    def __str__(self) -> str:
        return f"{self.source} cannot be cast to {self.target}: {self.advice}"


class FormatRefused(Terminal):
    """A `format` that does not say how a value is written.

    Attributes:
        format: the format as the document gives it.
        reason: what is wrong with it and what is allowed.
    """

    def __init__(self, format: str, reason: str) -> None:
        super().__init__(format, reason)
        self.format = format
        self.reason = reason

    def __str__(self) -> str:
        return f"format {self.format!r}: {self.reason}"
