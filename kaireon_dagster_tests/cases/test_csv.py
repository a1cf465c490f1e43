"""Delimited files, from the document to the table."""

from __future__ import annotations

import csv
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from kaireon_dagster.engine.errors import RowsRefused, RowsUnreadable
from kaireon_dagster.engine.scope import Settings
from kaireon_dagster.plan.faults import NodeFault
from kaireon_dagster.sources import FileBroken, HeaderRefused
from kaireon_dagster.state import Database
from kaireon_dagster_tests.cases.inputs import (
    cast,
    copy,
    expected,
    quarantine,
    rejected_lines,
    statements,
    transform,
)
from kaireon_dagster_tests.harness import Run, document, execute, query, run, source, target

READ_SOMEHOW = pytest.mark.parametrize("mode", ["append", "truncate", "upsert"])


def load(
    database: Database, folder: Path, pattern: str = "*.csv", *, dlq: bool = True, **options: Any
) -> Run:
    config = {"formatOptions": options} if options else {}
    return run(document(source(folder, pattern, **config), target(), dlq=dlq), database)


# 001: a byte order mark


@pytest.mark.parametrize("name", ["bom.csv", "bom-quoted.csv"])
def test_a_mark_at_the_start_is_no_part_of_the_first_name(
    database: Database, folder: Path, name: str
) -> None:
    execute(database, "CREATE TABLE t (id int PRIMARY KEY, name text)")
    copy("001", folder, name)
    run(document(source(folder), target(mode="upsert", upsertKey="id")), database)
    rows = [tuple(row) for row in expected("001")[name]["rows"]]
    assert query(database, "SELECT id, name FROM t ORDER BY id") == rows


def test_a_mark_in_the_middle_is_refused_with_its_line(database: Database, folder: Path) -> None:
    execute(database, "CREATE TABLE t (id int PRIMARY KEY, name text)")
    copy("001", folder, "bom-second-part.csv")
    done = load(database, folder)
    assert query(database, "SELECT id, name FROM t") == [(3, "Cy")]
    assert list(rejected_lines(database)) == [3]
    assert (done.counts.read, done.counts.loaded, done.counts.rejected) == (2, 1, 1)


def test_each_of_several_files_may_begin_with_a_mark(database: Database, folder: Path) -> None:
    copy("001", folder, "bom.csv", "bom-quoted.csv")
    assert load(database, folder).counts.loaded == 4
    assert query(database, "SELECT DISTINCT id, name FROM t ORDER BY 1") == [
        ("1", "Ana"),
        ("2", "Bo"),
    ]


# 002: columns go by name


def test_columns_are_matched_by_name_in_any_order(database: Database, folder: Path) -> None:
    execute(database, statements("002", "target.sql"))
    copy("002", folder, "swapped.csv")
    run(document(source(folder), target("public.pos")), database)
    assert query(database, "SELECT id, gross, net, note FROM pos ORDER BY id") == [
        (1, Decimal("12.10"), Decimal("10.00"), "n/a"),
        (2, Decimal("24.20"), Decimal("20.00"), "n/a"),
    ]


def test_columns_are_matched_by_name_across_files_of_different_order(
    database: Database, folder: Path
) -> None:
    execute(database, statements("002", "target.sql"))
    copy("002", folder, "swapped.csv")
    (folder / "other.csv").write_text("net,gross,id\n1.00,1.10,9\n")
    (folder / "short.csv").write_text("gross,id\n2.20,8\n")
    run(document(source(folder), target("public.pos")), database)
    assert query(database, "SELECT id, gross, net FROM pos WHERE id > 2 ORDER BY id") == [
        (8, Decimal("2.20"), None),
        (9, Decimal("1.10"), Decimal("1.00")),
    ]


@pytest.mark.parametrize(
    ("rule", "columns"),
    [
        ("ignore", ["id", "gross", "net", "note"]),
        ("add", ["id", "gross", "net", "note", "colour"]),
    ],
)
def test_an_extra_column_follows_the_documents_rule(
    database: Database, folder: Path, rule: str, columns: list[str]
) -> None:
    execute(database, statements("002", "target.sql"))
    copy("002", folder, "extra.csv")
    run(document(source(folder), target("public.pos", onNewColumns=rule)), database)
    assert query(database, "SELECT id, gross, net FROM pos") == [
        (3, Decimal("1.21"), Decimal("1.00"))
    ]
    named = query(
        database,
        "SELECT attname::text FROM pg_attribute WHERE attrelid = 'pos'::regclass AND attnum > 0 "
        "ORDER BY attnum",
    )
    assert [name for (name,) in named] == columns


