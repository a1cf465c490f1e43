from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kaireon_dagster.ir import parse_document
from kaireon_dagster_tests.cli.conftest import Call
from kaireon_dagster_tests.cli.starters import casts, renames, starter


def write_columns(path: Path, columns: dict[str, list[str]]) -> None:
    rows = [list(columns), *zip(*columns.values(), strict=True)]
    path.write_text("".join(";".join(row) + "\n" for row in rows), encoding="utf-8")


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["1", "-20", "0"], "integer"),
        (["1", "3000000000"], "bigint"),
        (["1.50", "7"], "numeric(18,4)"),
        (["1.12345", "7"], "numeric(18,5)"),
        (["1234567890123456.5", "7"], "numeric(22,4)"),
        (["1" * 28 + ".5", "7"], "numeric(34,4)"),
        (["0.123456789", "1"], "double"),
        (["1e5", "2"], "double"),
        (["true", "false"], "boolean"),
        (["Y", "N"], "boolean"),
        (["2026-03-01", "2026-12-31"], "date"),
        (["2026-03-01 10:00", "2026-03-01"], "timestamp"),
        (["2026-03-01T10:00:00Z", "2026-03-01 10:00:00+02:00"], "timestamptz"),
        (["31/12/2026", "01/02/2026"], "date DD/MM/YYYY"),
        (["12/31/2026", "01/02/2026"], "date MM/DD/YYYY"),
        (["31.12.2026 09:30", "1.2.2026 10:00"], "timestamp DD.MM.YYYY HH24:MI"),
        (["12/31/2026 3:45 PM", "1/2/2026 11:00 AM"], "timestamp MM/DD/YYYY HH12:MI AM"),
        (["1,234.50", "7"], "numeric(18,4) 1,234.56"),
        (["1.234,50", "7,1"], "numeric(18,4) 1.234,56"),
        (["c0ffee00-0000-4000-8000-000000000000"] * 2, "uuid"),
        (['{"a": 1}', "[1, 2]"], "jsonb"),
        (["007", "12"], None),
        (["+4912345", "+4954321"], None),
        (["F", "F"], None),
        (["1", "2", "three"], None),
        (["03/04/2026", "05/06/2026"], None),
        (["1,234", "5,678"], None),
        (["99999999999999999999999999999999999999999", "1"], None),
        (["2026-02-30", "2026-03-01"], None),
        (["", ""], None),
    ],
)
def test_a_type_is_proposed_when_every_value_reads_as_it(
    call: Call, folder: Path, values: list[str], expected: str | None
) -> None:
    write_columns(folder / "a.csv", {"n": [str(i) for i in range(len(values))], "v": values})
    assert casts(starter(call, "a.csv")).get("v") == expected


def test_one_value_in_many_keeps_a_column_text_and_is_told(call: Call, folder: Path) -> None:
    values = [str(i) for i in range(1999)] + ["n. v."]
    write_columns(folder / "a.csv", {"v": values, "w": ["x"] * 2000})
    said = call("init", "--stdout", "a.csv")
    assert casts(parse_document(said.out, source="", format="yaml")) == {}
    assert "v stays text: 1,999 of 2,000 values read as integer" in said.out


def test_ambiguous_dates_stay_text_with_advice(call: Call, folder: Path) -> None:
    write_columns(folder / "a.csv", {"d": ["03/04/2026", "05/06/2026"], "x": ["a", "a"]})
    said = call("init", "--stdout", "a.csv")
    assert "d stays text: DD/MM/YYYY and MM/DD/YYYY both read all values" in said.out
    assert '{type: cast, field: d, to: date, format: "DD/MM/YYYY"}' in said.out


def test_a_null_marker_is_declared_where_it_hides_numbers(call: Call, folder: Path) -> None:
    (folder / "a.csv").write_text("id,delay\n1,NA\n2,5\n3,-7\n")
    pipeline = starter(call, "a.csv")
    assert pipeline.sources[0].config.format_options.null_values == ("", "NA")
    assert casts(pipeline) == {"id": "integer", "delay": "integer"}


def test_dialect_encoding_and_packing_are_found(call: Call, folder: Path) -> None:
    (folder / "a.csv").write_bytes("id;name\n1;Zoë\n2;Ian\n".encode("windows-1252"))
    (folder / "b.csv.gz").write_bytes(gzip.compress(b"id,name\n1,Zoe\n2,Ian\n"))
    (folder / "c.tsv").write_text("id\tname\n1\tZoë\n2\tIan\n")
    options: Any = starter(call, "a.csv").sources[0].config.format_options
    assert (options.delimiter, options.encoding) == (";", "windows-1252")
    assert casts(starter(call, "b.csv.gz")) == {"id": "integer"}
    assert casts(starter(call, "c.tsv")) == {"id": "integer"}


def test_json_lines_json_and_parquet(call: Call, folder: Path) -> None:
    rows = [{"id": i, "when": f"2026-03-0{i}", "more": {"a": i}} for i in (1, 2, 3)]
    (folder / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "b.json").write_text(json.dumps(rows))
    table = pa.table({"id": [1, 2, 3], "name": ["a", "b", "b"]})
    pq.write_table(table, folder / "c.parquet")
    expected = {"id": "integer", "when": "date", "more": "jsonb"}
    assert casts(starter(call, "a.jsonl")) == expected
    assert casts(starter(call, "b.json")) == expected
    parquet = starter(call, "c.parquet")
    assert casts(parquet) == {}
    assert parquet.targets[0].upsert_key == ("id",)


