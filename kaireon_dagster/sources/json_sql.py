"""Reading JSON lines with DuckDB.

DuckDB's JSON is laxer than the standard and rewrites numbers, so only lines that it reads exactly
are left to it; the others go through a function of ours, line by line.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from kaireon_dagster.plan.sqltext import ident, literal
from kaireon_dagster.sources.csv_sql import LONGEST_LINE

# A control character cannot stand in JSON unescaped, so it never cuts a good line in two.
_NO_DELIMITER: Final = "\x01"

_BEFORE_VALUE: Final = r"[:,\[]\s*"
_NUMBERS: Final = (
    r"[-+]?(?:[nN][aA]|[iI])",  # NaN and Infinity, which DuckDB takes
    r"-0",
    r"-?\d+\.\d*0[,}\]\s]",  # 1.10 would become 1.1
    r"-?\d+\.\d{5,}",  # more digits than a double is sure to keep
    r"-?\d{11,}\.",
    r"-?[0-9.]+[eE]",
)
_DOUBTFUL: Final = rf"(?:,\s*[}}\]]|\\u0000|{_BEFORE_VALUE}(?:{'|'.join(_NUMBERS)}))"
_DEEP: Final = 100


def read_lines(path: Path) -> str:
    """Write a relation of the lines of a file, one column `line`; NULL for a blank one."""
    return (
        f"read_csv([{literal(str(path))}], columns = {{'line': 'VARCHAR'}}, auto_detect = false, "
        f"header = false, delim = {literal(_NO_DELIMITER)}, quote = '', escape = '', "
        "nullstr = [''], strict_mode = true, compression = 'none', hive_partitioning = false, "
        f"ignore_errors = true, max_line_size = {LONGEST_LINE}, buffer_size = {2 * LONGEST_LINE})"
    )


def select_keys(path: Path, judge: str) -> str:
    """Write a query for the distinct lists of keys of a file, in order of first appearance.

    Args:
        path: the file.
        judge: name of the function that gives the keys of a line DuckDB is not trusted with.
    """
    return (
        f"SELECT CASE WHEN {_is_exact()} THEN json_keys(line) ELSE {ident(judge)}(line) END "
        "AS keys FROM (SELECT line, row_number() OVER () AS number "
        f"FROM {read_lines(path)}) WHERE line IS NOT NULL "
        "GROUP BY keys HAVING keys IS NOT NULL ORDER BY min(number)"
    )


def select_values(path: Path, keys: Sequence[str], judge: str, *, has_doubles: bool) -> str:
    """Write a relation with one column `line_values`, the list of values of each good line.

    Args:
        path: the file.
        keys: which members, in the order of the list.
        judge: name of the function that gives the values of a line DuckDB is not trusted with,
            or NULL for a line that gives no row; volatile, so that it is called once.
        has_doubles: whether there are lines with a key that occurs twice.
    """
    pointers = ", ".join(literal(f"/{_escape(key)}") for key in keys)
    exact = _is_exact()
    if has_doubles:
        exact += " AND len(list_distinct(json_keys(line))) = len(json_keys(line))"
    return (
        f"(SELECT line_values FROM (SELECT CASE WHEN {exact} "
        f"THEN json_extract_string(line, [{pointers}]) ELSE {ident(judge)}(line) END "
        f"AS line_values FROM {read_lines(path)} WHERE line IS NOT NULL) "
        "WHERE line_values IS NOT NULL)"
    )


def _is_exact() -> str:
    # Counting brackets is cheap, and more than there are levels.
    brackets = "length(line) - length(translate(line, '[{', ''))"
    return (
        f"json_valid(line) AND json_type(line) = 'OBJECT' AND {brackets} < {_DEEP} "
        f"AND NOT regexp_matches(line, {literal(_DOUBTFUL)})"
    )


def _escape(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
