"""Which tables of the database a document reads, and which of them its runs can wait for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from kaireon_dagster import ir
from kaireon_dagster.orchestration.keys import Keys, TableName


def lookups_of(pipelines: Iterable[ir.Pipeline], keys: Keys) -> dict[str, tuple[TableName, ...]]:
    """For each pipeline, the tables that it reads and that are upstream of it.

    Left out are tables that it loads itself, and those of pipelines that read its own tables, be it
    through others: assets that wait for each other in a circle cannot be drawn.
    """
    pipelines = tuple(pipelines)
    read = {p.id: tuple(dict.fromkeys(_read_by(p))) for p in pipelines}
    readers: defaultdict[str, set[str]] = defaultdict(set)
    for pipeline_id, tables in read.items():
        for writer in _writers(keys, tables):
            readers[writer].add(pipeline_id)
    return {
        pipeline_id: tuple(
            table
            for table in tables
            if not _writers(keys, [table]) & ({pipeline_id} | _below(pipeline_id, readers))
        )
        for pipeline_id, tables in read.items()
    }


def _writers(keys: Keys, tables: Iterable[TableName]) -> set[str]:
    return {pipeline for table in tables for pipeline, _ in keys.writers.get(table, ())}


def _below(pipeline_id: str, readers: Mapping[str, set[str]]) -> set[str]:
    found: set[str] = set()
    waiting = [pipeline_id]
    while waiting:
        for reader in readers.get(waiting.pop(), ()):
            if reader not in found:
                found.add(reader)
                waiting.append(reader)
    return found


def _read_by(pipeline: ir.Pipeline) -> Iterator[TableName]:
    for node in pipeline.nodes:
        if isinstance(node, ir.Transform):
            for op in node.ops:
                if isinstance(op, ir.LookupJoin):
                    yield ir.split_table(op.table)
        elif isinstance(node, ir.Validate):
            for rule in node.dataset_level.referential:
                yield rule.column[:2]
