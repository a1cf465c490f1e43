"""Row rules: `name` or `name:argument`, read once when the document is parsed."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import TypeAlias

from kaireon_dagster.ir.regex_subset import find_regex_fault
from kaireon_dagster.ir.spelling import unknown
from kaireon_dagster.ir.timestamps import read_date, read_timestamp

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,4})?")
Operand: TypeAlias = Decimal | date | datetime


def split_rule(rule: str) -> tuple[str, str | None]:
    """Split `gt:0` into ("gt", "0") and `email` into ("email", None)."""
    name, colon, argument = rule.partition(":")
    return name, argument if colon else None


def split_arguments(name: str, argument: str | None) -> tuple[str, ...]:
    """Split the argument of a rule into its parts: two of `between`, all of `in`, else one."""
    if argument is None:
        return ()
    separator = {"between": ",", "in": "|", "not_in": "|"}.get(name)
    return tuple(argument.split(separator)) if separator else (argument,)


def read_operand(text: str) -> Operand | None:
    """Read what `gt`, `between` and their like compare with: a number, a date or an instant."""
    if _NUMBER.fullmatch(text):
        return Decimal(text)
    return read_timestamp(text) or read_date(text)


def find_rule_fault(rule: str) -> str | None:
    """Say what is wrong with a row rule: its name, or its argument; None when it is right."""
    name, argument = split_rule(rule)
    if name not in RULES:
        return unknown("rule", name, RULES)
    check = RULES[name]
    if check is None:
        return f"rule {name!r} takes no argument" if argument is not None else None
    if argument is None or argument == "":
        return f"rule {name!r} needs an argument: {name}:{_EXAMPLES.get(name, '…')}"
    return check(name, argument)


def _find_operand_fault(name: str, argument: str) -> str | None:
    if read_operand(argument) is None:
        return f"rule {name!r} compares with a number, a date or a timestamp: {name}:0"
    return None


def _find_between_fault(name: str, argument: str) -> str | None:
    bounds = [read_operand(part.strip()) for part in split_arguments(name, argument)]
    if len(bounds) != 2 or None in bounds:
        return "rule 'between' needs two numbers, dates or timestamps: between:1,10"
    low, high = bounds
    if _kind(low) != _kind(high):
        return "the bounds of 'between' are of different kinds"
    return "the lower bound of 'between' is above the upper" if low > high else None  # type: ignore[operator]


def _kind(operand: Operand | None) -> tuple[type, bool]:
    # Instants with a zone and wall-clock times without one cannot be put in order.
    return type(operand), isinstance(operand, datetime) and operand.tzinfo is not None


def _find_length_fault(name: str, argument: str) -> str | None:
    if not re.fullmatch(r"\d{1,9}", argument, re.ASCII):
        return f"rule {name!r} needs a whole number, 0 or more: {name}:3"
    return None


def _find_pattern_fault(name: str, argument: str) -> str | None:
    return find_regex_fault(argument)


def _accept(name: str, argument: str) -> str | None:
    return None


ArgumentCheck = Callable[[str, str], str | None]
# None: the rule takes no argument.
RULES: Mapping[str, ArgumentCheck | None] = {
    "not_null": None,
    "gt": _find_operand_fault,
    "gte": _find_operand_fault,
    "lt": _find_operand_fault,
    "lte": _find_operand_fault,
    "eq": _accept,
    "ne": _accept,
    "between": _find_between_fault,
    "in": _accept,
    "not_in": _accept,
    "regex": _find_pattern_fault,
    "min_length": _find_length_fault,
    "max_length": _find_length_fault,
    "email": None,
    "url": None,
    "uuid": None,
    "integer": None,
    "numeric": None,
    "date": None,
    "timestamp": None,
    "unique": None,
}
_EXAMPLES = {
    "between": "1,10",
    "in": "a|b|c",
    "not_in": "a|b|c",
    "regex": "^[A-Z]{2}$",
    "min_length": "3",
    "max_length": "3",
    "eq": "a",
    "ne": "a",
    **dict.fromkeys(("gt", "gte", "lt", "lte"), "0"),
}
