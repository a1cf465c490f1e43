"""Runs one document through its Dagster job, in this process."""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import dagster as dg

from kaireon_dagster import ir
from kaireon_dagster.errors import FlowError
from kaireon_dagster.orchestration.blueprint import Blueprint
from kaireon_dagster.orchestration.code_location import build_definitions
from kaireon_dagster.orchestration.drawing import draw
from kaireon_dagster.orchestration.facts import SHOWN_COUNTS
from kaireon_dagster.orchestration.resources import FlowDatabase
from kaireon_dagster.orchestration.watching import StepEvent, watching
from kaireon_dagster.state import Run, ledger, runs, wrapped

if TYPE_CHECKING:
    from kaireon_dagster.engine.outcome import Outcome

# Dagster's own log lines; whoever runs a document gets the events of its steps instead.
_QUIET: Final = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


@dataclass(frozen=True, slots=True)
class StepReport:
    """A step that was done, or failed: its node, its kind, and seconds."""

    node: str
    kind: str
    seconds: float


@dataclass(frozen=True, slots=True)
class RunReport:
    """What became of a run.

    Attributes:
        run_id: id of the Dagster run.
        status: `completed`, `completed_with_errors` or `failed`.
        rows: rows by what became of them, over all steps. What a step that failed had read is in
            `read`, and in no other number: nothing became of it.
        steps: in the order in which they ended; of a run that failed, the one that failed is last.
        targets: rows loaded by table.
        quarantine: rows refused by table.
        warnings: of all steps, each once.
        error: why it failed.
    """

    run_id: str
    status: str
    rows: dict[str, int]
    steps: tuple[StepReport, ...] = ()
    targets: dict[str, int] = field(default_factory=dict)
    quarantine: dict[str, int] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    error: str | None = None

    def to_json(self) -> dict[str, Any]:
        """As plain JSON values, keys in camelCase."""
        return {
            "runId": self.run_id,
            "status": self.status,
            "rows": self.rows,
            "steps": [asdict(step) for step in self.steps],
            "targets": [{"table": t, "loaded": rows} for t, rows in self.targets.items()],
            "quarantine": [{"table": t, "rows": rows} for t, rows in self.quarantine.items()],
            "warnings": list(self.warnings),
            "error": self.error,
        }


def execute(
    document: str | os.PathLike[str] | ir.LoadedDocument,
    *,
    database: FlowDatabase | None = None,
    instance: dg.DagsterInstance | None = None,
    on_event: Callable[[StepEvent], None] = lambda _event: None,
    resources: dict[str, Any] | None = None,
) -> RunReport:
    """Run one document through its job, all steps in this process.

    Args:
        document: path of a document, or one that was loaded.
        database: where to load; by default as `FlowDatabase` finds it.
        instance: keeps the run; by default one that is gone when the run is over.
        on_event: told of every step that starts, ends, or is tried again.
        resources: further resources in place of the default ones.

    Returns:
        What became of it, failures included.

    Raises:
        DocumentInvalid: the document cannot be used.
    """
    database = database or FlowDatabase()
    (blueprint,) = draw([_read(document)])
    given = {**(resources or {}), "database": database}
    job = build_definitions([blueprint], resources=given).resolve_job_def(blueprint.job)
    ended: list[StepEvent] = []

    def watch(event: StepEvent) -> None:
        if event.state in ("finished", "failed"):
            ended.append(event)
        on_event(event)

    with _instance(instance) as kept, watching(watch):
        result = job.execute_in_process(instance=kept, run_config=_QUIET, raise_on_error=False)
    return _report(blueprint, database, result, ended)


def _read(document: str | os.PathLike[str] | ir.LoadedDocument) -> ir.LoadedDocument:
    if isinstance(document, ir.LoadedDocument):
        return document
    path = Path(document)
    return ir.LoadedDocument(path, ir.read_document(path))


def _instance(given: dg.DagsterInstance | None) -> Any:
    return contextlib.nullcontext(given) if given else dg.DagsterInstance.ephemeral()


def _report(
    blueprint: Blueprint,
    database: FlowDatabase,
    result: dg.ExecuteInProcessResult,
    ended: Sequence[StepEvent],
) -> RunReport:
    error = None if result.success else _find_error(result)
    try:
        run, outcomes = _recall(blueprint, database, result.run_id)
    except FlowError:
        run, outcomes = None, ()
    status = run.status if run is not None and result.success else "failed"
    if run is not None and not result.success:
        error = run.metadata.get("error", error)
    return RunReport(
        run_id=result.run_id,
        status=status,
        rows=_total(outcomes, _lost(ended, outcomes)),
        steps=tuple(StepReport(e.node, e.kind, e.seconds) for e in ended),
        targets=_targets(outcomes),
        quarantine=_quarantine(outcomes),
        warnings=tuple(dict.fromkeys(w for outcome in outcomes for w in outcome.warnings)),
        error=error,
    )


def _recall(
    blueprint: Blueprint, database: FlowDatabase, run_id: str
) -> tuple[Run | None, tuple[Outcome, ...]]:
    from kaireon_dagster.engine.outcome import Outcome

    with wrapped("read the run"), database.open().connect() as connection:
        run = runs.get_run(connection, run_id)
        rows = [ledger.find(connection, run_id, step.name) for step in blueprint.plan.steps]
    return run, tuple(Outcome.from_json(row.detail) for row in rows if row is not None)


def _find_error(result: dg.ExecuteInProcessResult) -> str:
    for event in result.all_events:
        if event.is_step_failure:
            told = event.step_failure_data.user_failure_data
            return (told.description if told else None) or event.message or "the step failed"
    return "the run failed before a step began; see the events of the Dagster run"


def _lost(ended: Iterable[StepEvent], outcomes: Iterable[Outcome]) -> int:
    """Rows that steps had read and that nothing became of, since nothing was committed."""
    committed = {outcome.step for outcome in outcomes}
    return sum(e.read for e in ended if e.state == "failed" and e.step not in committed)


def _total(outcomes: Iterable[Outcome], lost: int) -> dict[str, int]:
    total: Counter[str] = Counter({"read": lost})
    for outcome in outcomes:
        total.update({name: getattr(outcome.counts, name) for name in SHOWN_COUNTS})
    return {name: total[name] for name in SHOWN_COUNTS}


def _targets(outcomes: Iterable[Outcome]) -> dict[str, int]:
    found: Counter[str] = Counter()
    for outcome in outcomes:
        if outcome.kind == "load":
            found[outcome.table] += outcome.counts.loaded
    return dict(found)


def _quarantine(outcomes: Iterable[Outcome]) -> dict[str, int]:
    found: Counter[str] = Counter()
    for outcome in outcomes:
        found.update(outcome.quarantine)
    return {table: rows for table, rows in found.items() if rows}
