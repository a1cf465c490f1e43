"""What a document would do: compiled for the columns that are there, with nothing touched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone

import duckdb

from kaireon_dagster import ir
from kaireon_dagster.engine.catalog import read_catalog
from kaireon_dagster.engine.inputs import open_inputs
from kaireon_dagster.engine.relation import ClaimedFiles
from kaireon_dagster.engine.scope import Scope
from kaireon_dagster.errors import Terminal
from kaireon_dagster.plan.catalog import Catalog
from kaireon_dagster.plan.compile import Compiled, compile_step, lookups, tables
from kaireon_dagster.plan.rows import Rows
from kaireon_dagster.plan.steps import Plan, Step
from kaireon_dagster.plan.target import Placement
from kaireon_dagster.sources import find_files, open_store
from kaireon_dagster.state import Database


@dataclass(frozen=True, slots=True)
class StepPreview:
    """One step as it would run now.

    Attributes:
        files: names of the files that a claim step would take.
        compiled: the step's SQL; None where it could not be compiled.
        notes: what is not known, and why.
        error: why the step would fail.
    """

    step: Step
    files: tuple[str, ...] = ()
    compiled: Compiled | None = None
    notes: tuple[str, ...] = ()
    error: str = ""

    @property
    def placement(self) -> Placement | None:
        """How a load step would write its table."""
        return self.compiled.placement if self.compiled else None


@dataclass(slots=True)
class Preview:
    """Goes through a plan step by step, in the order in which they would run."""

    plan: Plan
    session: duckdb.DuckDBPyConnection
    database: Database | None
    without: str = ""
    leaves: dict[str, Rows] = field(default_factory=dict)

    def steps(self) -> Iterator[StepPreview]:
        """Preview every step; one that cannot be known leaves those behind it unknown."""
        for step in self.plan.steps:
            try:
                yield self._claim(step) if step.kind == "claim" else self._compile(step)
            except Terminal as error:
                yield StepPreview(step, error=str(error))

    def _claim(self, step: Step) -> StepPreview:
        source = self.plan.pipeline.node(step.node)
        assert isinstance(source, ir.Source), "streams are refused before"
        store = open_store(source)
        found = sorted(find_files(source, _now()), key=lambda entry: entry.name)
        if not found:
            note = "no file matches now, so the columns are not known yet"
            return StepPreview(step, notes=(note,))
        files = ClaimedFiles(source.id, (store.in_place(found[0]),))
        with open_inputs(self.session, self._scope(), _reading(step), {step.name: files}) as inputs:
            self.leaves[step.name] = inputs.leaves[step.name]
        names = tuple(entry.name for entry in found)
        return StepPreview(step, names, notes=(f"columns as in {names[0]}",))

    def _compile(self, step: Step) -> StepPreview:
        if any(name not in self.leaves for name in step.inputs):
            return StepPreview(
                step, notes=("SQL not known: the columns it reads are not known yet",)
            )
        catalog, notes = self._catalog(step)
        if self.database is None and lookups(self.plan, step):
            return StepPreview(
                step, notes=(*notes, "SQL not known: it looks rows up in the database")
            )
        compiled = compile_step(self.plan, step, self.leaves, catalog)
        result = compiled.program.result
        if step.kind == "stage":
            self.leaves[step.name] = replace(result.unmarked(step.name), scrambled=False)
        return StepPreview(step, compiled=compiled, notes=(*notes, *compiled.program.warnings))

    def _catalog(self, step: Step) -> tuple[Catalog, tuple[str, ...]]:
        wanted = tables(self.plan, step)
        if not wanted:
            return Catalog(), ()
        if self.database is None:
            return Catalog(), (f"as if no table existed: {self.without}",)
        with self.database.connect() as connection:
            connection.read_only = True
            return read_catalog(connection, wanted), ()

    def _scope(self) -> Scope:
        return Scope("plan", self.plan, _now(), self.database or Database(""))


def lineage(compiled: Compiled) -> Mapping[str, tuple[str, ...]]:
    """For each column of a step's result, the columns it is computed from, as `node.column`."""
    return {
        column.name: tuple(sorted(f"{o.relation}.{o.column}" for o in column.origins))
        for column in compiled.program.columns
    }


def _reading(step: Step) -> Step:
    return Step(step.name, step.node, "stage", (step.name,), step.nodes)


def _now() -> datetime:
    return datetime.now(timezone.utc)
