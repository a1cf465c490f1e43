"""The target node: the table that rows are loaded into, and how."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from kaireon_dagster.ir.base import Checked, Flag, Flaw, Model, Number, OneOrMany, Whole, repeated
from kaireon_dagster.ir.hooks import Hooks
from kaireon_dagster.ir.identifiers import FieldName, FieldReference, TargetTable, split_table
from kaireon_dagster.ir.node import Consumer

LoadMode = Literal[
    "append", "truncate", "upsert", "blue_green", "incremental_watermark", "cdc_mirror"
]
KEYED_MODES: tuple[str, ...] = ("upsert", "cdc_mirror")
REPLACING_MODES: tuple[str, ...] = ("truncate", "blue_green")


class BackupBeforeLoad(Model):
    """A copy of the table before truncate and blue_green replace it."""

    enabled: Flag = Field(default=True, description="Whether a copy is made.")
    retain_count: Whole = Field(default=3, ge=1, description="How many copies are kept.")
    on_error: Literal["fail", "warn"] = Field(
        default="fail", description="Whether a copy that cannot be made stops the load."
    )


class ExpectedRowCountDelta(Checked):
    """How far a load may be from the mean of the last runs."""

    min_pct: Number = Field(description="Lowest signed percent of the mean.")
    max_pct: Number = Field(description="Highest signed percent of the mean.")
    window_runs: Whole = Field(
        default=7, ge=3, le=60, description="How many completed runs make the mean, 3 to 60."
    )

    def flaws(self) -> Iterator[Flaw]:
        """Yield a band that no load is in."""
        if self.min_pct > self.max_pct:
            yield ("minPct",), f"found {self.min_pct:g}; allowed: at most maxPct, {self.max_pct:g}"


class Target(Checked, Consumer):
    """Loads rows into a table."""

    kind: Literal["target"] = Field(description="A table to load.")
    schema_: TargetTable = Field(
        alias="schema", description="The table, pg_schema.table; names are literal, case kept."
    )
    load_mode: LoadMode = Field(description="How rows go into the table.")
    upsert_key: Annotated[tuple[FieldName, ...], OneOrMany()] = Field(
        default=(), description="Key columns, one or a list; needed by upsert and cdc_mirror."
    )
    watermark_column: FieldName | None = Field(
        default=None, description="Column that only grows; needed by incremental_watermark."
    )
    lag_minutes: Whole = Field(
        default=0, ge=0, description="How far below the watermark late rows are looked for."
    )
    op_column: FieldReference = Field(
        default="_op", description="cdc_mirror: column that says insert, update or delete."
    )
    sequence_column: FieldReference | None = Field(
        default=None, description="cdc_mirror: column that orders the changes of a key."
    )
    create_table: Flag = Field(default=True, description="Whether a missing table is created.")
    on_new_columns: Literal["error", "add", "ignore"] = Field(
        default="error", description="What becomes of columns the table does not have."
    )
    pre_hook: Hooks = Field(default=(), description="Runs before the load; one or a list.")
    post_hook: Hooks = Field(default=(), description="Runs after the load; one or a list.")
    backup_before_load: BackupBeforeLoad | None = Field(
        default=None, description="Keep copies of the table before truncate and blue_green."
    )
    expected_row_count_delta: ExpectedRowCountDelta | None = Field(
        default=None, description="Band around the mean of the last runs."
    )
    allow_empty_source: Flag = Field(
        default=False, description="Whether truncate and blue_green may empty the table."
    )
    lineage: Flag = Field(default=True, description="Whether rows carry _kaireon_lineage.")

    @property
    def table(self) -> tuple[str, str]:
        """The table as (schema, table)."""
        return split_table(self.schema_)

    def flaws(self) -> Iterator[Flaw]:
        """Yield what the load mode needs and was not given."""
        if self.load_mode in KEYED_MODES and not self.upsert_key:
            yield ("upsertKey",), f"required key is missing; {self.load_mode} matches rows by it"
        if self.load_mode == "incremental_watermark" and self.watermark_column is None:
            yield (
                ("watermarkColumn",),
                "required key is missing; incremental_watermark loads the rows above it",
            )
        for index, name in repeated(self.upsert_key):
            yield ("upsertKey", index), f"column {name!r} is named twice"
