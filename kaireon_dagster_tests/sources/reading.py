"""Short ways to write files, to read them as a source does, and to see what came out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from kaireon_dagster.ir import Source
from kaireon_dagster.sources import ClaimedFile, Reject, Scan, open_scan

CASES = Path(__file__).parent.parent / "cases"


@dataclass(frozen=True)
class Reading:
    """Everything that a scan says about its files."""

    columns: dict[str, str]
    rows: list[tuple[Any, ...]]
    rejects: list[Reject]
    places: list[tuple[str, int]]

    @property
    def names(self) -> list[str]:
        return list(self.columns)

    @property
    def causes(self) -> dict[int, str]:
        return {reject.line: reject.cause for reject in self.rejects}

    @property
    def raw(self) -> list[bytes]:
        return [reject.raw for reject in self.rejects]


def case(number: str) -> Path:
    (found,) = CASES.glob(f"{number}-*")
    return found


def make_source(format: str = "csv", path: Path = Path("/"), **more: Any) -> Source:
    """A source node; `options` become its formatOptions, the rest goes into its config."""
    options = more.pop("options", {})
    config = {
        "path": str(path),
        "pattern": {"type": "glob", "value": "*"},
        "format": format,
        "formatOptions": options,
        **more,
    }
    return Source.model_validate(
        {"id": "src", "kind": "source", "connector": "local_fs", "config": config}
    )


def claimed(path: Path) -> ClaimedFile:
    found = path.stat()
    return ClaimedFile(str(path), path.name, str(path), found.st_size, found.st_mtime_ns)


@contextmanager
def scanning(
    files: Sequence[Path], format: str = "csv", *, name_column: str | None = None, **options: Any
) -> Iterator[tuple[duckdb.DuckDBPyConnection, Scan]]:
    with duckdb.connect() as connection:
        scan = open_scan(
            [claimed(path) for path in files],
            make_source(format, options=options),
            connection,
            "rows",
            file_name_column=name_column,
        )
        try:
            yield connection, scan
        finally:
            scan.close()


def read(
    files: Sequence[Path] | Path,
    format: str = "csv",
    *,
    name_column: str | None = None,
    **options: Any,
) -> Reading:
    files = [files] if isinstance(files, Path) else files
    with scanning(files, format, name_column=name_column, **options) as (connection, scan):
        cursor = connection.execute("SELECT * FROM rows")
        rows = cursor.fetchall()
        rejects = list(scan.rejects())
        places = [scan.locate(ordinal) for ordinal in range(len(rows))]
        return Reading(
            {name: str(kind) for name, kind in scan.columns},
            rows,
            rejects,
            [(file.name, line) for file, line in places],
        )


def write(folder: Path, name: str, data: bytes | str) -> Path:
    path = folder / name
    path.write_bytes(data.encode("utf-8", "surrogateescape") if isinstance(data, str) else data)
    return path
