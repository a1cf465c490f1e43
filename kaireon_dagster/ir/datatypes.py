"""The data types a document may name."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator

from kaireon_dagster.ir.base import SeenAs, refuse
from kaireon_dagster.ir.spelling import unknown

# DuckDB holds at most 38 digits in a decimal.
LARGEST_PRECISION = 38
DATA_TYPES = (
    "text",
    "integer",
    "bigint",
    "numeric(p,s)",
    "double",
    "boolean",
    "date",
    "timestamp",
    "timestamptz",
    "uuid",
    "jsonb",
)
# Names of other systems, too far from ours for a comparison of spellings.
_OTHER_NAMES = {
    "int": "integer",
    "int4": "integer",
    "int8": "bigint",
    "long": "bigint",
    "string": "text",
    "varchar": "text",
    "char": "text",
    "decimal": "numeric(12,2)",
    "dec": "numeric(12,2)",
    "number": "numeric(12,2)",
    "money": "numeric(12,2)",
    "numeric": "numeric(12,2)",
    "character varying": "text",
    "smallint": "integer",
    "double precision": "double",
    "float": "double",
    "float8": "double",
    "real": "double",
    "bool": "boolean",
    "datetime": "timestamp",
    "timestamp with time zone": "timestamptz",
    "json": "jsonb",
}
_SIZES = re.compile(r"\s*\w+\s*(\(\s*\d{1,2}\s*(?:,\s*\d{1,2}\s*)?\))\s*")
_NUMERIC = re.compile(r"numeric(?:\(\s*(\d{1,9})\s*(?:,\s*(\d{1,9})\s*)?\))?")


def find_datatype_fault(text: str) -> str | None:
    """Say why this is not a data type of the language; None when it is one."""
    numeric = _NUMERIC.fullmatch(text)
    if numeric is not None:
        return _find_numeric_fault(numeric[1], numeric[2])
    if text in DATA_TYPES and "(" not in text:
        return None
    hint = _translate(text)
    fault = unknown("data type", text, DATA_TYPES, hint=hint)
    if "(" in text and ")" not in text:
        # In a flow mapping of YAML the comma between precision and scale ends the value.
        return f'{fault} Put it in quotes, such as "numeric(12,2)"'
    return fault


def _translate(text: str) -> str | None:
    hint = _OTHER_NAMES.get(text.split("(")[0].strip().casefold())
    sizes = _SIZES.fullmatch(text)
    return f"numeric{sizes[1]}" if sizes and hint and hint.startswith("numeric") else hint


def _find_numeric_fault(precision: str | None, scale: str | None) -> str | None:
    if precision is None:
        return None
    digits, decimals = int(precision), int(scale or 0)
    if not 1 <= digits <= LARGEST_PRECISION:
        return f"precision {digits}; allowed: 1 to {LARGEST_PRECISION}"
    if decimals > digits:
        return f"scale {decimals} is above the precision {digits}"
    return None


def _check_datatype(text: str) -> str:
    fault = find_datatype_fault(text)
    if fault is not None:
        raise refuse(fault)
    return text


DataType = Annotated[
    str,
    AfterValidator(_check_datatype),
    SeenAs(
        {
            "anyOf": [
                {"enum": [name for name in DATA_TYPES if "(" not in name]},
                {
                    "type": "string",
                    "pattern": r"^numeric(\(\s*[0-9]+\s*(,\s*[0-9]+\s*)?\))?$",
                },
            ]
        }
    ),
]
