"""What a function of the language is, and how a call finds the one it means."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from kaireon_dagster.plan.expressions.coercion import (
    WHOLE_DIGITS,
    casts_implicitly,
    coerce,
    settle,
)
from kaireon_dagster.plan.expressions.constants import type_of_number
from kaireon_dagster.plan.expressions.refusals import Unfit
from kaireon_dagster.plan.expressions.typed import Typed, derive, loosen
from kaireon_dagster.plan.types import SqlType

_PREFERRED: Final = ("text", "double", "timestamptz", "boolean")
"""PostgreSQL's preferred type of each category, which decides between equal candidates."""


@dataclass(frozen=True, slots=True)
class Function:
    """One signature of a function.

    Attributes:
        name: in lower case.
        takes: names of the argument types.
        gives: the result type, or how it follows from the arguments.
        sql: DuckDB SQL with `{0}`, `{1}` for the arguments, or how to write it.
        fails: whether it raises for some values.
        refused: for a signature that exists in PostgreSQL only: what to write in its place.
    """

    name: str
    takes: tuple[str, ...]
    gives: SqlType | Callable[[Sequence[Typed]], SqlType]
    sql: str | Callable[[Sequence[Typed]], str] = ""
    fails: bool = False
    refused: str | None = None

    def apply(self, arguments: Sequence[Typed]) -> Typed:
        """Write a call with arguments that fit."""
        if self.refused is not None:
            raise Unfit(f"{self.name}({', '.join(self.takes)}) is not supported: {self.refused}")
        fitted = [fit(part, kind) for part, kind in zip(arguments, self.takes, strict=True)]
        type = self.gives if isinstance(self.gives, SqlType) else self.gives(fitted)
        texts = [part.sql for part in fitted]
        sql = self.sql.format(*texts) if isinstance(self.sql, str) else self.sql(fitted)
        return loosen(derive(sql, type, *fitted, fails=self.fails), *fitted)


@dataclass(frozen=True, slots=True)
class Form:
    """A function whose types follow from all its arguments together, or that needs constants.

    Attributes:
        name: in lower case.
        least: fewest arguments.
        most: most arguments; None for any number.
        build: writes the call.
    """

    name: str
    least: int
    most: int | None
    build: Callable[[Sequence[Typed]], Typed]


def choose(candidates: Sequence[Function], arguments: Sequence[Typed]) -> Function:
    """Find the signature that PostgreSQL would call.

    Most exact matches win, then most arguments that become a preferred type.

    Raises:
        Unfit: if none fits.
    """
    ranked = [(rank, item) for item in candidates if (rank := _rank(item, arguments)) is not None]
    if not ranked:
        name = candidates[0].name
        shown = ", ".join(argument.shown for argument in arguments)
        known = " or ".join(f"{name}({', '.join(item.takes)})" for item in candidates)
        raise Unfit(f"there is no {name}({shown}), only {known}: cast the arguments first")
    return max(ranked, key=lambda pair: pair[0])[1]


def constant_text(part: Typed, what: str) -> str:
    """The content of an argument that must be a string constant."""
    if part.text is None:
        raise Unfit(f"{what} must be a string constant")
    return part.text


def constant_integer(part: Typed, what: str) -> int:
    """The value of an argument that must be a whole-number constant."""
    if part.number is None or part.number % 1 != 0:
        raise Unfit(f"{what} must be a whole-number constant")
    return int(part.number)


def _rank(function: Function, arguments: Sequence[Typed]) -> tuple[int, int] | None:
    if len(arguments) != len(function.takes):
        return None
    exact = preferred = 0
    for part, kind in zip(arguments, function.takes, strict=True):
        if part.type is not None and (
            part.type.name == "real" or not casts_implicitly(part.type, kind)
        ):
            return None
        exact += part.type is not None and part.type.name == kind
        preferred += (part.type is None or part.type.name != kind) and kind in _PREFERRED
    return exact, preferred


def fit(part: Typed, kind: str) -> Typed:
    """Make an argument be of a kind; a numeric keeps the digits that it has."""
    if kind != "numeric":
        return coerce(part, SqlType(kind))
    if part.type is None:
        return settle(part, type_of_number((part.text or "0").strip()))
    if part.type.is_integer:
        return coerce(part, SqlType("numeric", WHOLE_DIGITS[part.type.name], 0))
    return part
