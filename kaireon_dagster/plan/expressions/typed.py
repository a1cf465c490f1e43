"""A part of an expression after checking: its DuckDB SQL and what is known of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

from kaireon_dagster.plan.expressions.refusals import Unfit
from kaireon_dagster.plan.sqltext import literal
from kaireon_dagster.plan.types import SqlType

NULL_WORD: Final = "NULL"

_LONGEST_SQL: Final = 200_000
"""Characters of generated SQL; guards repeat their operands, so deep nesting multiplies."""


@dataclass(frozen=True, slots=True)
class Typed:
    """DuckDB SQL with its PostgreSQL type.

    Attributes:
        sql: complete on its own, safe to stand beside any operator.
        type: None for a string constant or NULL whose type is still open, as in PostgreSQL.
        columns: columns read.
        can_fail: whether some row may raise.
        text: content of an open string constant.
        number: value of a number constant.
        loose: a numeric whose count of decimals is not the one PostgreSQL would show.
        unchecked: float arithmetic before the test for overflow, for use in more of it.
        leaves: operands of that arithmetic.
    """

    sql: str
    type: SqlType | None
    columns: frozenset[str] = frozenset()
    can_fail: bool = False
    text: str | None = None
    number: Decimal | None = None
    loose: bool = False
    unchecked: str | None = None
    leaves: tuple[str, ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether it adapts to the type that its place asks for."""
        return self.type is None

    @property
    def known(self) -> SqlType:
        """The type of a part that is not open."""
        if self.type is None:
            raise TypeError("the type of this constant is still open")
        return self.type

    @property
    def shown(self) -> str:
        """The type in words, for messages."""
        if self.type is not None:
            return self.type.postgres
        return "a NULL" if self.text is None else "a string constant"


def derive(sql: str, type: SqlType, *parts: Typed, fails: bool = False) -> Typed:
    """Make a part out of others: it reads their columns and fails where they fail.

    Raises:
        Unfit: for SQL that has grown beyond all measure.
    """
    if len(sql) > _LONGEST_SQL:
        raise Unfit("too complicated: compute parts of it in fields before")
    return Typed(
        sql,
        type,
        frozenset().union(*(part.columns for part in parts)),
        fails or any(part.can_fail for part in parts),
    )


def loosen(part: Typed, *sources: Typed) -> Typed:
    """Carry over from the sources that the count of decimals is not PostgreSQL's."""
    if part.type is None or part.type.name != "numeric":
        return part
    return replace(part, loose=part.loose or any(source.loose for source in sources))


def raised(reason: str, type: SqlType) -> str:
    """Write SQL of the given type that raises when a row comes to it.

    DuckDB's `error()` is volatile, and TRY refuses it; a cast that cannot succeed is not. The
    reason is the text that does not convert, so it stands in DuckDB's message.
    """
    return f"CAST(CAST(CAST({literal(reason)} AS BOOLEAN) AS VARCHAR) AS {type.duckdb})"
