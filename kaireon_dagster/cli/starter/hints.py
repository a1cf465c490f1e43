"""Texts that look like a number, a date or a yes, and how a document makes them one."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final

import duckdb

from kaireon_dagster.plan.sqltext import ident, literal

_CURRENCY: Final = r"(?:[$€£¥₹]|EUR|USD|GBP|CHF|JPY|CAD|AUD|SEK|NOK|DKK|PLN|CZK|INR)"
_POINT: Final = r"(?:0|[1-9]\d{0,2}(?:,\d{3})+|[1-9]\d*)(?:\.\d+)?"
_COMMA: Final = r"(?:0|[1-9]\d{0,2}(?:\.\d{3})+|[1-9]\d*)(?:,\d+)?"
_ISO: Final = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?: ?(?:Z|[+-]\d\d(?::?\d\d)?))?"


@dataclass(frozen=True, slots=True)
class Hint:
    """One look that values may have.

    Attributes:
        looks: what they look like, in words.
        pattern: what the whole of every value matches.
        advice: what the language offers; followed by the ops.
        ops: ops that read such a column, `NAME` for the field; may be none.
    """

    looks: str
    pattern: str
    advice: str
    ops: tuple[str, ...] = ()

    def write_ops(self, name: str) -> tuple[str, ...]:
        """The ops for a column, as YAML."""
        column = ident(name).replace("\\", "\\\\").replace('"', '\\"')
        written = json.dumps(name, ensure_ascii=False)
        return tuple(op.replace("COLUMN", column).replace("NAME", written) for op in self.ops)


def _cleaned(removed: str, cast: str) -> tuple[str, str]:
    replaced = f"regexp_replace(COLUMN, '{removed}', '', 'g')"
    return f'{{type: expression, field: NAME, expression: "{replaced}"}}', _cast(cast)


def _cast(rest: str) -> str:
    return f"{{type: cast, field: NAME, {rest}}}"


_PLAIN: Final = 'to: "numeric(18,4)"'
_GROUPED: Final = f'{_PLAIN}, format: "1,234.56"'
_EUROPEAN: Final = f'{_PLAIN}, format: "1.234,56"'
_NO_CURRENCY: Final = "[^0-9,.-]"
_WITHOUT: Final = "take out what is no number, then cast:"


def _amounts(number: str, cast: str, looks: str) -> Hint:
    either = rf"-?{_CURRENCY} ?-?{number}|-?{number} ?{_CURRENCY}"
    return Hint(looks, either, _WITHOUT, _cleaned(_NO_CURRENCY, cast))


_BRACKETS: Final = (
    "{type: expression, field: NAME, expression: \"replace(replace(COLUMN, '(', '-'), ')', '')\"}"
)
_LOWER: Final = '{type: expression, field: NAME, expression: "lower(COLUMN)"}'


def _answers(yes: str, no: str) -> Hint:
    mapping = f'{{{yes}: "true", {no}: "false"}}'
    ops = (_LOWER, f"{{type: map_values, field: NAME, mapping: {mapping}}}", _cast("to: boolean"))
    return Hint(f"{yes} and {no}", f"(?i:{yes}|{no})", "say what each means, then cast:", ops)


HINTS: Final = (
    _amounts(_POINT, _GROUPED, "amounts with a currency"),
    _amounts(_COMMA, _EUROPEAN, "amounts with a currency and a decimal comma"),
    Hint(
        "percentages",
        rf"-?{_POINT} ?%",
        "take out the sign, then cast:",
        _cleaned("[ %]", _GROUPED),
    ),
    Hint(
        "percentages with a decimal comma",
        rf"-?{_COMMA} ?%",
        "take out the sign, then cast:",
        _cleaned("[ %]", _EUROPEAN),
    ),
    Hint(
        "numbers with negative ones in brackets",
        rf"-?{_POINT}|\({_POINT}\)",
        "write a minus for the bracket, then cast:",
        (_BRACKETS, _cast(_GROUPED)),
    ),
    *(_answers(*words) for words in (("ja", "nein"), ("oui", "non"), ("si", "no"), ("sí", "no"))),
    *(
        Hint(
            "dates with a year of two digits",
            rf"\d{{1,2}}\{mark}\d{{1,2}}\{mark}\d\d",
            f"choose the format (or MM{mark}DD{mark}YY); 69 to 99 are of the last century:",
            (_cast(f'to: date, format: "DD{mark}MM{mark}YY"'),),
        )
        for mark in "./-"
    ),
    Hint(
        "times of day",
        r"\d{1,2}:\d\d(?::\d\d(?:\.\d+)?)?",
        "there is no type for a time without a date; as text, two digits of hours sort rightly",
    ),
    Hint(
        "timestamps, of which some name an offset and some do not",
        _ISO,
        "without an offset they are taken for UTC:",
        (_cast("to: timestamptz"),),
    ),
)
"""Tried in order where no type fits all values."""


def find_hint(connection: duckdb.DuckDBPyConnection, rows: str, column: str) -> Hint | None:
    """Find what all values look like; None for text of no such look."""
    counts = ", ".join(
        f"count(*) FILTER (NOT regexp_full_match(trim({column}), {literal(hint.pattern)}))"
        for hint in HINTS
    )
    found = connection.execute(f"SELECT {counts} FROM {rows}").fetchone() or ()
    return next((hint for hint, misfits in zip(HINTS, found, strict=False) if not misfits), None)
