"""Names and constants as SQL text, for DuckDB and PostgreSQL alike.

Everything a document names passes through `ident`, everything it gives as a constant through
`literal`; no other module puts quotes around anything.
"""

from __future__ import annotations

import math
from decimal import Decimal
from functools import lru_cache
from typing import Final

from sqlglot import exp

from kaireon_dagster.errors import Terminal
from kaireon_dagster.plan.types import MAX_PRECISION

_DIALECT: Final = "duckdb"
_NUL: Final = "\x00"


class SqlTextRefused(Terminal):
    """A name or a constant that SQL text cannot carry.

    Attributes:
        what: `name` or `constant`.
        reason: what is wrong with it.
    """

    def __init__(self, what: str, reason: str) -> None:
        super().__init__(what, reason)
        self.what = what
        self.reason = reason

    def __str__(self) -> str:
        return f"a {self.what} {self.reason}"


@lru_cache(maxsize=4096)
def ident(name: str) -> str:
    """Quote an identifier, always, with the quotes inside doubled.

    Raises:
        SqlTextRefused: for an empty name, or one with a NUL character.
    """
    if not name:
        raise SqlTextRefused("name", "must not be empty")
    _refuse_nul("name", name)
    return exp.to_identifier(name, quoted=True).sql(dialect=_DIALECT)


def qualified(table: tuple[str, str]) -> str:
    """Quote a schema and a table in it.

    Raises:
        SqlTextRefused: as `ident` does.
    """
    return f"{ident(table[0])}.{ident(table[1])}"


def literal(value: str | int | float | Decimal | bool | None) -> str:
    """Write a constant with the SQL type of its Python type.

    Floats are doubles, decimals keep their scale, and whole numbers are exact up to 38 digits.

    Raises:
        SqlTextRefused: for text with a NUL character, and numbers of more than 38 digits.
    """
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, str):
        _refuse_nul("constant", value)
        return exp.Literal.string(value).sql(dialect=_DIALECT)
    if isinstance(value, float):
        return _float(value)
    return _exact(Decimal(value))


def _float(value: float) -> str:
    spelling = repr(value) if math.isfinite(value) else _special(value)
    return f"CAST('{spelling}' AS DOUBLE PRECISION)"


def _special(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


def _exact(value: Decimal) -> str:
    if not value.is_finite():
        raise SqlTextRefused("constant", "must be a finite decimal")
    spelling = f"{value:f}"
    if sum(character.isdigit() for character in spelling) > MAX_PRECISION:
        raise SqlTextRefused("constant", f"must not have more than {MAX_PRECISION} digits")
    return f"({spelling})" if value.is_signed() else spelling


def _refuse_nul(what: str, text: str) -> None:
    if _NUL in text:
        raise SqlTextRefused(what, "must not contain a NUL character")
