"""What a step did, as it is remembered in the ledger and shown in Dagster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from kaireon_dagster.plan.hidden import Severity


@dataclass(frozen=True, slots=True)
class Counts:
    """Rows, by what became of them.

    `read` counts rows of files; `staged` counts rows taken from or written to a staged table.
    """

    read: int = 0
    staged: int = 0
    loaded: int = 0
    inserted: int = 0
    updated: int = 0
    quarantined: int = 0
    rejected: int = 0
    filtered: int = 0
    deduplicated: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    @property
    def gone(self) -> int:
        """Rows that were read and are in no target."""
        return self.quarantined + self.rejected + self.filtered + self.deduplicated


@dataclass(frozen=True, slots=True)
class RuleResult:
    """How one rule fared over the rows of a step.

    Attributes:
        severity: what a violation does; `abort` and `warn` for dataset validators too.
        failed: rows that violate it; for a dataset validator, what it measured.
        passed: whether nothing is to be complained of.
    """

    node: str
    rule: str
    severity: Severity
    failed: int
    passed: bool
    what: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a stage or load step."""

    step: str
    kind: str
    counts: Counts
    rules: tuple[RuleResult, ...] = ()
    table: str = ""
    quarantine: Mapping[str, int] = field(default_factory=dict)
    columns: tuple[tuple[str, str], ...] = ()
    lineage: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    sql: str = ""
    seconds: float = 0.0
    repeated: bool = False

    def to_json(self) -> dict[str, Any]:
        """As plain JSON values."""
        return asdict(self)

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Outcome:
        """Back from `to_json`."""
        values = dict(data)
        values["counts"] = Counts(**data["counts"])
        values["rules"] = tuple(RuleResult(**rule) for rule in data["rules"])
        values["columns"] = tuple((name, type_) for name, type_ in data["columns"])
        values["lineage"] = {k: tuple((r, c) for r, c in v) for k, v in data["lineage"].items()}
        values["warnings"] = tuple(data["warnings"])
        return Outcome(**values)
