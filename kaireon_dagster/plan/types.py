"""The SQL types a column can have, spelled for PostgreSQL and for DuckDB.

One `SqlType` says what a column means in PostgreSQL and how the worker holds it. The two agree
on every value except where PostgreSQL has room that DuckDB has not: a `numeric` without
precision is held as DECIMAL(38,10), and precisions above 38 are refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from kaireon_dagster.errors import Terminal

MAX_PRECISION: Final = 38
"""Digits of the widest DuckDB decimal."""

FREE_SCALE: Final = 10
"""Decimals kept of a `numeric` without precision; a value that needs more does not read."""

_SPELLINGS: Final = {
    "text": "text",
    "varchar": "text",
    "character varying": "text",
    "int": "integer",
    "int4": "integer",
    "integer": "integer",
    "int8": "bigint",
    "bigint": "bigint",
    "int2": "smallint",
    "smallint": "smallint",
    "numeric": "numeric",
    "decimal": "numeric",
    "dec": "numeric",
    "float8": "double",
    "float": "double",
    "double": "double",
    "double precision": "double",
    "float4": "real",
    "real": "real",
    "bool": "boolean",
    "boolean": "boolean",
    "date": "date",
    "time": "time",
    "time without time zone": "time",
    "timestamp": "timestamp",
    "timestamp without time zone": "timestamp",
    "timestamptz": "timestamptz",
    "timestamp with time zone": "timestamptz",
    "uuid": "uuid",
    "json": "jsonb",
    "jsonb": "jsonb",
    "bytea": "bytea",
    "interval": "interval",
}
_POSTGRES: Final = {"double": "double precision", "timestamptz": "timestamp with time zone"}
_DUCKDB: Final = {
    "text": "VARCHAR",
    "integer": "INTEGER",
    "bigint": "BIGINT",
    "smallint": "SMALLINT",
    "double": "DOUBLE",
    "real": "REAL",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "time": "TIME",
    "timestamp": "TIMESTAMP",
    "timestamptz": "TIMESTAMP WITH TIME ZONE",
    "uuid": "UUID",
    "jsonb": "JSON",
    "bytea": "BLOB",
    "interval": "INTERVAL",
}
_SHAPE: Final = re.compile(
    r"(?P<name>[a-z][a-z0-9 ]*?)\s*"
    r"(?:\(\s*(?P<precision>\d{1,9})\s*(?:,\s*(?P<scale>\d{1,9})\s*)?\))?\s*(?P<array>\[\s*\])?"
)


class TypeRefused(Terminal):
    """A type that columns cannot have here.

    Attributes:
        spelling: the type as it was written.
        reason: what is wrong with it and what to write in its place.
    """

    def __init__(self, spelling: str, reason: str) -> None:
        super().__init__(spelling, reason)
        self.spelling = spelling
        self.reason = reason

    def __str__(self) -> str:
        return f"type {self.spelling!r}: {self.reason}"


@dataclass(frozen=True, slots=True)
class SqlType:
    """The type of a column or of an expression.

    Attributes:
        name: one of text, integer, bigint, smallint, numeric, double, real, boolean, date, time,
            timestamp, timestamptz, uuid, jsonb, bytea, interval, array.
        precision: digits of a numeric, or longest length of a text in characters; None for any.
        scale: decimals of a numeric; None exactly when it has no precision.
        element: the type of an array's elements; None for every other type.
    """

    name: str
    precision: int | None = None
    scale: int | None = None
    element: SqlType | None = None

    @staticmethod
    def parse(spelling: str) -> SqlType:
        """Read a type as PostgreSQL spells it, in any case, aliases and `[]` included.

        Raises:
            TypeRefused: for a type that is unknown, or wider than the worker can hold exactly.
        """
        words = " ".join(spelling.lower().split())
        match = _SHAPE.fullmatch(words)
        name = _SPELLINGS.get(match["name"]) if match else None
        if match is None or name is None:
            raise TypeRefused(spelling, f"not known; allowed are {', '.join(TYPE_NAMES)}")
        element = _with_modifiers(spelling, name, match["precision"], match["scale"])
        return SqlType("array", element=element) if match["array"] else element

    @property
    def postgres(self) -> str:
        """The type in PostgreSQL's own spelling, as `format_type` gives it."""
        if self.element is not None:
            return f"{self.element.postgres}[]"
        if self.name == "text" and self.precision is not None:
            return f"character varying({self.precision})"
        if self.name == "numeric" and self.precision is not None:
            return f"numeric({self.precision},{self.scale or 0})"
        return _POSTGRES.get(self.name, self.name)

    @property
    def duckdb(self) -> str:
        """The type that holds such values in the worker.

        A text of limited length is VARCHAR, since DuckDB keeps no lengths, and a numeric without
        precision is DECIMAL(38,10).
        """
        if self.element is not None:
            return f"{self.element.duckdb}[]"
        if self.name == "numeric":
            return f"DECIMAL({self.digits},{self.decimals})"
        return _DUCKDB[self.name]

    @property
    def digits(self) -> int:
        """Digits that a numeric holds in the worker."""
        return MAX_PRECISION if self.precision is None else self.precision

    @property
    def decimals(self) -> int:
        """Decimals that a numeric holds in the worker."""
        return FREE_SCALE if self.precision is None else (self.scale or 0)

    @property
    def is_text(self) -> bool:
        """Whether values are character strings."""
        return self.name == "text"

    @property
    def is_integer(self) -> bool:
        """Whether values are whole numbers of two, four or eight bytes."""
        return self.name in ("smallint", "integer", "bigint")

    @property
    def is_float(self) -> bool:
        """Whether values are binary floating point."""
        return self.name in ("real", "double")

    @property
    def is_numeric(self) -> bool:
        """Whether values are numbers of any kind."""
        return self.is_integer or self.is_float or self.name == "numeric"

    @property
    def is_temporal(self) -> bool:
        """Whether values are dates, times or timestamps."""
        return self.name in ("date", "time", "timestamp", "timestamptz")

    def __str__(self) -> str:
        return self.postgres


