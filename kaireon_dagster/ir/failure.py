"""What happens when something goes wrong: tries, bad rows, and the rest of the run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from kaireon_dagster.ir.base import Checked, Flag, Flaw, Model, Number, Whole
from kaireon_dagster.ir.identifiers import TableName


class Retry(Checked):
    """Tries after a transient fault: how many, and how far apart."""

    max_attempts: Whole = Field(
        default=0, ge=0, le=20, description="Tries after the first, 0 to 20."
    )
    backoff: Literal["exponential", "linear", "fixed"] = Field(
        default="exponential", description="How the delay grows from try to try."
    )
    delay_seconds: Number = Field(default=5, ge=0, description="Seconds before the second try.")
    max_delay_seconds: Number = Field(
        default=300, ge=0, description="Seconds between two tries at most."
    )

    def flaws(self) -> Iterator[Flaw]:
        """Yield a first delay that the cap would silently cut."""
        if self.delay_seconds > self.max_delay_seconds:
            yield (
                ("delaySeconds",),
                f"found {self.delay_seconds:g}; allowed: at most maxDelaySeconds, "
                f"{self.max_delay_seconds:g}",
            )


class Dlq(Model):
    """Where bad rows go, and how many are too many."""

    enabled: Flag = Field(default=False, description="Whether bad rows are kept aside.")
    destination: TableName | None = Field(
        default=None, description="schema.table; by default flow_dlq and the pipeline's id."
    )
    max_pct: Number | None = Field(
        default=None, ge=0, le=100, description="Percent of bad rows above which a run fails."
    )
    max_rows: Whole | None = Field(
        default=None, ge=0, description="Number of bad rows above which a run fails."
    )


class ErrorHandling(Model):
    """Retry, DLQ, and whether other branches run on."""

    retry: Retry = Field(default=Retry(), description="How transient faults are tried again.")
    dlq: Dlq = Field(default=Dlq(), description="Where bad rows go.")
    on_failure: Literal["abort", "continue", "alert"] = Field(
        default="abort",
        description="abort: the run stops; continue: branches not below the failed node still "
        "run; alert: abort, and an error alert.",
    )
