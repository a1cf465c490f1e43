"""Whether a step is tried again, and after how long: one decision, from the error and the tries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from kaireon_dagster import ir
from kaireon_dagster.errors import FlowError, Transient

# 2 ** 60 times any delay is far beyond every cap, and still a finite number.
_STEEPEST: Final = 60
# Steps that failed together come back apart; small enough that doubled delays still rise.
_SPREAD: Final = 0.25


@dataclass(frozen=True, slots=True)
class Tries:
    """What a step has been through in this run.

    Attributes:
        retries: how often it was tried again so far, for whatever reason.
        looks: how many of these were looks for files that were not there.
    """

    retries: int = 0
    looks: int = 0

    @property
    def faults(self) -> int:
        """How many were for transient faults."""
        return max(self.retries - self.looks, 0)


def delay_again(
    error: FlowError, retry: ir.Retry, tries: Tries, *, chance: float = 0.0
) -> float | None:
    """Decide in how many seconds a step is tried again; None when it is not.

    Args:
        error: what ended the try. One that says how long to wait, as a source without files does,
            has a budget of its own and is always obeyed.
        retry: the document's policy; `maxAttempts` counts tries after the first.
        tries: what has been tried before.
        chance: 0 to 1; shortens the delay by up to a quarter.
    """
    if not isinstance(error, Transient):
        return None
    wait = getattr(error, "wait_seconds", None)
    if wait is not None:
        return float(wait)
    if tries.faults >= retry.max_attempts:
        return None
    return delay(retry, tries.faults + 1) * (1 - _SPREAD * chance)


def delay(retry: ir.Retry, attempt: int) -> float:
    """Seconds before a try, the first repetition being number 1: rises to the cap and stays."""
    factor = {
        "exponential": 2.0 ** min(attempt - 1, _STEEPEST),
        "linear": float(attempt),
        "fixed": 1.0,
    }[retry.backoff]
    return min(retry.delay_seconds * factor, retry.max_delay_seconds)
