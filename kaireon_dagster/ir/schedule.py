"""When a pipeline runs: cron, interval or recurrence rule."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Discriminator, Field, Tag

from kaireon_dagster.ir.base import Model, Text, Whole, refuse
from kaireon_dagster.ir.recurrence import find_rule_faults
from kaireon_dagster.ir.zones import Zone

_FIELDS = "minute hour day-of-month month day-of-week"


class CatchUpAll(Model):
    """Run every missed fire, oldest first, up to a limit."""

    all: Whole = Field(ge=1, description="How many missed fires to run at most.")


def _catch_up_tag(value: Any) -> str:
    return "<all>" if isinstance(value, (dict, CatchUpAll)) else "<word>"


CatchUp = Annotated[
    Annotated[Literal["latest", "none"], Tag("<word>")] | Annotated[CatchUpAll, Tag("<all>")],
    Discriminator(_catch_up_tag),
]


@lru_cache(maxsize=1024)
def find_cron_fault(expression: str) -> str | None:
    """Say why a cron expression cannot be scheduled; None when it can, at some time."""
    from croniter import CroniterError, croniter

    fields = expression.split()
    if len(fields) != 5:
        return f"found {len(fields)} fields; a cron expression has five: {_FIELDS}"
    # `R` and `H` are croniter's own: another time on every reading.
    if re.search(r"(^|[\s,])[RHrh]\b", expression):
        return "random and hashed fields (R, H) are not cron"
    try:
        croniter(expression, 0.0).get_next(float)
    except (CroniterError, ValueError, KeyError, IndexError, OverflowError):
        return f"not a cron expression that is ever due; its five fields are {_FIELDS}"
    return None


def _check_cron(expression: str) -> str:
    fault = find_cron_fault(expression)
    if fault is not None:
        raise refuse(fault)
    return expression


def _check_rule(rule: str) -> str:
    faults = list(find_rule_faults(rule))
    if faults:
        raise refuse("; ".join(faults))
    return rule


class _Timed(Model):
    catch_up: CatchUp = Field(
        default="latest",
        description="What becomes of fires missed while nothing ticked: the latest of them runs, "
        "none, or all up to {all: n}.",
    )


class Cron(_Timed):
    """Due at the local wall-clock times of a five-field cron expression."""

    kind: Literal["cron"] = Field(description="Runs by a cron expression.")
    expression: Annotated[Text, AfterValidator(_check_cron)] = Field(
        description=f"Five fields: {_FIELDS}.", examples=["0 9 * * 1"]
    )
    timezone: Zone = Field(default="UTC", description="IANA time zone of the expression.")


class Interval(_Timed):
    """Due when that many minutes have passed since the last run began."""

    kind: Literal["interval"] = Field(description="Runs every so many minutes.")
    minutes: Whole = Field(ge=1, le=1440, description="Minutes between runs, 1 to 1440.")


class Rrule(_Timed):
    """Due at the occurrences of an RFC 5545 recurrence rule."""

    kind: Literal["rrule"] = Field(description="Runs by a recurrence rule of RFC 5545.")
    rrule: Annotated[Text, AfterValidator(_check_rule)] = Field(
        description="The rule, with an optional DTSTART line before it; without one the series "
        "starts when the pipeline was created.",
        examples=["FREQ=DAILY;COUNT=10"],
    )
    timezone: Zone = Field(default="UTC", description="IANA time zone of times without one.")


Schedule = Annotated[Cron | Interval | Rrule, Field(discriminator="kind")]
