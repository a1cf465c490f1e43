from __future__ import annotations

import json
import logging
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from kaireon_dagster.orchestration import flow_definitions
from kaireon_dagster_tests.orchestration.bench import KEY, Bench, target

SOURCE = dg.AssetKey(["orders-ingest", "src"])


def specs(defs: dg.Definitions) -> dict[dg.AssetKey, dg.AssetSpec]:
    return {spec.key: spec for spec in defs.resolve_all_asset_specs()}


def upstream(defs: dg.Definitions, key: dg.AssetKey) -> set[dg.AssetKey]:
    return {dep.asset_key for dep in specs(defs)[key].deps}


def lookup(table: str, id: str = "look") -> dict[str, Any]:
    op = {
        "type": "lookup_join",
        "table": table,
        "on": [{"field": "id", "column": "id"}],
        "fields": [{"column": "name", "as": "name"}],
    }
    return {
        "id": id,
        "kind": "transform",
        "input": "src",
        "ops": [op],
    }


def test_pipeline_is_an_asset_with_its_surroundings(bench: Bench) -> None:
    bench.write(
        metadata={
            "name": "Orders",
            "owner": "team:sales",
            "tags": ["daily load"],
            "description": "All orders.",
        },
        schedule={"kind": "cron", "expression": "0 9 * * 1", "timezone": "UTC"},
    )
    found = specs(bench.definitions())
    assert set(found) == {KEY, SOURCE, dg.AssetKey(["dlq", "orders"])}
    asset = found[KEY]
    assert asset.group_name == "orders_ingest"
    assert asset.owners == ["team:sales"]
    assert asset.kinds == {"postgres"}
    assert "daily_load" in asset.tags
    assert asset.description and asset.description.startswith("All orders.")
    assert "| `v` | checks amt-positive, rowCount | `src` |" in asset.description
    assert asset.metadata["dagster/table_name"] == "public.ds_orders"
    assert asset.metadata["schedule"] == "cron 0 9 * * 1 (UTC)"
    reference = asset.metadata["dagster/code_references"].code_references[0]
    assert Path(reference.file_path) == bench.pipelines / "orders-ingest.json"
    assert asset.code_version


def test_source_is_upstream_and_quarantine_is_below_the_source(bench: Bench) -> None:
    bench.write()
    defs = bench.definitions()
    assert upstream(defs, KEY) == {SOURCE}
    assert upstream(defs, dg.AssetKey(["dlq", "orders"])) == {SOURCE}
    assert specs(defs)[SOURCE].kinds == {"csv", "local_fs"}
    assert specs(defs)[SOURCE].metadata["pattern"] == "*.csv"


def test_every_rule_is_a_check_of_the_target(bench: Bench) -> None:
    bench.write()
    graph = bench.definitions().resolve_asset_graph()
    names = {key.name for key in graph.asset_check_keys}
    assert names == {"v__amt_positive", "v__rowCount"}


def test_rules_guard_only_the_targets_below_them(bench: Bench) -> None:
    rule = {"id": "r", "field": "id", "rule": "not_null", "onFail": "warn"}
    bench.write(
        bench.source(),
        {"id": "v", "kind": "validate", "input": "src", "rowLevel": [rule]},
        target("public.good", "good", "v"),
        target("public.all", "all", "src"),
    )
    keys = bench.definitions().resolve_asset_graph().asset_check_keys
    assert {(k.asset_key.path[-1], k.name) for k in keys} == {("good", "v__r")}


def test_rules_whose_names_come_out_the_same_are_kept_apart(bench: Bench) -> None:
    rules = [
        {"id": name, "field": "id", "rule": "not_null", "onFail": "warn"} for name in ("a b", "a-b")
    ]
    limits = [{"min": 1, "onFail": "warn"}, {"max": 9, "onFail": "abort"}]
    bench.write(
        bench.source(),
        {
            "id": "v",
            "kind": "validate",
            "input": "src",
            "rowLevel": rules,
            "datasetLevel": {"rowCount": limits},
        },
        target("public.t", input="v"),
    )
    names = {key.name for key in bench.definitions().resolve_asset_graph().asset_check_keys}
    assert len(names) == 4
    assert {"v__rowCount", "v__rowCount_2"} < names


def test_table_of_several_writers_stands_above_them(bench: Bench) -> None:
    bench.write(id="one")
    bench.write(id="two")
    defs = bench.definitions()
    writers = {dg.AssetKey([*KEY.path, name]) for name in ("one", "two")}
    assert writers < set(specs(defs))
    assert upstream(defs, KEY) == writers


