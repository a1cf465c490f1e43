"""Reading JSON lines with DuckDB.

DuckDB's JSON is laxer than the standard and rewrites numbers such as 1.10, so only lines that it
reads exactly are left to it. In flat objects numbers are put in quotes first, which keeps their
digits; what is left goes through a function of ours, line by line.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from kaireon_dagster.plan.sqltext import ident, literal
from kaireon_dagster.sources.buffers import find_buffer_size
from kaireon_dagster.sources.csv_sql import LONGEST_LINE

# A control character cannot stand in JSON unescaped, so it never cuts a good line in two.
_NO_DELIMITER: Final = "\x01"

# Trailing commas, NaN and Infinity, which DuckDB takes, and NUL, which it lets through.
_LAX: Final = r"(?:,\s*[}\]]|\\u0000|[:,\[]\s*[-+]?(?:[nN][aA]|[iI]))"
_REWRITTEN: Final = (
    r"-0",
    r"-?\d+\.\d*0[,}\]\s]",  # 1.10 would become 1.1
    r"-?\d+\.\d{5,}",  # more digits than a double is sure to keep
    r"-?\d{11,}\.",
    r"-?[0-9.]+[eE]",
)
_NUMBER: Final = rf"[:,\[]\s*(?:{'|'.join(_REWRITTEN)})"
# A member whose value is no whole number, up to what ends it. Where this matches across the end
# of a string, the quotes that go in leave no valid JSON, so nothing is changed unseen.
_MEMBER: Final = (
    r'("(?:[^"\\]|\\.)*"\s*:\s*)'
    r"(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?)(\s*[,}])"
)
_QUOTED: Final = r'\1"\2"\3'
_DEEP: Final = 100


def read_lines(paths: Sequence[Path]) -> str:
    """Write a relation of the lines of files, `line` and `filename`; NULL for a blank line."""
    size = find_buffer_size(paths, 2 * LONGEST_LINE)
    files = ", ".join(literal(str(path)) for path in paths)
    # `parallel` as for delimited files: side by side, lines beside wrong ones are lost.
    return (
        f"read_csv([{files}], columns = {{'line': 'VARCHAR'}}, auto_detect = false, "
        f"header = false, delim = {literal(_NO_DELIMITER)}, quote = '', escape = '', "
        "nullstr = [''], strict_mode = true, compression = 'none', hive_partitioning = false, "
        f"ignore_errors = true, max_line_size = {LONGEST_LINE}, buffer_size = {size}, "
        "parallel = false, filename = true)"
    )


def select_keys(paths: Sequence[Path], judge: str) -> str:
    """Write a query for each file's path and distinct lists of keys, in order of first appearance.

    Args:
        paths: the files.
        judge: name of the function that gives the keys of a line DuckDB is not trusted with.
    """
    return (
        f"SELECT filename, CASE WHEN {_is_object('line')} THEN json_keys(line) "
        f"ELSE {ident(judge)}(line) END AS keys "
        "FROM (SELECT line, filename, row_number() OVER () AS number "
        f"FROM {read_lines(paths)}) WHERE line IS NOT NULL "
        "GROUP BY filename, keys HAVING keys IS NOT NULL ORDER BY min(number)"
    )


def select_values(
    paths: Sequence[Path], keys: Sequence[str], judge: str, *, has_doubles: bool
) -> str:
    """Write a relation with one column `line_values`, the list of values of each good line.

    Args:
        paths: the files, read one after another.
        keys: which members, in the order of the list.
        judge: name of the function that gives the values of a line DuckDB is not trusted with,
            or NULL for a line that gives no row; volatile, so that it is called once.
        has_doubles: whether there are lines with a key that occurs twice.
    """
    pointers = ", ".join(literal(f"/{_escape(key)}") for key in keys)
    single = "len(list_distinct(json_keys(line))) = len(json_keys(line))"
    exact = f"{_is_object('text')} AND {single if has_doubles else 'true'}"
    return (
        f"(SELECT line_values FROM (SELECT CASE WHEN text IS NOT NULL AND {exact} "
        f"THEN json_extract_string(text, [{pointers}]) ELSE {ident(judge)}(line) END "
        f"AS line_values FROM (SELECT line, {_exact_text()} AS text FROM {read_lines(paths)} "
        "WHERE line IS NOT NULL)) WHERE line_values IS NOT NULL)"
    )


def _is_object(text: str) -> str:
    # Counting brackets is cheap, and more than there are levels.
    brackets = (
        f"2 * strlen({text}) - strlen(replace({text}, '[', '')) - strlen(replace({text}, '{{', ''))"
    )
    return (
        f"json_valid({text}) AND json_type({text}) = 'OBJECT' AND {brackets} < {_DEEP} "
        f"AND NOT regexp_matches({text}, {literal(_LAX)})"
    )


def _exact_text() -> str:
    """Give the line as a text whose values DuckDB keeps as they are; NULL if there is none."""
    # In a nested object the quotes would stay, and make a text of a number.
    is_flat = "strpos(line, '[') = 0 AND strpos(substr(line, 2), '{') = 0"
    quoted = f"regexp_replace(line, {literal(_MEMBER)}, {literal(_QUOTED)}, 'g')"
    return (
        f"CASE WHEN NOT regexp_matches(line, {literal(_NUMBER)}) THEN line "
        f"WHEN {is_flat} THEN {quoted} END"
    )


def _escape(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