def test_an_extra_column_is_refused_by_default(database: Database, folder: Path) -> None:
    execute(database, statements("002", "target.sql"))
    copy("002", folder, "extra.csv")
    with pytest.raises(NodeFault, match="has no column 'colour'"):
        run(document(source(folder), target("public.pos")), database)
    assert query(database, "SELECT count(*) FROM pos") == [(0,)]


def test_a_missing_column_takes_its_default_or_is_refused(database: Database, folder: Path) -> None:
    execute(database, statements("002", "target.sql"))
    copy("002", folder, "missing.csv")
    run(document(source(folder), target("public.pos")), database)
    assert query(database, "SELECT id, gross, net, note FROM pos") == [
        (4, None, Decimal("5.00"), "n/a")
    ]
    execute(database, "DELETE FROM pos; ALTER TABLE pos ALTER gross SET NOT NULL")
    copy("002", folder, "missing.csv")
    with pytest.raises(NodeFault, match="needs 'gross'"):
        run(document(source(folder), target("public.pos")), database)


# 003: headers that cannot be columns side by side


def test_equal_and_empty_headers_are_refused_by_name_and_place(
    database: Database, folder: Path
) -> None:
    copy("003", folder, "dup.csv")
    with pytest.raises(HeaderRefused) as caught:
        load(database, folder)
    assert "columns 1 'id', 4 'id'" in str(caught.value)
    assert "columns 2 'Amount', 3 'amount'" in str(caught.value)
    assert query(database, "SELECT to_regclass('public.t')") == [(None,)]


@pytest.mark.parametrize("header", ["a,A", "id,", '"id","id"', "é,É", "a,b,a", ",a"])
def test_one_row_cannot_hold_two_values_of_one_name(
    database: Database, folder: Path, header: str
) -> None:
    values = ",".join("x" for _ in header.split(","))
    (folder / "a.csv").write_text(f"{header}\n{values}\n", encoding="utf-8")
    if header == "id,":
        # A delimiter after the last name adds no column (008), so a value there is a surplus one.
        load(database, folder)
        assert rejected_lines(database) == {2: "2 values where the file has 1 column"}
        return
    with pytest.raises(HeaderRefused):
        load(database, folder)


# 005: a line that COPY takes for the end


@pytest.mark.parametrize("mode", ["append", "truncate"])
def test_a_backslash_and_a_dot_end_nothing(database: Database, folder: Path, mode: str) -> None:
    copy("005", folder, "codes.csv")
    assert run(document(source(folder), target(mode=mode)), database).counts.loaded == 4
    assert sorted(query(database, "SELECT code FROM t")) == [("A",), ("B",), ("C",), ("\\.",)]


def test_a_backslash_and_a_dot_inside_quotes_are_text(database: Database, folder: Path) -> None:
    copy("005", folder, "notes.csv")
    load(database, folder)
    assert query(database, "SELECT * FROM t ORDER BY id") == [
        ("1", "line a\n\\.\nline b"),
        ("2", "ok"),
    ]


def test_a_backslash_and_a_dot_can_be_quarantined(database: Database, folder: Path) -> None:
    execute(database, "CREATE TABLE t (code text, n int)")
    (folder / "a.csv").write_text("code,n\n\\.,\\.\n\\N,1\n")
    load(database, folder)
    assert query(database, "SELECT * FROM t") == [("\\N", 1)]
    assert quarantine(database) == [("type:n", {"code": "\\.", "n": "\\."})]


# 006: line ends


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("mixed.csv", [("1", "a"), ("2", "b"), ("3", "c")]),
        ("crlf.csv", [("1", "a"), ("2", "b")]),
        ("cr-only.csv", [("1", "a"), ("2", "b")]),
        ("no-final-newline.csv", [("1", "a"), ("2", "b")]),
        ("cr-inside-quotes.csv", [("1", "a\rb"), ("2", "c\r\nd")]),
    ],
)
def test_every_line_end_is_read_and_those_inside_quotes_kept(
    database: Database, folder: Path, name: str, rows: list[tuple[str, str]]
) -> None:
    copy("006", folder, name)
    load(database, folder, dlq=False)
    assert query(database, "SELECT id, note FROM t ORDER BY id") == rows


