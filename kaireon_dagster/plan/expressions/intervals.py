"""Interval constants: `interval '1 month 2 days 03:00'`."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

from kaireon_dagster.plan.expressions.refusals import Unfit
from kaireon_dagster.plan.expressions.typed import Typed
from kaireon_dagster.plan.types import INTERVAL

_MONTHS: Final = {"year": 12, "yr": 12, "month": 1, "mon": 1}
_DAYS: Final = {"week": 7, "day": 1}
_SECONDS: Final = {"hour": 3600, "hr": 3600, "minute": 60, "min": 60, "second": 1, "sec": 1}
_ITEM: Final = re.compile(
    r"\s*(?:(?P<sign>[+-]?)(?P<hours>[0-9]{1,4}):(?P<minutes>[0-5][0-9])"
    r"(?::(?P<seconds>[0-5][0-9](?:\.[0-9]{1,6})?))?"
    r"|(?P<count>[+-]?[0-9]{1,6}(?:\.[0-9]{1,6})?)\s*(?P<unit>[a-z]+))(?=\s|$)",
    re.IGNORECASE,
)


def read_interval(text: str) -> Typed:
    """Write an interval constant.

    Raises:
        Unfit: for a text that is not a list of counts and units; only seconds have fractions.
    """
    months, days, micros = 0, 0, Decimal(0)
    position = 0
    while position < len(text.rstrip()) or position == 0:
        match = _ITEM.match(text, position)
        if match is None:
            raise Unfit(
                f"the interval {text!r} is not understood: write counts and units, "
                "such as '1 month 2 days' or '03:30'"
            )
        months, days, micros = _add(match, months, days, micros)
        position = match.end()
    sql = f"(to_months({months}) + to_days({days}) + to_microseconds({int(micros)}))"
    return Typed(sql, INTERVAL)


def _add(match: re.Match[str], months: int, days: int, micros: Decimal) -> tuple[int, int, Decimal]:
    if match["hours"]:
        clock = int(match["hours"]) * 3600 + int(match["minutes"]) * 60
        seconds = clock + Decimal(match["seconds"] or 0)
        return months, days, micros + (-seconds if match["sign"] == "-" else seconds) * 1_000_000
    count = Decimal(match["count"])
    unit = match["unit"].lower()
    name = unit if unit in (*_MONTHS, *_DAYS, *_SECONDS) else unit.removesuffix("s")
    if count % 1 and name not in ("second", "sec"):
        raise Unfit(f"only seconds of an interval have fractions, not {match['unit']}")
    if name in _MONTHS:
        return months + int(count) * _MONTHS[name], days, micros
    if name in _DAYS:
        return months, days + int(count) * _DAYS[name], micros
    if name in _SECONDS:
        return months, days, micros + count * _SECONDS[name] * 1_000_000
    raise Unfit(f"an interval has no unit {match['unit']!r}")
