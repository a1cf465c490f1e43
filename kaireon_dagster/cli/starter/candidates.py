"""Types that a column of text may be read as, and the writings that count as evidence for each.

A cast reads more than what is taken for evidence here: `007` reads as 7, but is more likely a code,
and a timestamp reads as a date, but would lose its time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from kaireon_dagster.plan.casting import cast
from kaireon_dagster.plan.sqltext import literal
from kaireon_dagster.plan.types import TEXT, SqlType

_WHOLE: Final = r"-?(?:0|[1-9]\d*)"
_PLAIN: Final = rf"{_WHOLE}(?:\.\d+)?|-?\.\d+"
_DAY: Final = r"\d{4}-\d\d-\d\d"
_CLOCK: Final = r"\d\d:\d\d(?::\d\d(?:\.\d+)?)?"
_ZONE: Final = r" ?(?:Z|[+-]\d\d(?::?\d\d)?)"
_HEX: Final = "[0-9a-fA-F]"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A type, with the format it is read by, and the pattern that its values are written in."""

    type: str
    pattern: str
    format: str | None = None

    @property
    def is_number(self) -> bool:
        """Whether its size depends on the values."""
        return self.type == "numeric"

    def misfit(self, column: str) -> str:
        """SQL condition: a value that is there is not written this way, or does not read."""
        written = cast(column, TEXT, SqlType.parse(self.type), self.format)
        fits = f"regexp_full_match({column}, {literal(self.pattern)}) AND NOT {written.fault}"
        return f"NOT ({fits})"


def _date_formats() -> Iterator[Candidate]:
    for separator in "/.-":
        mark = rf"\{separator}"
        day = rf"\d{{1,2}}{mark}\d{{1,2}}{mark}\d{{4}}"
        for order in ("DD{0}MM{0}YYYY", "MM{0}DD{0}YYYY"):
            date = order.format(separator)
            yield Candidate("date", day, date)
            yield Candidate("timestamp", rf"{day} \d{{1,2}}:\d\d", f"{date} HH24:MI")
            yield Candidate("timestamp", rf"{day} \d{{1,2}}:\d\d:\d\d", f"{date} HH24:MI:SS")
            yield Candidate("timestamp", rf"{day} \d{{1,2}}:\d\d (?i:am|pm)", f"{date} HH12:MI AM")
    yield Candidate("date", r"\d{4}/\d\d/\d\d", "YYYY/MM/DD")
    yield Candidate("date", r"\d{1,2}-(?i:[a-z]{3})-\d{4}", "DD-MON-YYYY")


PLAIN: Final = (
    Candidate("integer", _WHOLE),
    Candidate("bigint", _WHOLE),
    Candidate("numeric", _PLAIN),
    Candidate("double", r"-?(?:(?:0|[1-9]\d{0,14})(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?"),
    Candidate("boolean", r"(?i:true|false|yes|no|t|f|y|n)"),
    Candidate("date", _DAY),
    Candidate("timestamp", rf"{_DAY}(?:[T ]{_CLOCK})?"),
    Candidate("timestamptz", rf"{_DAY}[T ]{_CLOCK}{_ZONE}"),
    Candidate("uuid", rf"{_HEX}{{8}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}}"),
    Candidate("jsonb", r"(?s:\s*[\[{].*)"),
)
"""Read without a format; of several that fit, the first is proposed."""

FORMATTED: Final = (
    *_date_formats(),
    Candidate("numeric", r"-?(?:0|[1-9]\d{0,2}(?:,\d{3})*|[1-9]\d*)(?:\.\d+)?", "1,234.56"),
    Candidate("numeric", r"-?(?:0|[1-9]\d{0,2}(?:\.\d{3})*|[1-9]\d*)(?:,\d+)?", "1.234,56"),
)
"""Read by a format; tried where nothing fits without, proposed where no other of them fits too."""