@pytest.mark.parametrize(
    ("columns", "key"),
    [
        ({"id": ["1", "2", "3"], "v": ["a", "a", "b"]}, ("id",)),
        ({"v": ["a", "a", "b"], "order_no": ["1", "2", "3"]}, ("order_no",)),
        (
            {"region": ["n", "n", "s"], "day": ["1", "2", "1"], "v": ["x", "x", "x"]},
            ("region", "day"),
        ),
        ({"v": ["a", "a", "b"], "amount": ["1", "2", "3"]}, ()),
        ({"id": ["1", "2", "2"], "v": ["a", "a", "a"]}, ()),
        ({"id": ["1", "", "3"], "v": ["a", "a", "a"]}, ()),
        ({"id": ["1", "2", "3"]}, ()),
    ],
)
def test_a_key_is_unique_never_empty_and_named_like_one(
    call: Call, folder: Path, columns: dict[str, list[str]], key: tuple[str, ...]
) -> None:
    write_columns(folder / "a.csv", columns)
    target = starter(call, "a.csv").targets[0]
    assert target.upsert_key == key
    assert target.load_mode == ("upsert" if key else "append")


def test_awkward_names_become_plain_ones(call: Call, folder: Path) -> None:
    (folder / "My Orders 2026.csv").write_text(
        'Order ID,"total €",orderDate,a,A b,a_b\n1,2,x,1,1,1\n2,2,y,1,1,1\n'
    )
    pipeline = starter(call, "My Orders 2026.csv")
    assert pipeline.id == "my-orders-2026"
    assert pipeline.targets[0].schema_ == "public.my_orders_2026"
    assert renames(pipeline) == {
        "Order ID": "order_id",
        "total €": "total",
        "orderDate": "order_date",
    }
    assert pipeline.targets[0].upsert_key == ("order_id",)


def test_records_that_cannot_be_read_are_told(call: Call, folder: Path) -> None:
    (folder / "a.csv").write_text("id,v\n1,x\n2\n3,y\n")
    said = call("init", "a.csv")
    assert "1 record cannot be read, first a.csv:3" in said.out
    assert "#   a.csv:3" in (folder / "a.yaml").read_text()


def test_a_file_without_rows_gives_a_document_without_guesses(call: Call, folder: Path) -> None:
    (folder / "a.csv").write_text("id,v\n")
    pipeline = starter(call, "a.csv")
    assert casts(pipeline) == {}
    assert pipeline.targets[0].load_mode == "append"
    assert "append: too few rows to tell a key" in call("init", "a.csv").out


def test_more_decimals_than_there_is_room_for_are_told_to_be_rounded(
    call: Call, folder: Path
) -> None:
    (folder / "a.csv").write_text("amount\n1.50\n7\n")
    said = call("init", "--stdout", "a.csv")
    assert "up to 2 decimals; more than 4 are rounded" in said.out
    assert "Decimals beyond those of a numeric are rounded." in said.out


@pytest.mark.parametrize(
    ("values", "looks", "type_"),
    [
        (["$3.50", "-$1,004"], "amounts with a currency", "numeric(18,4)"),
        (
            ["€ 3,50", "1.003,50 EUR"],
            "amounts with a currency and a decimal comma",
            "numeric(18,4)",
        ),
        (["5%", "7.5 %"], "percentages", "numeric(18,4)"),
        (["5,5%", "7 %"], "percentages with a decimal comma", "numeric(18,4)"),
        (["(5.00)", "7.00"], "numbers with negative ones in brackets", "numeric(18,4)"),
        (["ja", "Nein"], "ja and nein", "boolean"),
        (["01.02.24", "31.12.24"], "dates with a year of two digits", "date"),
        (["08:15", "23:59"], "times of day", None),
        (
            ["2026-03-01T10:00:00Z", "2026-03-01 10:00"],
            "timestamps, of which some name an offset and some do not",
            "timestamptz",
        ),
    ],
)
def test_text_that_looks_like_something_comes_with_ops_that_read_it(
    call: Call, folder: Path, values: list[str], looks: str, type_: str | None
) -> None:
    write_columns(folder / "a.csv", {"The Value": values, "w": ["x"] * len(values)})
    (folder / "a.yaml").write_text(call("init", "--stdout", "a.csv").out)
    text = (folder / "a.yaml").read_text()
    assert f'"The Value" stays text: {looks}; ' in text
    ops = re.findall(r"^ +#   (- \{.*)$", text, re.MULTILINE)
    assert bool(ops) == bool(type_)
    if type_:
        # What is written as a comment stands before the renames, so that its names hold.
        done = re.sub(r"^ +#   (- \{.*)$", r"      \1", text, flags=re.MULTILINE)
        (folder / "a.yaml").write_text(done)
        said = call("plan", "a.yaml", "--json")
        assert said.code == 0, said.out
        columns = {column["name"]: column["type"] for column in said.data["steps"][-1]["columns"]}
        assert columns["the_value"].startswith(type_.replace("timestamptz", "timestamp with"))