def test_files_of_different_line_ends_load_together(database: Database, folder: Path) -> None:
    names = ("mixed.csv", "crlf.csv", "cr-only.csv", "no-final-newline.csv", "cr-inside-quotes.csv")
    copy("006", folder, *names)
    assert load(database, folder, dlq=False).counts.loaded == 11
    assert query(database, "SELECT count(*) FROM t WHERE note ~ '\\s$'") == [(0,)]


# 007: records over two lines


@pytest.mark.parametrize(
    "settings",
    [
        Settings(batch_rows=1_000),
        Settings(batch_rows=50_000),
        Settings(threads=4, batch_rows=60_000),
    ],
)
@pytest.mark.parametrize("damaged", [False, True], ids=["fast reader", "careful reader"])
def test_records_over_two_lines_survive_every_batch_size(
    database: Database, folder: Path, settings: Settings, damaged: bool
) -> None:
    count = 60_000
    with (folder / "big.csv").open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["id", "note", "qty"])
        for i in range(count):
            out.writerow([i, "x" * (i % 97) + '\ny,"z"', i % 7])
        if damaged:
            file.write('x,"\x00",y\n')
    execute(database, "CREATE UNLOGGED TABLE t (id int, note text, qty int)")
    done = run(document(source(folder), target(), dlq=damaged), database, settings=settings)
    assert (done.counts.loaded, done.counts.rejected) == (count, int(damaged))
    whole = "note = repeat('x', id % 97) || chr(10) || 'y,\"z\"'"
    check = f"SELECT count(DISTINCT id), sum(qty), count(*) FILTER (WHERE {whole}) FROM t"
    assert query(database, check) == [(count, sum(i % 7 for i in range(count)), count)]


def test_records_over_two_lines_load_in_batches_of_one(database: Database, folder: Path) -> None:
    (folder / "a.csv").write_text("id,note\n" + "".join(f'{i},"a\nb"\n' for i in range(300)))
    run(document(source(folder), target()), database, settings=Settings(batch_rows=1))
    assert query(database, "SELECT count(*), count(DISTINCT id), max(note) FROM t") == [
        (300, 300, "a\nb")
    ]


# 008: ragged rows


def test_ragged_rows_go_to_quarantine_with_their_lines(database: Database, folder: Path) -> None:
    copy("008", folder, "ragged.csv")
    done = load(database, folder)
    # Row 1 has one empty value too many, which is loaded: nothing of it is lost.
    assert query(database, "SELECT id FROM t ORDER BY id") == [("1",), ("3",), ("5",)]
    assert rejected_lines(database) == {
        3: "2 values where the file has 3 columns",
        5: "4 values where the file has 3 columns",
    }
    assert [row["_raw"] for _, row in quarantine(database)] == ["2,Bo", '4,Di,"Rio, RJ",extra']
    counts = done.counts
    assert (counts.read, counts.loaded, counts.rejected, counts.quarantined) == (5, 3, 2, 0)


def test_without_a_quarantine_a_ragged_row_fails_the_run(database: Database, folder: Path) -> None:
    copy("008", folder, "ragged.csv")
    with pytest.raises(RowsUnreadable, match=r"ragged\.csv:3: 2 values.*and 1 more") as caught:
        load(database, folder, dlq=False)
    assert "Bo" not in str(caught.value)
    assert query(database, "SELECT to_regclass('public.t')") == [(None,)]


def test_a_delimiter_at_every_end_adds_no_column(database: Database, folder: Path) -> None:
    copy("008", folder, "trailing-delimiter.psv")
    load(database, folder, "*.psv", dlq=False, delimiter="|")
    assert query(database, "SELECT * FROM t ORDER BY 1") == [("1", "2", "3"), ("4", "5", "6")]


# 009: NUL bytes


def test_a_row_with_a_nul_is_refused_alone(database: Database, folder: Path) -> None:
    copy("009", folder, "nul.csv")
    done = load(database, folder)
    assert query(database, "SELECT * FROM t ORDER BY id") == [("1", "good"), ("3", "good too")]
    ((rule, row),) = quarantine(database)
    assert (rule, row["_line"]) == ("parse", 3)
    assert row["_raw"]["_encoding"] == "base64"
    assert (done.counts.read, done.counts.rejected) == (3, 1)