def _with_modifiers(spelling: str, name: str, precision: str | None, scale: str | None) -> SqlType:
    if precision is None:
        return SqlType(name)
    if name == "numeric":
        return _numeric(spelling, int(precision), int(scale or 0))
    if name == "text" and scale is None and int(precision) > 0 and spelling[0] not in "tT":
        return SqlType(name, int(precision))
    raise TypeRefused(spelling, f"{name} takes no modifier here; write it without")


def _numeric(spelling: str, precision: int, scale: int) -> SqlType:
    if not 1 <= precision <= MAX_PRECISION:
        raise TypeRefused(spelling, f"precision must be between 1 and {MAX_PRECISION}")
    if scale > precision:
        raise TypeRefused(spelling, "scale must not be greater than precision")
    return SqlType("numeric", precision, scale)


TEXT: Final = SqlType("text")
SMALLINT: Final = SqlType("smallint")
INTEGER: Final = SqlType("integer")
BIGINT: Final = SqlType("bigint")
NUMERIC: Final = SqlType("numeric")
REAL: Final = SqlType("real")
DOUBLE: Final = SqlType("double")
BOOLEAN: Final = SqlType("boolean")
DATE: Final = SqlType("date")
TIME: Final = SqlType("time")
TIMESTAMP: Final = SqlType("timestamp")
TIMESTAMPTZ: Final = SqlType("timestamptz")
UUID: Final = SqlType("uuid")
JSONB: Final = SqlType("jsonb")
BYTEA: Final = SqlType("bytea")
INTERVAL: Final = SqlType("interval")

TYPE_NAMES: Final = (
    "text",
    "varchar(n)",
    "smallint",
    "integer",
    "bigint",
    "numeric",
    "numeric(p,s)",
    "real",
    "double precision",
    "boolean",
    "date",
    "time",
    "timestamp",
    "timestamptz",
    "uuid",
    "jsonb",
    "bytea",
    "interval",
)
"""The types of documents, one spelling each; `[]` after one of them makes an array."""
