"""Assets that Dagster only shows: source files, tables that others load, DLQ tables, documents
that cannot be used."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

import dagster as dg

from kaireon_dagster import ir
from kaireon_dagster.orchestration.blueprint import Blueprint
from kaireon_dagster.orchestration.describing import describe_node
from kaireon_dagster.orchestration.facts import (
    CODE_REFERENCES,
    TABLE_NAME,
    code_references,
    source_facts,
)
from kaireon_dagster.orchestration.keys import TableName, table_key
from kaireon_dagster.orchestration.labels import kind_tags, owners_of, tags_of
from kaireon_dagster.orchestration.names import key_part

BROKEN: Final = "broken_documents"
TABLES: Final = "tables"
QUARANTINE: Final = "quarantine"


def external_specs(blueprints: Sequence[Blueprint]) -> Iterator[dg.AssetSpec]:
    """All that stands around the pipelines, each key once."""
    seen = {key for b in blueprints for key in map(b.key, b.pipeline.targets)}
    for spec in (
        *_sources(blueprints),
        *_shared(blueprints),
        *_quarantines(blueprints),
        *_lookups(blueprints),
    ):
        if spec.key not in seen:
            seen.add(spec.key)
            yield spec


def broken_specs(broken: Iterable[ir.BrokenDocument], root: Path) -> Iterator[dg.AssetSpec]:
    """An asset for each document that cannot be used, with all its problems."""
    for document in broken:
        lines = [f"- `{document.path}`: {problem}" for problem in document.problems]
        said = "This document was left out; the others are loaded. What is wrong with it:"
        yield dg.AssetSpec(
            dg.AssetKey([BROKEN, *_parts(document.path, root)]),
            group_name=BROKEN,
            description="\n".join([said, "", *lines]),
            metadata={
                "problems": len(document.problems),
                CODE_REFERENCES: code_references(document.path),
            },
            kinds={"broken"},
        )


def _parts(path: Path, root: Path) -> list[str]:
    try:
        relative = path.relative_to(root)
    except ValueError:
        relative = Path(path.name)
    parts = relative.parts or (path.name,)
    return [key_part(part) for part in parts]


def _sources(blueprints: Iterable[Blueprint]) -> Iterator[dg.AssetSpec]:
    for blueprint in blueprints:
        for node in blueprint.source_nodes:
            yield dg.AssetSpec(
                blueprint.source_key(node.id),
                group_name=blueprint.job,
                description=describe_node(node),
                metadata=source_facts(blueprint.path, node),
                tags=tags_of(blueprint.pipeline, node.config.format, node.connector),
                owners=owners_of(blueprint.pipeline),
            )


def _shared(blueprints: Sequence[Blueprint]) -> Iterator[dg.AssetSpec]:
    writers: defaultdict[TableName, list[dg.AssetKey]] = defaultdict(list)
    for blueprint in blueprints:
        for target in blueprint.pipeline.targets:
            writers[target.table].append(blueprint.key(target))
    for table, keys in writers.items():
        if len(keys) > 1:
            yield _table(table, TABLES, "A table that several targets load.", keys)


def _quarantines(blueprints: Iterable[Blueprint]) -> Iterator[dg.AssetSpec]:
    writers: defaultdict[TableName, list[Blueprint]] = defaultdict(list)
    for blueprint in blueprints:
        for table in blueprint.quarantines:
            writers[table].append(blueprint)
    for table, users in writers.items():
        group = users[0].job if len(users) == 1 else QUARANTINE
        sources = [b.source_key(node.id) for b in users for node in b.source_nodes]
        said = f"Rows that were refused by {_listed(b.pipeline.id for b in users)}."
        yield _table(table, group, said, sources)


def _lookups(blueprints: Iterable[Blueprint]) -> Iterator[dg.AssetSpec]:
    readers: defaultdict[TableName, list[str]] = defaultdict(list)
    for blueprint in blueprints:
        for table in blueprint.lookups:
            readers[table].append(blueprint.pipeline.id)
    for table, users in readers.items():
        yield _table(table, TABLES, f"A table that no document loads, read by {_listed(users)}.")


def _table(
    table: TableName, group: str, description: str, deps: Iterable[dg.AssetKey] = ()
) -> dg.AssetSpec:
    return dg.AssetSpec(
        table_key(table),
        deps=list(dict.fromkeys(deps)),
        group_name=group,
        description=description,
        metadata={TABLE_NAME: ".".join(table)},
        tags=kind_tags("postgres"),
    )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
