"""Time zones: IANA names only, so that nothing falls back to UTC or to the server's zone."""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated
from zoneinfo import available_timezones

from pydantic import AfterValidator

from kaireon_dagster.ir.base import SeenAs, refuse
from kaireon_dagster.ir.spelling import nearest, quote


def find_zone_fault(zone: str) -> str | None:
    """Say why this is not a time zone, with the nearest that is; None when it is one."""
    if zone == "UTC" or zone in _zones():
        return None
    guess = nearest(zone, _zones())
    advice = f"did you mean {guess!r}?" if guess else "allowed: IANA names such as 'Europe/Zurich'"
    return f"unknown time zone {quote(zone)}; {advice}"


@lru_cache(maxsize=1)
def _zones() -> frozenset[str]:
    return frozenset(available_timezones())


def _check_zone(zone: str) -> str:
    fault = find_zone_fault(zone)
    if fault is not None:
        raise refuse(fault)
    return zone


Zone = Annotated[str, AfterValidator(_check_zone), SeenAs({"type": "string", "minLength": 1})]
