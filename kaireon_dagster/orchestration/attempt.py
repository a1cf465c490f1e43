"""One try of one step inside Dagster: its scope, its heartbeat, and how it ends."""

from __future__ import annotations

import contextlib
import random
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import dagster as dg

from kaireon_dagster import ir
from kaireon_dagster.errors import FlowError, Terminal
from kaireon_dagster.orchestration.blueprint import Blueprint
from kaireon_dagster.orchestration.errors import ProgramFault, Terminated
from kaireon_dagster.orchestration.flow_run import find_run_id
from kaireon_dagster.orchestration.heart import Heart
from kaireon_dagster.orchestration.retrying import Tries, delay_again
from kaireon_dagster.orchestration.watching import State, StepEvent, tell
from kaireon_dagster.plan.steps import Step
from kaireon_dagster.state import AlreadyLoaded, Connection, Database, pipelines, runs, wrapped

if TYPE_CHECKING:
    from kaireon_dagster.engine.scope import Scope

T = TypeVar("T")
_FRAMES = 4
NO_RUN_RETRIES = {"dagster/max_retries": "0"}
"""Tag that keeps Dagster from running a hopeless run once more."""


@dataclass(frozen=True, slots=True)
class Ended:
    """An attempt that did not succeed.

    Attributes:
        error: why.
        decision: to be raised: it will be tried again, or the Flow run is closed as failed.
    """

    error: FlowError
    decision: dg.RetryRequested | dg.Failure


class Attempt:
    """One try of a step.

    Attributes:
        scope: the Flow run, once the database was reached.
        looks: how often this Dagster run has looked for files that were not there.
    """

    def __init__(
        self,
        context: dg.OpExecutionContext,
        blueprint: Blueprint,
        step: Step,
        targets: tuple[ir.Target, ...],
    ) -> None:
        self.context, self.blueprint, self.step = context, blueprint, step
        self.scope: Scope | None = None
        self._targets = targets
        self.looks = 0
        self._read = 0
        self._began = time.monotonic()

    def run(self, work: Callable[[Scope], T]) -> T | Ended:
        """Do the step's work, and decide what an error means.

        Whatever interrupts the work leaves as it is, after the Flow run was closed as failed.

        Args:
            work: is given the scope. Done at once again where another process was faster.
        """
        self._tell("started")
        error: FlowError
        try:
            return self._work(work)
        except FlowError as caught:
            error = caught
        except Exception as caught:  # noqa: BLE001  (its text may hold values, so it is retold)
            error = _retold(self.step, caught)
        except BaseException:
            self._close(Terminated(self.step.name))
            raise
        return Ended(error, self._decide(error))

    @property
    def opened(self) -> Scope:
        """The scope of a step that did its work."""
        assert self.scope is not None, "work was done in a scope"
        return self.scope

    def finished(self, message: str) -> None:
        """Tell that the step is done."""
        self._tell("finished", message)

    def _work(self, work: Callable[[Scope], T]) -> T:
        self.scope = self._open()
        with Heart(self.scope.database, self.scope.run_id):
            try:
                return work(self.scope)
            except AlreadyLoaded:
                return work(self.scope)

    def _open(self) -> Scope:
        from kaireon_dagster.engine.scope import Scope

        resources: Any = self.context.resources
        database: Database = resources.database.open()
        plan = self.blueprint.restricted(self._targets)
        with wrapped("open the run"), database.connect() as connection:
            run = self._open_run(connection)
        return Scope(
            run_id=run.id,
            plan=plan,
            started_at=run.started_at,
            database=database,
            settings=resources.engine.settings(),
            log=self.context.log.info,
            on_read=self._note_read,
            execution=self.context.run.run_id,
        )

    def _open_run(self, connection: Connection) -> runs.Run:
        pipeline, dagster_run = self.blueprint.pipeline, self.context.run
        run_id = find_run_id(
            connection, self.context.instance, dagster_run, pipeline.id, self.blueprint.job
        )
        if self.step.kind == "claim":
            text = ir.write_canonical(pipeline)
            name, tenant = pipeline.metadata.name, pipeline.tenant_id
            pipelines.register(connection, pipeline.id, tenant, name, text, self.blueprint.hash)
        runs.open_run(
            connection,
            run_id,
            pipeline.id,
            pipeline.tenant_id,
            self.blueprint.hash,
            [target.id for target in self._targets],
            execution=dagster_run.run_id,
        )
        run = runs.get_run(connection, run_id)
        assert run is not None, "the run was opened"
        seen = run.metadata["nodeResults"].get(self.step.name, {})
        self.looks = seen.get("looks", 0) if seen.get("execution") == dagster_run.run_id else 0
        return run

    def _decide(self, error: FlowError) -> dg.RetryRequested | dg.Failure:
        # What it came from may quote a row.
        error.__cause__ = error.__context__ = None
        tries = Tries(self.context.retry_number, self.looks)
        retry = self.blueprint.pipeline.error_handling.retry
        seconds = delay_again(error, retry, tries, chance=random.random())
        if seconds is not None:
            self._wait(error, seconds)
            again = dg.RetryRequested(self.context.retry_number + 1, seconds)
            again.__cause__ = error
            return again
        if isinstance(error, Terminal):
            self.context.instance.add_run_tags(self.context.run.run_id, NO_RUN_RETRIES)
        self._close(error)
        return dg.Failure(
            description=str(error),
            metadata={"error": type(error).__name__, "step": self.step.name},
            allow_retries=False,
        )

    def _wait(self, error: FlowError, seconds: float) -> None:
        self._tell("retrying", f"{error}; next try in {seconds:.0f} s")
        if self.scope is None:
            return
        with (
            contextlib.suppress(FlowError),
            wrapped("wait"),
            self.scope.database.connect() as connection,
        ):
            if hasattr(error, "wait_seconds"):
                result = {"status": "waiting", "looks": self.looks + 1}
                result["execution"] = self.context.run.run_id
                runs.record_node(connection, self.scope.run_id, self.step.name, result)
            runs.beat(connection, self.scope.run_id, ahead=timedelta(seconds=seconds))

    def _close(self, error: FlowError) -> None:
        from kaireon_dagster.engine.closing import fail_run

        self._tell("failed", str(error))
        if self.scope is None:
            return
        try:
            fail_run(self.scope, str(error))
        except FlowError as fault:
            self.context.log.warning(f"the run could not be closed as failed: {fault}")

    def _note_read(self, rows: int) -> None:
        self._read = rows

    def _tell(self, state: State, message: str = "") -> None:
        step, seconds = self.step, round(time.monotonic() - self._began, 3)
        tell(StepEvent(step.name, step.node, step.kind, state, seconds, message, self._read))


def _retold(step: Step, error: Exception) -> ProgramFault:
    frames = traceback.extract_tb(error.__traceback__)[-_FRAMES:]
    place = " < ".join(f"{Path(f.filename).name}:{f.lineno}" for f in reversed(frames))
    return ProgramFault(step.name, type(error).__name__, place)
