"""Loads that must not go on, and what to do about each."""

from __future__ import annotations

from dataclasses import dataclass

from kaireon_dagster.errors import Terminal, Transient


class RowsRefused(Terminal):
    """Rows that a rule or a type forbids, where the document says to fail."""

    def __init__(self, node: str, rule: str, field: str, what: str, rows: int, place: str) -> None:
        super().__init__(node, rule, field, what, rows, place)
        self.node, self.rule, self.field = node, rule, field
        self.what, self.rows, self.place = what, rows, place

    def __str__(self) -> str:
        at = f", first at {self.place}" if self.place else ""
        column = f"column {self.field!r} " if self.field else ""
        return (
            f"node {self.node!r}, {self.rule}: {column}{self.what} in {self.rows} rows{at}; nothing "
            "was loaded. Mend the source, or let such rows go to quarantine (onError or onFail: "
            "quarantine, errorHandling.dlq.enabled: true)"
        )


class RowsUnreadable(Terminal):
    """Rows of a file that cannot be read, where no quarantine is enabled.

    Attributes:
        more: how many others there are, counted up to `COUNTED`.
    """

    COUNTED = 1000

    def __init__(self, file: str, line: int, cause: str, more: int) -> None:
        super().__init__(file, line, cause, more)
        self.file, self.line, self.cause, self.more = file, line, cause, more

    def __str__(self) -> str:
        least = "at least " if self.more >= self.COUNTED else ""
        others = f" (and {least}{self.more} more)" if self.more else ""
        return (
            f"{self.file}:{self.line}: {self.cause}{others}; nothing was loaded. Mend the file, or set "
            "errorHandling.dlq.enabled to true to quarantine such rows"
        )


class DatasetRefused(Terminal):
    """A dataset validator with `onFail: abort` that does not hold."""

    def __init__(self, node: str, validator: str, what: str) -> None:
        super().__init__(node, validator, what)
        self.node, self.validator, self.what = node, validator, what

    def __str__(self) -> str:
        return f"node {self.node!r}, {self.validator}: {self.what}; nothing was loaded"


class SourceEmpty(Terminal):
    """No row for a target that would be emptied."""

    def __init__(self, node: str, table: str) -> None:
        super().__init__(node, table)
        self.node, self.table = node, table

    def __str__(self) -> str:
        return (
            f"node {self.node!r}: there is no row to load, and {self.table} would be emptied; it was "
            "left as it is. If an empty source is right, set allowEmptySource to true"
        )


class BudgetExceeded(Terminal):
    """More bad rows than the document allows."""

    def __init__(self, bad: int, read: int, limit: str, reasons: str) -> None:
        super().__init__(bad, read, limit, reasons)
        self.bad, self.read, self.limit, self.reasons = bad, read, limit, reasons

    def __str__(self) -> str:
        return (
            f"{self.bad} of {self.read} rows are bad, more than errorHandling.dlq allows "
            f"({self.limit}); nothing was loaded or quarantined. Rows by what they fail: {self.reasons}"
        )


class LookupNotUnique(Terminal):
    """A lookup table with several rows for one key."""

    def __init__(
        self, node: str, table: str, key: tuple[str, ...], repeated: tuple[str, ...]
    ) -> None:
        super().__init__(node, table, key, repeated)
        self.node, self.table, self.key, self.repeated = node, table, key, repeated

    def __str__(self) -> str:
        columns = ", ".join(self.key)
        return (
            f"node {self.node!r}: lookup table {self.table} has several rows for one ({columns}): "
            f"{', '.join(self.repeated)}; make the key unique, or look up by more columns"
        )


class LookupTooLarge(Terminal):
    """A lookup table with more rows than a worker takes in."""

    def __init__(self, node: str, table: str, limit: int) -> None:
        super().__init__(node, table, limit)
        self.node, self.table, self.limit = node, table, limit

    def __str__(self) -> str:
        return (
            f"node {self.node!r}: lookup table {self.table} has more than {self.limit} rows; raise "
            "lookup_rows, or load the rows and join in the database"
        )


class LookupNotFinite(Terminal):
    """A lookup column with dates or times that a worker cannot hold."""

    def __init__(self, node: str, table: str, column: str) -> None:
        super().__init__(node, table, column)
        self.node, self.table, self.column = node, table, column

    def __str__(self) -> str:
        return (
            f"node {self.node!r}: column {self.column!r} of lookup table {self.table} holds infinity, or "
            "a time after the year 290000; look up a view of it that writes such values otherwise"
        )


class CountsDisagree(Terminal):
    """The books do not balance: a fault of this package, never of the data."""

    def __init__(self, step: str, counts: str) -> None:
        super().__init__(step, counts)
        self.step, self.counts = step, counts

    def __str__(self) -> str:
        return f"step {self.step!r}: rows do not add up ({self.counts}); the load was rolled back"


class EnvironmentMissing(Terminal):
    """An environment variable that a document names is not set."""

    def __init__(self, node: str, variable: str) -> None:
        super().__init__(node, variable)
        self.node, self.variable = node, variable

    def __str__(self) -> str:
        return f"node {self.node!r}: environment variable {self.variable} is not set"


class TableBusy(Transient):
    """A table that could not be locked in time."""

    def __init__(self, table: str, seconds: float) -> None:
        super().__init__(table, seconds)
        self.table, self.seconds = table, seconds

    def __str__(self) -> str:
        return (
            f"{self.table} is in use and could not be locked within {self.seconds:.0f} s; it was left "
            "as it is. End the long transaction on it, or run again later"
        )


class RunEnded(Terminal):
    """A step of a run that has already failed elsewhere."""

    def __init__(self, run_id: str, node: str) -> None:
        super().__init__(run_id, node)
        self.run_id, self.node = run_id, node

    def __str__(self) -> str:
        return f"step {self.node!r} did not start: run {self.run_id} has failed in another step"


@dataclass(frozen=True, slots=True)
class Fault:
    """A row that must not pass, and where it stands among the rows read."""

    rule: int
    ordinal: int | None
