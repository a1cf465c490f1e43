"""The column types of Parquet files."""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from kaireon_dagster.plan.types import (
    BIGINT,
    BOOLEAN,
    BYTEA,
    DATE,
    DOUBLE,
    INTEGER,
    JSONB,
    MAX_PRECISION,
    REAL,
    SMALLINT,
    TEXT,
    TIME,
    TIMESTAMP,
    TIMESTAMPTZ,
    UUID,
    SqlType,
)

_EXACT: Final = {
    pa.bool_(): BOOLEAN,
    pa.int8(): SMALLINT,
    pa.int16(): SMALLINT,
    pa.int32(): INTEGER,
    pa.int64(): BIGINT,
    pa.uint8(): SMALLINT,
    pa.uint16(): INTEGER,
    pa.uint32(): BIGINT,
    pa.uint64(): SqlType("numeric", 20, 0),
    pa.float16(): REAL,
    pa.float32(): REAL,
    pa.float64(): DOUBLE,
    pa.null(): TEXT,
    pa.uuid(): UUID,
}
_KINDS: Final = (
    (pa.types.is_date, DATE),
    (pa.types.is_time, TIME),
    (pa.types.is_string, TEXT),
    (pa.types.is_large_string, TEXT),
    (pa.types.is_string_view, TEXT),
    (pa.types.is_binary, BYTEA),
    (pa.types.is_large_binary, BYTEA),
    (pa.types.is_binary_view, BYTEA),
    (pa.types.is_fixed_size_binary, BYTEA),
)


def read_type(kind: pa.DataType) -> SqlType | None:
    """Give the SQL type that holds every value of an Arrow type exactly; None if there is none.

    Unsigned types become the next wider signed one, and uint64 numeric(20,0). Times keep
    microseconds, which is what PostgreSQL has. Lists, structs and maps become jsonb.
    """
    if isinstance(kind, pa.BaseExtensionType) and kind != pa.uuid():
        return read_type(kind.storage_type)
    if pa.types.is_dictionary(kind):
        return read_type(kind.value_type)
    if kind in _EXACT:
        return _EXACT[kind]
    if pa.types.is_decimal(kind):
        return _numeric(kind.precision, kind.scale)
    if pa.types.is_timestamp(kind):
        return TIMESTAMP if kind.tz is None else TIMESTAMPTZ
    if pa.types.is_nested(kind):
        return JSONB if all(map(_fits_json, _children(kind))) else None
    return next((known for is_kind, known in _KINDS if is_kind(kind)), None)


def holds_floats(kind: pa.DataType) -> bool:
    """Whether a nested type holds floats, whose NaN and Infinity JSON does not have."""
    if pa.types.is_nested(kind):
        return any(map(holds_floats, _children(kind)))
    return bool(pa.types.is_floating(kind))


def _numeric(precision: int, scale: int) -> SqlType | None:
    if precision > MAX_PRECISION or not 0 <= scale <= precision:
        return None
    return SqlType("numeric", precision, scale)


def _fits_json(kind: pa.DataType) -> bool:
    # JSON has no bytes, and nothing says how they are spelled in it.
    found = read_type(kind)
    return found is not None and found != BYTEA


def _children(kind: pa.DataType) -> list[pa.DataType]:
    return [kind.field(place).type for place in range(kind.num_fields)]
