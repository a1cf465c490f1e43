"""Names in documents: node ids, columns, and tables as PostgreSQL can hold them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated

from pydantic import AfterValidator, StringConstraints

from kaireon_dagster.ir.base import SeenAs, refuse
from kaireon_dagster.ir.spelling import quote

# NAMEDATALEN - 1: PostgreSQL cuts longer names short without an error.
LONGEST_NAME = 63
RESERVED_PREFIX = "_flow_"

_UNFIT_IN_TABLE = re.compile(r'[\x00-\x1f\x7f";]')
_NODE = "[A-Za-z_][A-Za-z0-9_-]{0,62}"
_PART = r'[^\u0000-\u001f\u007f";.]+'


def find_name_fault(name: str) -> str | None:
    """Say why PostgreSQL cannot hold this name as written; None when it can."""
    if not name:
        return "a name cannot be empty"
    if "\x00" in name:
        return "a name cannot contain NUL"
    size = len(name.encode("utf-8", "surrogatepass"))
    if size > LONGEST_NAME:
        return f"name of {size} bytes; PostgreSQL keeps {LONGEST_NAME}; choose a shorter one"
    return None


def split_table(text: str) -> tuple[str, str]:
    """Split `schema.table` at its one dot; both parts are literal, case included.

    Raises:
        ValueError: not exactly one dot, or a part that cannot be a name. The message says which.
    """
    schema, table = _split(text, ("schema", "table"))
    return schema, table


def split_column(text: str) -> tuple[str, str, str]:
    """Split `schema.table.column` at its two dots; otherwise as `split_table`."""
    schema, table, column = _split(text, ("schema", "table", "column"))
    return schema, table, column


def split_reference(reference: str) -> tuple[str, str | None]:
    """Split what a node reads into (node id, route): `b.eu` is ("b", "eu"), `src` ("src", None)."""
    node, dot, route = reference.partition(".")
    return node, route if dot else None


def _split(text: str, parts: tuple[str, ...]) -> list[str]:
    shape = ".".join(parts)
    if _UNFIT_IN_TABLE.search(text):
        raise ValueError(f"{quote(text)} holds a quote, ';' or a control character; write {shape}")
    names = text.split(".")
    if len(names) != len(parts):
        raise ValueError(f"{quote(text)} is not of the form {shape}")
    for part, name in zip(parts, names, strict=True):
        fault = find_name_fault(name)
        if fault is not None:
            raise ValueError(f"{part} part of {quote(text)}: {fault}")
    return names


def _check_reference(name: str) -> str:
    if not name or "\x00" in name:
        raise refuse("a field name cannot be empty or contain NUL")
    if name.startswith(RESERVED_PREFIX):
        raise refuse(f"field names that begin with {RESERVED_PREFIX!r} are reserved")
    return name


def _check_new_name(name: str) -> str:
    fault = find_name_fault(_check_reference(name))
    if fault is not None:
        raise refuse(fault)
    return name


def _check_table(text: str) -> str:
    return _checked(text, split_table)


def _check_column(text: str) -> str:
    return _checked(text, split_column)


def _check_target(text: str) -> str:
    schema, _ = _split_or_refuse(text, split_table)
    if schema == "information_schema" or schema.startswith("pg_"):
        raise refuse(f"schema {schema!r} belongs to PostgreSQL itself")
    return text


def _checked(text: str, split: Callable[[str], tuple[str, ...]]) -> str:
    _split_or_refuse(text, split)
    return text


def _split_or_refuse(text: str, split: Callable[[str], tuple[str, ...]]) -> tuple[str, ...]:
    try:
        return split(text)
    except ValueError as error:
        raise refuse(str(error)) from None


def _check_environment_name(name: str) -> str:
    # What stands here instead of a name may be the secret itself, so it is not quoted.
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise refuse("not the name of an environment variable; a literal secret is refused")
    return name


PipelineId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$")]
NodeId = Annotated[str, StringConstraints(pattern=f"^{_NODE}$")]
RouteName = NodeId
# What a reference names is looked up among the nodes, which says more than a pattern would.
NodeReference = Annotated[
    str,
    SeenAs({"type": "string", "pattern": rf"^{_NODE}(\.{_NODE})?$"}),
]
# A column that is read may carry any name a file has; one that is written becomes an identifier.
FieldReference = Annotated[
    str, AfterValidator(_check_reference), SeenAs({"type": "string", "minLength": 1})
]
FieldName = Annotated[
    str,
    AfterValidator(_check_new_name),
    SeenAs({"type": "string", "minLength": 1, "maxLength": LONGEST_NAME}),
]
TableName = Annotated[
    str,
    AfterValidator(_check_table),
    SeenAs({"type": "string", "pattern": rf"^{_PART}\.{_PART}$"}),
]
TargetTable = Annotated[
    str,
    AfterValidator(_check_target),
    SeenAs({"type": "string", "pattern": rf"^{_PART}\.{_PART}$"}),
]
ColumnName = Annotated[
    str,
    AfterValidator(_check_column),
    SeenAs({"type": "string", "pattern": rf"^{_PART}\.{_PART}\.{_PART}$"}),
]
EnvironmentName = Annotated[
    str,
    AfterValidator(_check_environment_name),
    SeenAs({"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$"}),
]
