"""Reads the files once, whole, and puts down what a document for them needs to say."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Final, cast

import duckdb

from kaireon_dagster import ir
from kaireon_dagster.cli.starter.columns import ColumnFacts, measure
from kaireon_dagster.cli.starter.files import FileGroup, guess_options
from kaireon_dagster.cli.starter.keys import find_key
from kaireon_dagster.plan.sqltext import ident
from kaireon_dagster.sources.claim import find_files
from kaireon_dagster.sources.claimed import ClaimedFile
from kaireon_dagster.sources.local import LocalStore
from kaireon_dagster.sources.scan import open_scan

_VIEW: Final = "starter"
_TABLE: Final = "starter_rows"


@dataclass(frozen=True, slots=True)
class Draft:
    """What was found in files of one kind.

    Attributes:
        options: format options that differ from the usual.
        rows: readable rows.
        rejects: records that cannot be read.
        first_reject: file, line and cause of the first of them.
        columns: every column, in order.
        key: columns that identify a row; may be empty.
    """

    group: FileGroup
    options: Mapping[str, Any]
    rows: int
    rejects: int
    first_reject: str
    columns: tuple[ColumnFacts, ...]
    key: tuple[str, ...]


def draft(group: FileGroup) -> Draft:
    """Look through all rows of a group of files.

    Raises:
        Terminal: a file or its header cannot be read at all; says which and why.
    """
    options = guess_options(group)
    found = _look(group, options)
    markers = dict.fromkeys(facts.marker for facts in found.columns if facts.marker)
    if markers and group.format in ("csv", "tsv"):
        found = _look(group, {**options, "nullValues": ["", *markers]})
    return found


def _look(group: FileGroup, options: Mapping[str, Any]) -> Draft:
    source = _source(group, options)
    with _session() as connection:
        scan = open_scan(_files(source), source, connection, _VIEW)
        try:
            try:
                _keep(connection)
            except duckdb.Error as error:
                raise scan.explain(error) or error from None
            rejects = list(scan.rejects())
        finally:
            scan.close()
        rows = _count(connection)
        columns = measure(connection, _TABLE, scan.columns)
        key = find_key(connection, _TABLE, columns, rows) if columns else ()
    first = f"{rejects[0].file.name}:{rejects[0].line}: {rejects[0].cause}" if rejects else ""
    return Draft(group, options, rows, len(rejects), first, columns, key)


def _keep(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute(f"CREATE TEMP TABLE {ident(_TABLE)} AS SELECT * FROM {ident(_VIEW)}")


def _count(connection: duckdb.DuckDBPyConnection) -> int:
    row = connection.execute(f"SELECT count(*) FROM {ident(_TABLE)}").fetchone()
    assert row is not None, "an aggregate gives a row"
    return int(row[0])


def _source(group: FileGroup, options: Mapping[str, Any]) -> ir.Source:
    type_, value = group.pattern
    config: dict[str, Any] = {
        "path": group.folder,
        "pattern": {"type": type_, "value": value},
        "format": group.format,
    }
    if options:
        config["formatOptions"] = dict(options)
    node = {"id": "source", "kind": "source", "connector": "local_fs", "config": config}
    return ir.Source.model_validate(node)


def _files(source: ir.Source) -> list[ClaimedFile]:
    store = LocalStore(source.config.path)
    entries = find_files(source, datetime.now(timezone.utc), store=store)
    return [store.in_place(entry) for entry in sorted(entries, key=lambda entry: entry.name)]


@contextmanager
def _session() -> Iterator[duckdb.DuckDBPyConnection]:
    with tempfile.TemporaryDirectory(prefix="flow-init-") as spill:
        config = {
            "memory_limit": "512MB",
            "temp_directory": spill,
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
        }
        connection = duckdb.connect(config=cast("dict[str, Any]", config))
        try:
            connection.execute("SET TimeZone = 'UTC'")
            connection.execute("SET enable_progress_bar = false")
            yield connection
        finally:
            connection.close()