def test_a_padded_tail_is_called_so(database: Database, folder: Path) -> None:
    copy("009", folder, "padded.csv")
    load(database, folder)
    assert query(database, "SELECT * FROM t") == [("1", "good")]
    assert rejected_lines(database) == {3: "padding of 512 NUL bytes"}


def test_a_control_character_at_the_end_is_no_row(database: Database, folder: Path) -> None:
    copy("009", folder, "ctrl-z.csv")
    load(database, folder)
    assert query(database, "SELECT * FROM t") == [("1", "good")]
    assert rejected_lines(database) == {3: "1 value where the file has 2 columns"}


# 010: encodings


@pytest.mark.parametrize(
    ("name", "encoding", "text"),
    [
        ("cp1252.csv", "windows-1252", "José €5"),
        ("utf16le-bom.csv", None, "José"),
        ("utf16le-nobom.csv", "utf-16-le", "José"),
        ("utf8-few-bytes.csv", None, "Carter’s Janitorial"),
    ],
)
def test_declared_and_marked_encodings_are_obeyed(
    database: Database, folder: Path, name: str, encoding: str | None, text: str
) -> None:
    copy("010", folder, name)
    options = {} if encoding is None else {"encoding": encoding}
    load(database, folder, dlq=False, **options)
    assert query(database, "SELECT * FROM t") == [("1", text)]


def test_a_byte_that_is_wrong_in_utf8_is_refused_wherever_it_stands(
    database: Database, folder: Path
) -> None:
    copy("010", folder, "late-cp1252.csv")
    done = load(database, folder)
    assert rejected_lines(database) == {4001: "bytes that are not valid in the file's encoding"}
    assert done.counts.loaded == 3999
    assert query(database, "SELECT count(*) FROM t WHERE name ~ '[^a-z ]'") == [(0,)]


def test_utf16_without_a_mark_is_refused_unless_declared(database: Database, folder: Path) -> None:
    copy("010", folder, "utf16le-nobom.csv")
    with pytest.raises(FileBroken, match=r"formatOptions\.encoding"):
        load(database, folder)


def test_names_of_columns_keep_their_code_points(database: Database, folder: Path) -> None:
    copy("010", folder, "nfd.csv")
    load(database, folder)
    assert query(database, 'SELECT "nai\u0308ve" FROM t') == [("x",)]


# 011 and 012: text stays text, integers stay exact


def test_text_stays_as_it_was_written(database: Database, folder: Path) -> None:
    copy("011", folder, "na.csv")
    load(database, folder, dlq=False)
    rows = [tuple(row) for row in expected("011")["all_columns_text"]]
    assert query(database, "SELECT * FROM t ORDER BY zip DESC") == sorted(
        rows, key=lambda row: row[1], reverse=True
    )


def test_only_the_declared_marker_is_null(database: Database, folder: Path) -> None:
    copy("011", folder, "na.csv")
    load(database, folder, dlq=False, nullValues=["NA", "n/a"])
    assert query(database, "SELECT country, flag FROM t ORDER BY zip") == [
        (None, None),
        ("NO", "on"),
        (None, "no"),
    ]


@pytest.mark.parametrize("name", ["bigint.csv", "bigint.jsonl"])
def test_large_integers_never_pass_through_a_float(
    database: Database, folder: Path, name: str
) -> None:
    execute(database, "CREATE TABLE t (id bigint, parent_id bigint)")
    copy("012", folder, name)
    config = source(folder, name, format=name.rpartition(".")[2])
    run(document(config, target(), dlq=True), database)
    loaded = [tuple(row) for row in expected("012")["loaded"]]
    found = query(database, "SELECT id, parent_id FROM t ORDER BY id")
    assert found == (sorted(loaded) if name.endswith("csv") else sorted(loaded)[:2])
    refused = [row["id"] for _, row in quarantine(database)]
    assert refused == ["9223372036854775808", "12.0"][: len(refused)]
    assert len(refused) == (2 if name.endswith("csv") else 1)


# 013 and 014: separators and dates are declared, never guessed


def test_declared_separators_read_amounts(database: Database, folder: Path) -> None:
    copy("013", folder, "amounts.csv")
    config = source(folder, formatOptions={"delimiter": ";"})
    clean = transform(cast("amount", "numeric(12,2)", format="1.234,56"))
    run(document(config, clean, target(input="x"), dlq=True), database)
    right = expected("013")["declared decimal=, thousands=."]
    rows = dict(query(database, "SELECT id, amount FROM t"))
    assert rows == {k: Decimal(v) for k, v in right.items() if v != "quarantined"}
    assert [row["id"] for _, row in quarantine(database)] == ["6"]


