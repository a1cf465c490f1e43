"""Values at the edges: a column holds what PostgreSQL itself reads, or the row is in quarantine."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import psycopg
import pytest

from kaireon_dagster.engine.errors import LookupNotFinite
from kaireon_dagster.state import Database
from kaireon_dagster_tests.cases.inputs import cast, quarantine, transform
from kaireon_dagster_tests.harness import document, execute, query, run, source, target

TEXTS = {
    "date": [
        "infinity",
        "-infinity",
        "Infinity",
        "epoch",
        "today",
        "now",
        "0001-01-01",
        "0000-01-01",
        "9999-12-31",
        "10000-01-01",
        "5874897-12-31",
        "5874898-01-01",
        "4713-01-01 BC",
        "4714-11-24 BC",
        "2024-02-30",
        "2024-2-3",
        "20240203",
        "2024-02-03T00:00:00",
        "2024-02-03 23:59:59",
        "Feb 3, 2024",
        "01/02/2024",
        "2024.034",
        "J2451187",
        " 2024-02-03 ",
        "2024-02-29",
        "2023-02-29",
        "-0001-01-01",
        "99-01-01",
    ],
    "timestamp": [
        "infinity",
        "-infinity",
        "2024-02-03",
        "2024-02-03T04:05",
        "2024-02-03 04:05:06.1234567",
        "2024-02-03 24:00:00",
        "2024-02-03 23:59:60",
        "2024-02-03 23:59:59.9999999",
        "294276-12-31 23:59:59.999999",
        "294277-01-01 00:00:00",
        "290309-12-22 00:00:00",
        "0001-01-01 00:00:00",
        "4713-01-01 00:00:00 BC",
        "2024-02-03 04:05:06+05",
        "2024-02-03 04:05:06Z",
        "1969-12-31 23:59:59.999999",
        "2024-02-03 4:5:6",
        "2024-02-03 04:05:06 PM",
    ],
    "timestamptz": [
        "infinity",
        "-infinity",
        "2024-02-03",
        "2024-02-03 04:05:06",
        "2024-02-03T04:05:06+05:30",
        "2024-02-03 04:05:06Z",
        "2024-02-03 04:05:06-0330",
        "2024-02-03 04:05:06 America/New_York",
        "2024-02-03 04:05:06 EST",
        "0001-01-01 00:00:00+14",
        "294276-12-31 23:59:59.999999+00",
        "2024-02-03 04:05:06+15:59:59",
        "2024-02-03 04:05:06+16",
        "2024-03-10 02:30:00 America/New_York",
    ],
    "time": [
        "24:00:00",
        "23:59:60",
        "00:00:00",
        "4:5",
        "04:05:06.1234567",
        "040506",
        "04:05 PM",
        "25:00",
        "allballs",
        "04:05:06+02",
    ],
    "boolean": [
        "t",
        "T",
        "tru",
        "yes",
        "y",
        "on",
        "of",
        "off",
        "0",
        "1",
        "01",
        "2",
        " true ",
        "nope",
        "TRUE",
        "o",
        "-1",
    ],
    "smallint": [
        "32767",
        "32768",
        "-32768",
        "-32769",
        "+7",
        "007",
        " 7 ",
        "7.0",
        "1e3",
        "0x1F",
        "0b11",
        "1_000",
        "--1",
        "٣",
        "7 7",
        "\u00a07",
    ],
    "integer": [
        "2147483647",
        "2147483648",
        "-2147483648",
        "12.0",
        "1e5",
        "0o17",
        "1_0",
        "_1",
        "",
        "-",
        "+",
    ],
    "bigint": [
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775808",
        "-9223372036854775809",
        "9007199254740993",
    ],
    "numeric(5,2)": [
        "999.99",
        "999.994",
        "999.995",
        "-999.995",
        "1e2",
        "1e3",
        "1e-9",
        "NaN",
        "Infinity",
        "0x1F",
        "1_0",
        ".5",
        "5.",
        "1,5",
        "1e400",
        "2.675",
        "-0.005",
        "0.005",
        "1e-2000",
    ],
    "numeric": [
        "1e-30",
        "1e130",
        "NaN",
        "inf",
        "-Infinity",
        "0.1",
        "123456789012345678901234567890.123456789012345678901234567890",
        "1e400",
        "-0",
        "1e-5000",
    ],
    "numeric(38,10)": [
        "9999999999999999999999999999.9999999999",
        "9999999999999999999999999999.99999999995",
        "1e27",
        "1e28",
        "0.00000000005",
        "0.000000000049999",
    ],
    "real": [
        "3.4028235e38",
        "3.5e38",
        "1e-45",
        "1e-46",
        "NaN",
        "inf",
        "-Infinity",
        "0.1",
        "16777217",
        "-0",
        "1_0",
        "0x1p3",
        "infinit",
    ],
    "double precision": [
        "1.7976931348623157e308",
        "1.8e308",
        "5e-324",
        "1e-325",
        "NaN",
        "inf",
        "0.1",
        "9007199254740993",
        "-0",
        " 1.5 ",
        "1e",
        "1,5",
        "0x10",
    ],
    "uuid": [
        "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11",
        "{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}",
        "a0eebc999c0b4ef8bb6d6bb9bd380a11",
        "a0ee-bc99-9c0b-4ef8-bb6d-6bb9-bd38-0a11",
        "a0eebc99",
        "g0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
        " a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
    ],
    "jsonb": [
        '{"a":1}',
        '{"a":1,"a":2}',
        "[1,2,]",
        "NaN",
        '"\\ud83d"',
        '"\\u0000"',
        '"\\ud83d\\ude00"',
        "1e400",
        "123456789012345678901234567890.10",
        " null ",
        "'a'",
        '{"a":1}x',
        "{}",
        '"\t"',
        "[1e5]",
        "01",
        "-0",
        '{"b":1,"aa":2,"a":3}',
    ],
    "varchar(3)": ["abc", "abcd", "abc   ", "éèê", "éèêë", "😀😀😀", "😀😀😀😀", " ", "a\tb"],
    "interval": [
        "1 day",
        "1:02:03",
        "P1Y2M",
        "-1 day +2:03",
        "1 month 1",
        "x",
        "1.5 days",
        "infinity",
    ],
    "bytea": ["\\x00ff", "\\xFF", "\\x0", "abc", "\\\\", "\\001", "\\xgg"],
}


STRICTER = {
    "date": {
        "infinity",
        "-infinity",
        "Infinity",
        "epoch",
        "today",
        "now",
        "10000-01-01",
        "5874897-12-31",
        "4713-01-01 BC",
        "4714-11-24 BC",
        "20240203",
        "Feb 3, 2024",
        "01/02/2024",
        "2024.034",
        "J2451187",
    },
    "timestamp": {
        "infinity",
        "-infinity",
        "2024-02-03 24:00:00",
        "2024-02-03 23:59:60",
        "2024-02-03 04:05:06 PM",
        "290309-12-22 00:00:00",
        "294276-12-31 23:59:59.999999",
        "4713-01-01 00:00:00 BC",
    },
    "timestamptz": {
        "infinity",
        "-infinity",
        "2024-02-03 04:05:06 America/New_York",
        "2024-02-03 04:05:06 EST",
        "2024-02-03 04:05:06+15:59:59",
        "2024-03-10 02:30:00 America/New_York",
        "294276-12-31 23:59:59.999999+00",
    },
    "time": {
        "24:00:00",
        "23:59:60",
        "04:05:06.1234567",
        "040506",
        "04:05 PM",
        "allballs",
        "04:05:06+02",
    },
    "smallint": {"0x1F", "0b11", "1_000"},
    "integer": {"0o17", "1_0"},
    "numeric(5,2)": {"NaN", "0x1F", "1_0", "1e-2000"},
    ("numeric", "numeric"): {
        "1e-30",
        "1e130",
        "NaN",
        "inf",
        "-Infinity",
        "1e400",
        "1e-5000",
        "123456789012345678901234567890.123456789012345678901234567890",
    },
    "real": {"0x1p3"},
    "double precision": {"0x10"},
}
"""What PostgreSQL reads and the worker refuses, since it depends on settings, on the day, or on a
spelling that newer servers alone know; or since the worker cannot hold it.
"""


def read_by_server(database: Database, texts: list[str], declared: str) -> dict[str, str]:
    """What PostgreSQL makes of each text; texts that it refuses are left out."""
    found = {}
    with database.connect(autocommit=True) as connection:
        for text in texts:
            try:
                # An assignment, which unlike a cast does not cut what is too long.
                connection.execute(f"CREATE TEMP TABLE one (v {declared})".encode())
                connection.execute("INSERT INTO one VALUES (%s)", (text,))
                row = connection.execute("SELECT v::text FROM one").fetchone()
                assert row is not None
                found[text] = row[0]
            except psycopg.DataError:
                continue
            finally:
                connection.execute("DROP TABLE one")
    return found


@pytest.mark.parametrize("declared", TEXTS)
@pytest.mark.parametrize("way", ["table", "cast", "staged", "jsonl"])
def test_text_is_read_as_postgres_reads_it_or_refused(
    database: Database, folder: Path, declared: str, way: str
) -> None:
    texts = TEXTS[declared]
    if way == "jsonl":
        lines = (json.dumps({"id": str(i), "v": text}) for i, text in enumerate(texts))
        (folder / "a.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    else:
        with (folder / "a.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, quoting=csv.QUOTE_ALL).writerows([("id", "v"), *enumerate(texts)])
    files = source(folder, "*", format="jsonl" if way == "jsonl" else "csv")
    to = {"double precision": "double"}.get(declared, declared)
    if to in ("smallint", "real", "time", "interval", "bytea", "varchar(3)"):
        to = "text"
    execute(database, f"CREATE TABLE t (id int, v {declared})")
    node = {**transform(cast("v", to)), "checkpoint": way == "staged"}
    nodes = [node, target(input="x")] if way in ("cast", "staged") else [target()]
    done = run(document(files, *nodes, dlq=True), database)
    loaded = {texts[i]: v for i, v in query(database, "SELECT id, v::text FROM t")}
    right = read_by_server(database, [text for text in texts if text], declared)
    for text, value in loaded.items():
        assert (value is None and text == "") or value == right.get(text, "refused"), text
    assert set(loaded) | {row["v"] for _, row in quarantine(database)} == set(texts)
    assert done.counts.loaded + done.counts.quarantined == len(texts)
    assert set(right) - set(loaded) <= STRICTER.get(declared, set()) | STRICTER.get(
        (declared, to), set()
    )


@pytest.mark.parametrize("declared", ["date", "timestamp", "timestamptz"])
@pytest.mark.parametrize("value", ["infinity", "-infinity", "294276-12-31"])
def test_dates_that_a_worker_cannot_hold_are_not_looked_up_as_others(
    database: Database, folder: Path, declared: str, value: str
) -> None:
    execute(database, f"CREATE TABLE names (id int, until {declared})")
    execute(database, f"INSERT INTO names VALUES (1, '{value}'), (2, '2024-01-01')")
    (folder / "a.csv").write_text("id\n1\n")
    lookup = {
        "type": "lookup_join",
        "table": "public.names",
        "on": [{"field": "id", "column": "id"}],
        "fields": [{"column": "until", "as": "until"}],
        "joinType": "left",
    }
    pipeline = document(source(folder), transform(lookup), target(input="x"))
    if declared == "date" and value == "294276-12-31":
        run(pipeline, database)
        assert query(database, "SELECT until::text FROM t") == [(value,)]
    else:
        with pytest.raises(LookupNotFinite, match="until"):
            run(pipeline, database)
