"""DuckDB's CSV reader as SQL."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from kaireon_dagster.plan.sqltext import ident, literal
from kaireon_dagster.sources.buffers import find_buffer_size
from kaireon_dagster.sources.csv_rows import Shape

LONGEST_LINE: Final = 16 << 20
"""Bytes of the longest record; the census has longer ones read with care."""

_BUFFER: Final = 2 * LONGEST_LINE


def read_csv(paths: Sequence[Path], shape: Shape, rejects: str) -> str:
    """Write a strict reading of files that have one shape: text columns c0, c1 and so on.

    Args:
        paths: the files, read one after another.
        shape: their dialect and width.
        rejects: name for the two tables of records that gave no row; see `select_wrong`.
    """
    dialect = shape.dialect
    columns = ", ".join(f"'c{place}': 'VARCHAR'" for place in range(shape.width))
    options = {
        "columns": f"{{{columns}}}",
        "auto_detect": "false",
        "header": literal(dialect.header),
        "delim": literal(dialect.delimiter),
        "quote": literal(dialect.quote),
        "escape": literal(dialect.escape),
        "nullstr": f"[{', '.join(literal(text) for text in sorted(dialect.nulls))}]",
        "allow_quoted_nulls": "false",
        "compression": "'none'",
        "hive_partitioning": "false",
        "strict_mode": "true",
        "max_line_size": str(LONGEST_LINE),
        "buffer_size": str(find_buffer_size(paths, _BUFFER)),
        # Side by side, a stretch of the file that begins with two wrong records is lost, unsaid.
        "parallel": "false",
        "store_rejects": "true",
        "rejects_table": literal(f"{rejects}_errors"),
        "rejects_scan": literal(f"{rejects}_scans"),
    }
    given = ", ".join(f"{name} = {value}" for name, value in options.items())
    files = ", ".join(literal(str(path)) for path in paths)
    return f"read_csv([{files}], {given})"


def read_all_columns(shape: Shape) -> str:
    """Write a condition that holds for every row and needs every column.

    Left to itself DuckDB reads only the columns that somebody selects, and then finds nothing
    wrong with the others: which records are rejected would depend on the query.
    """
    return f"coalesce({', '.join(f'c{place}' for place in range(shape.width))}, '') IS NOT NULL"


def select_wrong(rejects: str) -> str:
    """Write a query for the records that gave no row: path, offset, whether too long; in order."""
    errors, scans = ident(f"{rejects}_errors"), ident(f"{rejects}_scans")
    return (
        "SELECT scans.file_path, errors.line_byte_position - 1 AS position, "
        "bool_or(errors.error_type = 'LINE SIZE OVER MAXIMUM') AS is_too_long "
        f"FROM {errors} AS errors JOIN {scans} AS scans USING (scan_id, file_id) "
        "GROUP BY ALL ORDER BY ALL"
    )


def drop_rejects(rejects: str) -> tuple[str, ...]:
    """Write the statements that remove the tables of `read_csv`."""
    return tuple(
        f"DROP TABLE IF EXISTS {ident(f'{rejects}_{part}')}" for part in ("errors", "scans")
    )
