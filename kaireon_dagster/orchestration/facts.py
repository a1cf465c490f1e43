"""What is shown of assets and runs as Dagster metadata; the keys stand here and nowhere else.

Only numbers are plotted, so counts are ints and seconds floats, zeros included. Nothing here comes
out of a row.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import dagster as dg

from kaireon_dagster import ir
from kaireon_dagster.orchestration.describing import describe_schedule
from kaireon_dagster.orchestration.keys import table_key

if TYPE_CHECKING:
    from kaireon_dagster.engine.outcome import Counts, Outcome
    from kaireon_dagster.engine.relation import ClaimedFiles
    from kaireon_dagster.orchestration.blueprint import Blueprint

TABLE_NAME: Final = "dagster/table_name"
ROW_COUNT: Final = "dagster/row_count"
COLUMN_SCHEMA: Final = "dagster/column_schema"
COLUMN_LINEAGE: Final = "dagster/column_lineage"
CODE_REFERENCES: Final = "dagster/code_references"
KIND: Final = "dagster/kind/"
SHOWN_COUNTS: Final = (
    "read",
    "loaded",
    "inserted",
    "updated",
    "quarantined",
    "rejected",
    "filtered",
    "deduplicated",
)
_SHOWN_FILES: Final = 20
_LONGEST_SQL: Final = 30_000

Metadata = dict[str, Any]


def target_facts(blueprint: Blueprint, target: ir.Target) -> Metadata:
    """What the document says of a target."""
    pipeline = blueprint.pipeline
    facts: Metadata = {
        TABLE_NAME: target.schema_,
        CODE_REFERENCES: code_references(blueprint.path),
        "pipeline": pipeline.id,
        "load_mode": target.load_mode,
    }
    if target.upsert_key:
        facts["upsert_key"] = ", ".join(target.upsert_key)
    if pipeline.schedule is not None:
        facts["schedule"] = describe_schedule(pipeline.schedule)
    if pipeline.metadata.owner:
        facts["owner"] = pipeline.metadata.owner
    return facts


def source_facts(path: Path, node: ir.Source | ir.StreamSource) -> Metadata:
    """What the document says of a source."""
    facts: Metadata = {CODE_REFERENCES: code_references(path), "connector": node.connector}
    if isinstance(node, ir.Source):
        facts |= {
            "path": node.config.path,
            "pattern": node.config.pattern.value,
            "format": node.config.format,
            "ordering": node.config.ordering,
        }
    return facts


def code_references(path: Path) -> dg.CodeReferencesMetadataValue:
    """Where the document stands."""
    with warnings.catch_warnings():
        # Marked beta; whoever loads documents has no choice to make about that.
        warnings.simplefilter("ignore", dg.BetaWarning)
        reference = dg.LocalFileCodeReference(
            file_path=str(path.absolute()), line_number=1, label=path.name
        )
        return dg.CodeReferencesMetadataValue(code_references=[reference])


def load_facts(blueprint: Blueprint, outcome: Outcome, before: Iterable[Outcome]) -> Metadata:
    """What a load did.

    Args:
        blueprint: whose load it was.
        outcome: of the load.
        before: outcomes of the stage steps that it stands on; their rows count too.
    """
    counts = sum((earlier.counts for earlier in before), outcome.counts)
    facts: Metadata = {
        **count_facts(counts),
        "seconds": float(outcome.seconds),
        COLUMN_SCHEMA: _column_schema(outcome.columns),
        COLUMN_LINEAGE: _column_lineage(blueprint, outcome.lineage),
        **_told(outcome),
    }
    return facts


def stage_facts(outcome: Outcome) -> Metadata:
    """What a stage step did."""
    counts = {**count_facts(outcome.counts), "staged": outcome.counts.staged}
    return {**counts, "seconds": float(outcome.seconds), **_told(outcome)}


def claim_facts(claimed: ClaimedFiles) -> Metadata:
    """What a claim step took."""
    names = [file.label for file in claimed.files[:_SHOWN_FILES]]
    more = len(claimed.files) - len(names)
    listed = "\n".join(f"- `{name}`" for name in names)
    return {
        "files": len(claimed.files),
        "superseded": len(claimed.superseded),
        "bytes": sum(file.size for file in claimed.files),
        "names": dg.MetadataValue.md(listed + (f"\n- and {more} more" if more else "")),
    }


def quarantine_facts(
    blueprint: Blueprint, step: str, rows: int, by_rule: Mapping[str, int]
) -> Metadata:
    """What a step put into quarantine, and what its whole run has there by now."""
    lines = [f"| `{rule}` | {count} |" for rule, count in sorted(by_rule.items())]
    table = "\n".join(["| rule | rows of this run |", "| --- | --- |", *lines])
    return {
        "pipeline": blueprint.pipeline.id,
        "step": step,
        "quarantined": rows,
        "rules": dg.MetadataValue.md(table),
    }


def count_facts(counts: Counts) -> Metadata:
    """Counts of rows, by what became of them."""
    shown = {field.name: int(getattr(counts, field.name)) for field in fields(counts)}
    return {name: shown[name] for name in SHOWN_COUNTS}


def _told(outcome: Outcome) -> Metadata:
    facts: Metadata = {}
    if outcome.sql:
        facts["sql"] = dg.MetadataValue.md(f"```sql\n{outcome.sql[:_LONGEST_SQL]}\n```")
    if outcome.warnings:
        facts["warnings"] = dg.MetadataValue.md("\n".join(f"- {w}" for w in outcome.warnings))
    if outcome.repeated:
        facts["repeated"] = True
    return facts


def _column_schema(columns: Iterable[tuple[str, str]]) -> dg.TableSchema:
    return dg.TableSchema(
        columns=[dg.TableColumn(name=name, type=type_) for name, type_ in columns]
    )


def _column_lineage(
    blueprint: Blueprint, lineage: Mapping[str, Iterable[tuple[str, str]]]
) -> dg.TableColumnLineage:
    sources = {node.id for node in blueprint.source_nodes}

    def key(relation: str) -> dg.AssetKey:
        if relation in sources:
            return blueprint.source_key(relation)
        return table_key(ir.split_table(relation))

    return dg.TableColumnLineage(
        deps_by_column={
            column: [
                dg.TableColumnDep(asset_key=key(relation), column_name=origin)
                for relation, origin in origins
            ]
            for column, origins in lineage.items()
        }
    )
