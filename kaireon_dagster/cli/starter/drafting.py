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
from kaireon_dagster.cli.faults import UsageFault
from kaireon_dagster.cli.starter.columns import ColumnFacts, measure
from kaireon_dagster.cli.starter.files import FileGroup
from kaireon_dagster.cli.starter.keys import find_key
from kaireon_dagster.cli.starter.options import guess_options
from kaireon_dagster.plan.sqltext import ident
from kaireon_dagster.sources.claim import find_files
from kaireon_dagster.sources.claimed import ClaimedFile
from kaireon_dagster.sources.faults import HeaderRefused
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

    @property
    def is_without_header(self) -> bool:
        """Whether the first line looks like a row, so that columns have no names."""
        return self.options.get("header") is False

    @property
    def why_no_key(self) -> str:
        """The reason why there is no key."""
        return "too few rows to tell a key" if self.rows < 2 else "no key was found"


def draft(group: FileGroup) -> Draft:
    """Look through all rows of a group of files.

    Raises:
        UsageFault: a header cannot be used, or there is no column; says what to do.
        Terminal: a file cannot be read at all; says which and why.
    """
    options = guess_options(group)
    try:
        found = _look(group, options)
    except HeaderRefused as error:
        raise UsageFault(_explain_header(error, group.format)) from None
    if not found.columns:
        raise UsageFault(f"{group.first}: has no column; a document needs a file with its columns")
    markers = dict.fromkeys(facts.marker for facts in found.columns if facts.marker)
    if markers and group.format in ("csv", "tsv"):
        found = _look(group, {**options, "nullValues": ["", *markers]})
    return found


def _explain_header(error: HeaderRefused, format_: str) -> str:
    lines = [f"{error.file}: {problem}" for problem in error.problems]
    if not any(problem.startswith("column") for problem in error.problems):
        return "\n".join(lines)
    lines.append("give each column a name of its own in the file, and call this again")
    if format_ in ("csv", "tsv"):
        lines.append(
            "or, where the file has to stay as it is, write a document with `formatOptions: "
            "{header: false}`: the columns are then c1, c2, … for ops of type rename, and the "
            "first line is a row"
        )
    return "\n".join(lines)


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
