"""Schedules: what would never be due, or never end, is refused when the document is read."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kaireon_dagster.ir import CatchUpAll
from kaireon_dagster_tests.ir.documents import Wrong, parse, problems, wrong_cases
from kaireon_dagster_tests.ir.samples import with_schedule

FIELDS = "minute hour day-of-month month day-of-week"
NEVER = f"not a cron expression that is ever due; its five fields are {FIELDS}"


def cron(expression: str, problem: str, **fields: Any) -> Wrong:
    schedule = {"kind": "cron", "expression": expression, **fields}
    return Wrong(with_schedule(schedule), problem)


def rule(text: str, problem: str) -> Wrong:
    schedule = {"kind": "rrule", "rrule": text}
    return Wrong(with_schedule(schedule), f"schedule.rrule: {problem}")


def zone(name: str, problem: str) -> Wrong:
    return cron("0 6 * * *", f"schedule.timezone: {problem}", timezone=name)


WRONG = [
    cron(
        "0 6 * *",
        f"schedule.expression: found 4 fields; a cron expression has five: {FIELDS}",
    ),
    cron("@daily", f"schedule.expression: found 1 fields; a cron expression has five: {FIELDS}"),
    cron(
        "0 0 6 * * *",
        f"schedule.expression: found 6 fields; a cron expression has five: {FIELDS}",
    ),
    cron("0 6 30 2 *", f"schedule.expression: {NEVER}"),
    cron("0 25 * * *", f"schedule.expression: {NEVER}"),
    cron("a b c d e", f"schedule.expression: {NEVER}"),
    cron("R 6 * * *", "schedule.expression: random and hashed fields (R, H) are not cron"),
    cron("0 H(1-3) * * *", "schedule.expression: random and hashed fields (R, H) are not cron"),
    zone("Mars/Olympus", "unknown time zone 'Mars/Olympus'; allowed: IANA names such as "
         "'Europe/Zurich'"),
    zone("europe/zurich", "unknown time zone 'europe/zurich'; did you mean 'Europe/Zurich'?"),
    zone("EST5EDT4", "unknown time zone 'EST5EDT4'; did you mean 'EST5EDT'?"),
    zone("+02:00", "unknown time zone '+02:00'; allowed: IANA names such as 'Europe/Zurich'"),
    replace(
        zone("", "unknown time zone ''; allowed: IANA names such as 'Europe/Zurich'"),
        seen_by_schema=True,
    ),
    Wrong(
        with_schedule({"kind": "interval", "minutes": 1441}),
        "schedule.minutes: found 1441; allowed: 1440 or less",
        True,
    ),
    Wrong(
        with_schedule({"kind": "interval", "minutes": -5}),
        "schedule.minutes: found -5; allowed: 1 or more",
        True,
    ),
    Wrong(
        with_schedule({"kind": "crn", "expression": "0 6 * * *"}),
        "schedule.kind: unknown schedule kind 'crn'; did you mean 'cron'? "
        "Allowed: 'cron', 'interval' or 'rrule'",
        True,
    ),
    Wrong(
        with_schedule({"kind": "interval", "minutes": 5, "catchUp": "lates"}),
        "schedule.catchUp: unknown catchUp 'lates'; did you mean 'latest'? "
        "Allowed: 'latest' or 'none'",
        True,
    ),
    Wrong(
        with_schedule({"kind": "interval", "minutes": 5, "catchUp": {"all": 0}}),
        "schedule.catchUp.all: found 0; allowed: 1 or more",
        True,
    ),
    Wrong(
        with_schedule({"kind": "interval", "minutes": 5, "catchUp": {"al": 1, "all": 1}}),
        "schedule.catchUp.al: unknown key 'al'; did you mean 'all'?",
        True,
    ),
    Wrong(
        with_schedule({"kind": "interval", "minutes": 5, "catchUp": 3}),
        "schedule.catchUp: found 3; allowed: 'latest' or 'none'",
        True,
    ),
    rule("garbage", "unknown rule part 'GARBAGE'; allowed: 'FREQ', 'INTERVAL', 'COUNT', 'UNTIL', "
         "'WKST', 'BYDAY', 'BYSECOND', 'BYMINUTE', 'BYHOUR', 'BYMONTH', 'BYMONTHDAY', "
         "'BYYEARDAY', 'BYWEEKNO' or 'BYSETPOS'; FREQ is missing; a rule begins like "
         "'FREQ=DAILY'"),
    rule("FREQ=DAYLY", "unknown FREQ 'DAYLY'; did you mean 'DAILY'? Allowed: 'YEARLY', "
         "'MONTHLY', 'WEEKLY', 'DAILY', 'HOURLY' or 'MINUTELY'"),
    rule("FREQ=SECONDLY;INTERVAL=10", "FREQ=SECONDLY is finer than the scheduler's ticks; "
         "allowed down to MINUTELY"),
    rule("FREQ=DAILY;INTERVAL=0", "INTERVAL must be a whole number, 1 or more"),
    rule("FREQ=DAILY;COUNT=x", "COUNT must be a whole number, 1 or more"),
    rule("FREQ=DAILY;COUNT=3;UNTIL=20260101", "COUNT and UNTIL exclude each other"),
    rule("FREQ=DAILY;UNTIL=20260230", "UNTIL needs a date, or a date and time such as "
         "20261231T235959Z"),
    rule("FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30", "BYMONTH and BYMONTHDAY name no day of any year, "
         "so the rule is never due"),
    rule("FREQ=DAILY;BYMONTH=4,6;BYMONTHDAY=-31", "BYMONTH and BYMONTHDAY name no day of any "
         "year, so the rule is never due"),
    rule("FREQ=DAILY;BYHOUR=24", "BYHOUR needs whole numbers, 0 to 23"),
    rule("FREQ=DAILY;BYMONTHDAY=0", "BYMONTHDAY needs whole numbers, 1 to 31 or -31 to -1"),
    rule("FREQ=MONTHLY;BYDAY=0MO", "BYDAY needs days such as MO,WE or 1MO,-1FR"),
    rule("FREQ=WEEKLY;WKST=XX", "WKST must be one of MO TU WE TH FR SA SU"),
    rule("FREQ=DAILY;FREQ=WEEKLY", "a part of the rule is written twice"),
    rule("DTSTART:20260101T060000Z", "exactly one rule is needed, such as 'FREQ=DAILY;COUNT=10'"),
    rule("FREQ=DAILY\nFREQ=WEEKLY", "exactly one rule is needed, such as 'FREQ=DAILY;COUNT=10'"),
    rule("RRULE:FREQ=DAILY\nDTSTART:20260101T060000Z", "DTSTART stands once, before the rule"),
    rule("DTSTART:tomorrow\nRRULE:FREQ=DAILY", "DTSTART needs a date and time such as "
         "20260301T060000Z"),
    rule("DTSTART;TZID=Mars/Olympus:20260301T013000\nRRULE:FREQ=DAILY", "DTSTART: unknown time "
         "zone 'Mars/Olympus'; allowed: IANA names such as 'Europe/Zurich'"),
    rule("DTSTART:20260301T000000Z\nRRULE:FREQ=DAILY;UNTIL=20260101T000000Z", "UNTIL lies before "
         "DTSTART, so the rule is never due"),
    rule("EXRULE:FREQ=DAILY\nRRULE:FREQ=DAILY", "unknown line 'EXRULE'; did you mean 'RRULE'? "
         "Allowed: 'DTSTART', 'RRULE', 'EXDATE' or 'RDATE'"),
]  # fmt: skip


@wrong_cases(WRONG)
def test_refused(case: Wrong) -> None:
    assert problems(case.document) == [case.problem]


def test_a_zone_is_no_path() -> None:
    (problem,) = problems(
        with_schedule(
            {"kind": "cron", "expression": "0 6 * * *", "timezone": "../../etc/localtime"}
        )
    )
    assert problem.startswith("schedule.timezone: unknown time zone '../../etc/localtime'")


@pytest.mark.parametrize(
    "expression",
    ["0 6 L * *", "0 6 29 2 *", "0 6 13 * 5", "0 6 */2 * 1", "0 6 * * 7", "0 6 * JAN-MAR MON,FRI"],
)
def test_cron_that_is_due_some_day(expression: str) -> None:
    parse(with_schedule({"kind": "cron", "expression": expression}))


@pytest.mark.parametrize(
    "text",
    [
        "RRULE:FREQ=DAILY",
        "freq=daily;count=1;",
        "DTSTART:20120101T000000Z\nRRULE:FREQ=MINUTELY;INTERVAL=5",
        "DTSTART:20120101T000000Z RRULE:FREQ=HOURLY",
        "DTSTART;TZID=America/New_York:20260301T013000\nRRULE:FREQ=DAILY;UNTIL=20260303T013000",
        "DTSTART;TZID=America/New_York:20260301T013000\nRRULE:FREQ=DAILY;UNTIL=20260303",
        "DTSTART;TZID=America/New_York:20260301T013000\nRRULE:FREQ=DAILY;UNTIL=20260303T063000Z",
        "DTSTART;VALUE=DATE:20260301\nRRULE:FREQ=DAILY",
        "DTSTART:20260101T060000Z\nRRULE:FREQ=DAILY;COUNT=4\n"
        "EXDATE:20260102T060000Z\nRDATE:20260310T060000Z,20260311T060000Z",
        "DTSTART:20260130T060000Z\nRRULE:FREQ=MONTHLY;BYMONTHDAY=30,-1;BYSETPOS=1",
        "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=29",
        "FREQ=MONTHLY;BYDAY=1MO,-1FR;BYHOUR=6;BYMINUTE=0;BYSECOND=0;WKST=SU",
        "FREQ=YEARLY;BYWEEKNO=1,-1;BYYEARDAY=366",
    ],
)
def test_rules_that_are_right(text: str) -> None:
    parse(with_schedule({"kind": "rrule", "rrule": text}))


def test_catch_up() -> None:
    schedule = parse(
        with_schedule({"kind": "interval", "minutes": 5, "catchUp": {"all": 5}})
    ).schedule
    assert schedule is not None
    assert schedule.catch_up == CatchUpAll(all=5)
