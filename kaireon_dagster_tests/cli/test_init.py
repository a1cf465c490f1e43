from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kaireon_dagster.ir import Pipeline, parse_document
from kaireon_dagster_tests.cli.conftest import Call


def starter(call: Call, *files: str) -> Pipeline:
    said = call("init", "--stdout", *files)
    assert said.code == 0, said.err
    return parse_document(said.out, source="starter", format="yaml")


def casts(pipeline: Pipeline) -> dict[str, str]:
    ops: Any = [op for node in pipeline.nodes if node.kind == "transform" for op in node.ops]
    return {
        op.field: op.to + (f" {op.format}" if op.format else "") for op in ops if op.type == "cast"
    }


def renames(pipeline: Pipeline) -> dict[str, str]:
    ops: Any = [op for node in pipeline.nodes if node.kind == "transform" for op in node.ops]
    return {op.from_: op.to for op in ops if op.type == "rename"}


def write_columns(path: Path, columns: dict[str, list[str]]) -> None:
    rows = [list(columns), *zip(*columns.values(), strict=True)]
    path.write_text("".join(";".join(row) + "\n" for row in rows), encoding="utf-8")


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["1", "-20", "0"], "integer"),
        (["1", "3000000000"], "bigint"),
        (["1.50", "7"], "numeric(18,2)"),
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
        (["1,234.50", "7"], "numeric(18,2) 1,234.56"),
        (["1.234,50", "7,1"], "numeric(18,2) 1.234,56"),
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
    assert pipeline.sources[0].config.format_options.null_values == ("", "NA")  # type: ignore[union-attr]
    assert casts(pipeline) == {"id": "integer", "delay": "integer"}


def test_dialect_encoding_and_packing_are_found(call: Call, folder: Path) -> None:
    (folder / "a.csv").write_bytes("id;name\n1;Zoë\n2;Ian\n".encode("windows-1252"))
    (folder / "b.csv.gz").write_bytes(gzip.compress(b"id,name\n1,Zoe\n2,Ian\n"))
    (folder / "c.tsv").write_text("id\tname\n1\tZoë\n2\tIan\n")
    options: Any = starter(call, "a.csv").sources[0].config.format_options  # type: ignore[union-attr]
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


def test_files_of_one_header_make_one_document(call: Call, folder: Path) -> None:
    for month in ("01", "02"):
        (folder / f"sales-{month}.csv").write_text(f"id,v\n{month},x\n")
    (folder / "staff.csv").write_text("id,name\n1,x\n2,y\n")
    said = call("init", "sales-01.csv", "sales-02.csv", "staff.csv", "--json")
    assert [d["path"] for d in said.data["documents"]] == ["sales-0.yaml", "staff.yaml"]
    text = (folder / "sales-0.yaml").read_text()
    assert 'value: "sales-0*.csv"' in text


def test_the_document_goes_to_the_pipelines_folder_and_is_not_overwritten(
    call: Call, folder: Path
) -> None:
    (folder / "pipelines").mkdir()
    (folder / "a.csv").write_text("id,v\n1,x\n2,y\n")
    assert call("init", "a.csv").code == 0
    place = folder / "pipelines" / "a.yaml"
    place.write_text("mine")
    said = call("init", "a.csv")
    assert said.code == 2
    assert "--force" in said.err
    assert place.read_text() == "mine"
    assert call("init", "a.csv", "--force").code == 0
    assert call("validate").code == 0


def test_records_that_cannot_be_read_are_told(call: Call, folder: Path) -> None:
    (folder / "a.csv").write_text("id,v\n1,x\n2\n3,y\n")
    said = call("init", "a.csv")
    assert "1 record(s) cannot be read, first a.csv:3" in said.out
    assert "#   a.csv:3" in (folder / "a.yaml").read_text()


@pytest.mark.parametrize("name", ["missing.csv", "a.docx", "folder.csv"])
def test_what_is_no_data_file_is_wrong_usage(call: Call, folder: Path, name: str) -> None:
    (folder / "a.docx").write_text("x")
    (folder / "folder.csv").mkdir()
    said = call("init", name)
    assert said.code == 2
    assert said.err.startswith(f"kaireon-dagster: {name}")


def test_a_header_that_cannot_be_used_is_an_error_without_traceback(
    call: Call, folder: Path
) -> None:
    (folder / "a.csv").write_text("id,id\n1,2\n")
    said = call("init", "a.csv")
    assert said.code == 1
    assert "have one name" in said.err
    assert "Traceback" not in said.err
    assert not (folder / "a.yaml").exists()


@pytest.mark.parametrize("content", ["", "id,v\n"])
def test_a_file_without_rows_gives_a_document_without_guesses(
    call: Call, folder: Path, content: str
) -> None:
    (folder / "a.csv").write_text(content)
    pipeline = starter(call, "a.csv")
    assert casts(pipeline) == {}
    assert pipeline.targets[0].load_mode == "append"
