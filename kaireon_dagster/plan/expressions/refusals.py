"""Expressions that a document cannot use."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from kaireon_dagster.errors import Terminal


class ExpressionRefused(Terminal):
    """An expression that is not part of the language, or has a type error.

    Attributes:
        expression: the whole text.
        position: offset in characters of the part that is refused.
        reason: what is wrong with it, and what to write in its place.
        suggestions: the nearest names that exist, nearest first.
    """

    def __init__(
        self, expression: str, position: int, reason: str, suggestions: tuple[str, ...] = ()
    ) -> None:
        super().__init__(expression, position, reason, suggestions)
        self.expression = expression
        self.position = position
        self.reason = reason
        self.suggestions = suggestions

    @property
    def column(self) -> int:
        """The position, counted from one."""
        return self.position + 1

    def __str__(self) -> str:
        hint = f"; did you mean {' or '.join(map(repr, self.suggestions))}?"
        return (
            f"expression {self.expression!r}, column {self.column}: {self.reason}"
            f"{hint if self.suggestions else ''}"
        )


class Unfit(Exception):
    """Why a part of an expression is refused; it gets its place where the part is known."""

    def __init__(self, reason: str, suggestions: tuple[str, ...] = ()) -> None:
        super().__init__(reason, suggestions)
        self.reason = reason
        self.suggestions = suggestions


def nearest(name: str, known: Iterable[str]) -> tuple[str, ...]:
    """The known names that are spelled most like a name, at most two."""
    by_fold = {word.lower(): word for word in known}
    return tuple(by_fold[word] for word in difflib.get_close_matches(name.lower(), by_fold, n=2))
