"""Asset keys of all that a set of documents names: targets, sources, lookup and DLQ tables."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import dagster as dg

from kaireon_dagster import ir
from kaireon_dagster.orchestration.names import key_part

TableName = tuple[str, str]
"""Schema and table."""
Writer = tuple[str, str]
"""Pipeline id and target node id."""


@dataclass(frozen=True, slots=True)
class Keys:
    """Who writes which table, and what everything is called.

    Attributes:
        writers: for each table that a document loads, the targets that load it.
        loaded: keys of these tables.
    """

    writers: Mapping[TableName, tuple[Writer, ...]]
    loaded: frozenset[dg.AssetKey]

    @classmethod
    def of(cls, pipelines: Iterable[ir.Pipeline]) -> Keys:
        """Learn who writes what from the documents that stand side by side."""
        writers: defaultdict[TableName, list[Writer]] = defaultdict(list)
        for pipeline in pipelines:
            for target in pipeline.targets:
                writers[target.table].append((pipeline.id, target.id))
        return cls(
            {table: tuple(found) for table, found in writers.items()},
            frozenset(map(table_key, writers)),
        )

    def target(self, pipeline: ir.Pipeline, target: ir.Target) -> dg.AssetKey:
        """[schema, table] for a sole writer, else [schema, table, pipeline].

        A pipeline that loads one table by several targets adds the target's node id.
        """
        writers = self.writers[target.table]
        if len(writers) == 1:
            return table_key(target.table)
        own = [node for owner, node in writers if owner == pipeline.id]
        suffix = [pipeline.id] if len(own) == 1 else [pipeline.id, target.id]
        return dg.AssetKey([*table_key(target.table).path, *map(key_part, suffix)])

    def source(self, pipeline: ir.Pipeline, node: str) -> dg.AssetKey:
        """[pipeline, node]: the files of a source, wherever they lie."""
        key = dg.AssetKey([key_part(pipeline.id), key_part(node)])
        return dg.AssetKey([*key.path, "files"]) if key in self.loaded else key

    def shared(self) -> Iterator[tuple[TableName, tuple[Writer, ...]]]:
        """The tables that several targets load."""
        for table, writers in self.writers.items():
            if len(writers) > 1:
                yield table, writers


def table_key(table: TableName) -> dg.AssetKey:
    """[schema, table]: the table, whoever writes it."""
    return dg.AssetKey([key_part(part) for part in table])