def test_one_pipeline_may_load_a_table_twice(bench: Bench) -> None:
    bench.write(bench.source(), target("public.t", "a"), target("public.t", "b"))
    found = specs(bench.definitions())
    assert dg.AssetKey(["public", "t", "orders-ingest", "a"]) in found
    assert dg.AssetKey(["public", "t", "orders-ingest", "b"]) in found


def test_lookup_tables_are_upstream(bench: Bench) -> None:
    bench.write(bench.source(), lookup("public.names"), target("public.t", input="look"))
    defs = bench.definitions()
    assert upstream(defs, dg.AssetKey(["public", "t"])) == {
        SOURCE,
        dg.AssetKey(["public", "names"]),
    }


def test_pipelines_that_read_each_others_tables_are_still_drawn(bench: Bench) -> None:
    bench.write(bench.source(), lookup("public.b"), target("public.a", input="look"), id="pa")
    bench.write(bench.source(), lookup("public.a"), target("public.b", input="look"), id="pb")
    bench.write(bench.source(), lookup("public.a"), target("public.c", input="look"), id="pc")
    defs = bench.definitions()
    assert upstream(defs, dg.AssetKey(["public", "a"])) == {dg.AssetKey(["pa", "src"])}
    assert dg.AssetKey(["public", "a"]) in upstream(defs, dg.AssetKey(["public", "c"]))


def test_hostile_names_load(bench: Bench) -> None:
    bench.write(
        bench.source("class"),
        target("public.Größe x", "config", "class"),
        target("public.größe x", "meta", "class"),
        id="dict",
    )
    bench.write(id="flow__orders")
    bench.write(bench.source("b__c"), target("public.x", input="b__c"), id="a")
    bench.write(bench.source("c"), target("public.y", input="c"), id="a__b")
    bench.write(target("public.z", input="src"), bench.source(), id="orders")
    defs = bench.definitions()
    dg.Definitions.validate_loadable(defs)
    assert {"dict_", "flow__orders", "a", "a__b", "orders"} < {
        job.name for job in defs.get_repository_def().get_all_jobs()
    }


def test_ops_are_called_by_their_nodes(bench: Bench) -> None:
    bench.write()
    job = bench.definitions().resolve_job_def("orders_ingest")
    graph = job.graph.node_named("flow__orders_ingest").definition
    assert sorted(graph.node_dict) == ["src", "tgt"]
    assert sorted(node.definition.name for node in graph.node_dict.values()) == [
        "orders_ingest__src",
        "orders_ingest__tgt",
    ]


def test_broken_document_is_shown_and_the_rest_loads(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    bench.write()
    (bench.pipelines / "broken.json").write_text('{"kind": "pipelin"}')
    (bench.pipelines / "text.yaml").write_text("a: [")
    with caplog.at_level(logging.ERROR):
        logging.getLogger("dagster").propagate = True
        found = specs(bench.definitions())
    assert KEY in found
    spec = found[dg.AssetKey(["broken_documents", "broken.json"])]
    assert spec.group_name == "broken_documents"
    assert spec.description and "kind: " in spec.description and "broken.json" in spec.description
    assert spec.metadata["problems"] > 1
    assert dg.AssetKey(["broken_documents", "text.yaml"]) in found


def test_jobs_stand_while_pipelines_are_few(bench: Bench) -> None:
    bench.write()
    assert [job.name for job in bench.definitions().jobs or []] == ["orders_ingest"]
    assert not bench.definitions(asset_jobs=False).jobs
    assert "orders" in json.dumps([str(k) for k in specs(bench.definitions(asset_jobs=False))])


def test_loading_touches_neither_database_nor_source(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.write(bench.source(path="/nowhere/at/all"), target("public.t"))

    def refuse(*args: object) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    defs = flow_definitions(bench.pipelines)
    dg.Definitions.validate_loadable(defs)


def test_language_is_imported_without_dagster() -> None:
    code = "import kaireon_dagster.ir, sys; sys.exit('dagster' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_definitions_are_imported_without_the_engine(bench: Bench) -> None:
    bench.write()
    code = (
        "import sys; from kaireon_dagster import flow_definitions;"
        f"flow_definitions({str(bench.pipelines)!r});"
        "sys.exit(sum(m in sys.modules for m in ('duckdb', 'pyarrow', 'pgpq', 'sqlglot')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_three_hundred_documents_load_in_seconds(bench: Bench) -> None:
    for number in range(300):
        bench.write(bench.source(), target(f"public.t{number}"), id=f"p{number}")
    began = time.process_time()
    defs = bench.definitions()
    defs.get_repository_def()
    assert time.process_time() - began < 5
    assert not defs.jobs
