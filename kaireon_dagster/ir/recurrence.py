"""RFC 5545 recurrence rules: refused at load time when malformed or never due.

Read by hand and not by a library: the library would only find out at the first tick that
`UNTIL` and `DTSTART` disagree, that a zone is unknown, or that no date ever matches.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime

from kaireon_dagster.ir.spelling import unknown
from kaireon_dagster.ir.zones import find_zone_fault

_FREQUENCIES = ("YEARLY", "MONTHLY", "WEEKLY", "DAILY", "HOURLY", "MINUTELY")
_LINES = ("DTSTART", "RRULE", "EXDATE", "RDATE")
_MOMENT = re.compile(r"\d{8}(T\d{6}Z?)?")
_WEEKDAY = re.compile(r"([+-]?\d{1,2})?(MO|TU|WE|TH|FR|SA|SU)")
# Days of each month in a leap year: 29 February does come round.
_MONTH_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_RANGES: Mapping[str, tuple[int, int]] = {
    "BYSECOND": (0, 59),
    "BYMINUTE": (0, 59),
    "BYHOUR": (0, 23),
    "BYMONTH": (1, 12),
}
# These also count from the end, by negative numbers; zero is not a day.
_SIGNED: Mapping[str, int] = {"BYMONTHDAY": 31, "BYYEARDAY": 366, "BYWEEKNO": 53, "BYSETPOS": 366}


def find_rule_faults(text: str) -> Iterator[str]:
    """Yield what is wrong with a rule and its optional leading DTSTART, RDATE and EXDATE lines."""
    lines = list(_content_lines(text))
    names = [name for name, _, _ in lines]
    if names.count("RRULE") != 1:
        yield "exactly one rule is needed, such as 'FREQ=DAILY;COUNT=10'"
        return
    if names.count("DTSTART") > 1 or ("DTSTART" in names and names[0] != "DTSTART"):
        yield "DTSTART stands once, before the rule"
    starts = [value for name, _, value in lines if name == "DTSTART"]
    for name, parameters, value in lines:
        if name == "RRULE":
            yield from _rule_faults(value, starts)
        else:
            yield from _moment_line_faults(name, parameters, value)


def _content_lines(text: str) -> Iterator[tuple[str, str, str]]:
    for line in text.split():
        head, colon, value = line.partition(":")
        name, _, parameters = head.partition(";")
        if colon and "=" not in name:
            yield name.upper(), parameters, value
        else:
            yield "RRULE", "", line


def _moment_line_faults(name: str, parameters: str, value: str) -> Iterator[str]:
    if name not in _LINES:
        yield unknown("line", name, _LINES)
        return
    for parameter in filter(None, parameters.split(";")):
        key, _, word = parameter.partition("=")
        fault = find_zone_fault(word) if key.upper() == "TZID" else None
        if fault is not None:
            yield f"{name}: {fault}"
    for moment in value.split(","):
        if _read_moment(moment) is None:
            yield f"{name} needs a date and time such as 20260301T060000Z"


def _read_moment(text: str) -> date | None:
    if not _MOMENT.fullmatch(text):
        return None
    try:
        if "T" in text:
            return datetime.strptime(text.rstrip("Z"), "%Y%m%dT%H%M%S").date()
        return datetime.strptime(text, "%Y%m%d").date()
    except ValueError:
        return None


def _rule_faults(rule: str, starts: list[str]) -> Iterator[str]:
    pairs = [part.partition("=") for part in rule.strip(";").split(";")]
    parts = {key.upper(): value.upper() for key, _, value in pairs}
    if len(parts) < len(pairs):
        yield "a part of the rule is written twice"
    for key in parts:
        if key not in _PARTS:
            yield unknown("rule part", key, _PARTS)
    faults = [fault for key, check in _PARTS.items() if key in parts for fault in check(parts[key])]
    yield from faults
    if "FREQ" not in parts:
        yield "FREQ is missing; a rule begins like 'FREQ=DAILY'"
    if not faults:
        yield from _bound_faults(parts, starts)
        yield from _empty_faults(parts)


def _bound_faults(parts: Mapping[str, str], starts: list[str]) -> Iterator[str]:
    if "COUNT" in parts and "UNTIL" in parts:
        yield "COUNT and UNTIL exclude each other"
    until = _read_moment(parts.get("UNTIL", ""))
    start = _read_moment(starts[0]) if starts else None
    if until and start and until < start:
        yield "UNTIL lies before DTSTART, so the rule is never due"


def _empty_faults(parts: Mapping[str, str]) -> Iterator[str]:
    if "BYMONTH" not in parts or "BYMONTHDAY" not in parts:
        return
    longest = max(_MONTH_DAYS[int(month) - 1] for month in parts["BYMONTH"].split(","))
    if all(abs(int(day)) > longest for day in parts["BYMONTHDAY"].split(",")):
        yield "BYMONTH and BYMONTHDAY name no day of any year, so the rule is never due"


def _frequency_faults(value: str) -> Iterator[str]:
    if value == "SECONDLY":
        yield "FREQ=SECONDLY is finer than the scheduler's ticks; allowed down to MINUTELY"
    elif value not in _FREQUENCIES:
        yield unknown("FREQ", value, _FREQUENCIES)


def _positive_faults(key: str) -> Callable[[str], Iterator[str]]:
    def check(value: str) -> Iterator[str]:
        if not re.fullmatch(r"\d{1,9}", value) or int(value) < 1:
            yield f"{key} must be a whole number, 1 or more"

    return check


def _until_faults(value: str) -> Iterator[str]:
    if _read_moment(value) is None:
        yield "UNTIL needs a date, or a date and time such as 20261231T235959Z"


def _week_start_faults(value: str) -> Iterator[str]:
    if not re.fullmatch("MO|TU|WE|TH|FR|SA|SU", value):
        yield "WKST must be one of MO TU WE TH FR SA SU"


def _weekday_faults(value: str) -> Iterator[str]:
    for word in value.split(","):
        match = _WEEKDAY.fullmatch(word)
        if match is None or not 0 <= abs(int(match[1] or 1)) <= 53 or int(match[1] or 1) == 0:
            yield "BYDAY needs days such as MO,WE or 1MO,-1FR"
            return


def _range_faults(key: str) -> Callable[[str], Iterator[str]]:
    signed = _SIGNED.get(key)
    low, high = _RANGES.get(key, (1, signed))
    span = f"{low} to {high}" + (f" or -{high} to -1" if signed else "")

    def check(value: str) -> Iterator[str]:
        for word in value.split(","):
            number = int(word) if re.fullmatch(r"[+-]?\d{1,3}", word) else None
            if number is None or not low <= (abs(number) if signed else number) <= (high or 0):
                yield f"{key} needs whole numbers, {span}"
                return

    return check


_PARTS: Mapping[str, Callable[[str], Iterator[str]]] = {
    "FREQ": _frequency_faults,
    "INTERVAL": _positive_faults("INTERVAL"),
    "COUNT": _positive_faults("COUNT"),
    "UNTIL": _until_faults,
    "WKST": _week_start_faults,
    "BYDAY": _weekday_faults,
    **{key: _range_faults(key) for key in (*_RANGES, *_SIGNED)},
}