@pytest.mark.parametrize("by", ["cast", "table", "free table"])
def test_undeclared_separators_are_not_guessed(database: Database, folder: Path, by: str) -> None:
    copy("013", folder, "amounts.csv")
    config = source(folder, formatOptions={"delimiter": ";"})
    if by == "cast":
        nodes = [transform(cast("amount", "numeric(12,3)")), target(input="x")]
    else:
        execute(
            database, f"CREATE TABLE t (id text, amount numeric{'' if 'free' in by else '(12,3)'})"
        )
        nodes = [target()]
    run(document(config, *nodes, dlq=True), database)
    assert query(database, "SELECT * FROM t") == [("4", Decimal("1.234"))]
    assert [row["id"] for _, row in quarantine(database)] == ["1", "2", "3", "5", "6"]


def test_a_declared_date_format_reads_dates(database: Database, folder: Path) -> None:
    copy("014", folder, "dates.csv")
    clean = transform(cast("seen", "date", format="DD/MM/YYYY"))
    run(document(source(folder), clean, target(input="x"), dlq=True), database)
    assert query(database, "SELECT * FROM t ORDER BY id") == [
        ("1", date(2016, 9, 10)),
        ("2", date(2016, 9, 30)),
    ]
    assert [row["id"] for _, row in quarantine(database)] == ["3", "4", "5"]


@pytest.mark.parametrize("style", ["ISO, MDY", "ISO, DMY", "German", "SQL, YMD"])
@pytest.mark.parametrize("by", ["cast", "table", "range"])
def test_undeclared_dates_have_one_rule_whatever_the_server_prefers(
    database: Database, folder: Path, style: str, by: str
) -> None:
    ((name,),) = query(database, "SELECT current_database()")
    execute(database, f"ALTER DATABASE {name} SET DateStyle = '{style}'")
    copy("014", folder, "dates.csv")
    if by == "cast":
        nodes = [transform(cast("seen", "date")), target(input="x")]
    else:
        execute(database, "CREATE DOMAIN day AS date CHECK (VALUE > '2000-01-01')")
        execute(database, f"CREATE TABLE t (id text, seen {'date' if by == 'table' else 'day'})")
        nodes = [target()]
    run(document(source(folder), *nodes, dlq=True), database)
    assert query(database, "SELECT * FROM t") == [("3", date(2016, 9, 5))]
    assert [row["id"] for _, row in quarantine(database)] == ["1", "2", "4", "5"]


# 015: empty, quoted empty and the word NULL


@READ_SOMEHOW
def test_empty_values_follow_one_rule(database: Database, folder: Path, mode: str) -> None:
    execute(database, "CREATE TABLE t (id int PRIMARY KEY, note text NOT NULL DEFAULT '', qty int)")
    copy("015", folder, "empties.csv")
    key = {"upsertKey": "id"} if mode == "upsert" else {}
    run(document(source(folder), target(mode=mode, **key), dlq=True), database)
    assert query(database, "SELECT * FROM t ORDER BY id") == [
        (1, "", None),
        (2, "", None),
        (4, " ", 7),
    ]
    assert quarantine(database) == [("type:qty", {"id": "3", "note": "NULL", "qty": "NULL"})]


def test_the_null_marker_can_be_declared(database: Database, folder: Path) -> None:
    execute(database, "CREATE TABLE t (id int PRIMARY KEY, note text, qty int)")
    copy("015", folder, "empties.csv")
    load(database, folder, dlq=False, nullValues=["", "NULL"])
    assert query(database, "SELECT * FROM t ORDER BY id") == [
        (1, None, None),
        (2, None, None),
        (3, "NULL", None),
        (4, " ", 7),
    ]


def test_errors_quote_no_values(database: Database, folder: Path) -> None:
    execute(database, "CREATE TABLE t (id int PRIMARY KEY, note text, qty int)")
    (folder / "a.csv").write_text("id,note,qty\n1,x,topsecret\n")
    with pytest.raises(RowsRefused, match=r"a\.csv:2") as caught:
        load(database, folder, dlq=False)
    assert "topsecret" not in str(caught.value)
