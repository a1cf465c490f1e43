from __future__ import annotations

import dagster as dg

from kaireon_dagster_tests.orchestration.bench import (
    KEY,
    Bench,
    checks,
    failures,
    materializations,
    steps_done,
    target,
)

DLQ = dg.AssetKey(["dlq", "orders"])


def test_job_loads_the_rows_and_says_what_it_did(bench: Bench) -> None:
    bench.write()
    bench.drop()
    result = bench.run()
    assert result.success, failures(result)
    assert bench.fetch("SELECT id, amount FROM public.ds_orders ORDER BY id") == [
        ("1", "10"),
        ("3", "7"),
    ]
    facts = materializations(result)[KEY]
    counts = {"read": 3, "loaded": 2, "inserted": 2, "updated": 0, "quarantined": 1}
    assert counts.items() <= facts.items()
    assert {"rejected": 0, "filtered": 0, "deduplicated": 0}.items() <= facts.items()
    assert facts["dagster/row_count"] == 2
    assert isinstance(facts["seconds"], float)
    assert facts["sql"].startswith("```sql")
    columns = facts["dagster/column_schema"].columns
    assert [(c.name, c.type) for c in columns] == [("id", "text"), ("amount", "text")]
    assert bench.status() == [("orders-ingest", "completed_with_errors")]
    assert (bench.inbox / ".archive" / "a.csv").exists()


def test_source_shows_when_files_last_came(bench: Bench) -> None:
    bench.write()
    bench.drop()
    result = bench.run()
    (seen,) = (e for e in result.all_events if e.event_type_value == "ASSET_OBSERVATION")
    observation = seen.asset_observation_data.asset_observation
    assert observation.asset_key == dg.AssetKey(["orders-ingest", "src"])
    assert observation.metadata["files"].value == 1
    assert "a.csv" in observation.metadata["names"].value


def test_column_lineage_names_the_columns_of_files_and_of_lookup_tables(bench: Bench) -> None:
    op = {
        "type": "lookup_join",
        "table": "public.names",
        "on": [{"field": "id", "column": "id"}],
        "fields": [{"column": "name", "as": "called"}],
    }
    bench.write(
        bench.source(),
        {"id": "t", "kind": "transform", "input": "src", "ops": [op]},
        target("public.t", input="t"),
    )
    bench.do("CREATE TABLE public.names (id text, name text)", "INSERT INTO names VALUES ('1','x')")
    bench.drop()
    result = bench.run()
    assert result.success, failures(result)
    lineage = materializations(result)[dg.AssetKey(["public", "t"])]["dagster/column_lineage"]
    (origin,) = lineage.deps_by_column["id"]
    assert origin == dg.TableColumnDep(dg.AssetKey(["orders-ingest", "src"]), "id")
    assert (
        dg.TableColumnDep(dg.AssetKey(["public", "names"]), "name")
        in (lineage.deps_by_column["called"])
    )


def test_rules_become_check_results_and_quarantine_an_event(bench: Bench) -> None:
    bench.write()
    bench.drop()
    result = bench.run()
    found = checks(result)
    assert not found["v__amt_positive"].passed
    assert found["v__amt_positive"].severity == dg.AssetCheckSeverity.WARN
    assert found["v__amt_positive"].metadata["rows"].value == 1
    assert found["v__rowCount"].passed
    assert found["v__rowCount"].severity == dg.AssetCheckSeverity.ERROR
    facts = materializations(result)[DLQ]
    assert (facts["quarantined"], facts["step"]) == (1, "tgt")
    assert "| `amt-positive` | 1 |" in facts["rules"]


def test_rules_of_a_staged_node_reach_the_checks_of_the_targets_below(bench: Bench) -> None:
    rule = {"id": "positive", "field": "amount", "rule": "gt:0", "onFail": "warn"}
    bench.write(
        bench.source(),
        {"id": "v", "kind": "validate", "input": "src", "rowLevel": [rule], "checkpoint": True},
        target("public.a", "a", "v"),
        target("public.b", "b", "v"),
    )
    bench.drop()
    result = bench.run()
    assert result.success, failures(result)
    found = [(e.asset_key.path[-1], e.passed) for e in result.get_asset_check_evaluations()]
    assert sorted(found) == [("a", False), ("b", False)]
    facts = materializations(result)
    assert facts[dg.AssetKey(["public", "a"])]["read"] == 3
    assert facts[dg.AssetKey(["public", "b"])]["loaded"] == 3


def test_branches_feed_their_targets_and_an_empty_route_is_no_skip(bench: Bench) -> None:
    routes = [{"name": "big", "when": "amount::integer > 5"}, {"name": "none", "when": "id = 'x'"}]
    bench.write(
        bench.source(),
        {"id": "b", "kind": "branch", "input": "src", "routes": routes, "otherwise": "rest"},
        target("public.big", "big", "b.big"),
        target("public.none", "none", "b.none"),
        target("public.rest", "rest", "b.rest"),
    )
    bench.drop()
    result = bench.run()
    assert result.success, failures(result)
    loaded = {key.path[-1]: facts["loaded"] for key, facts in materializations(result).items()}
    assert loaded == {"big": 2, "none": 0, "rest": 1}
    assert bench.status() == [("orders-ingest", "completed")]


def test_run_without_files_succeeds_with_zeros(bench: Bench) -> None:
    policy = {"maxRetries": 0, "intervalMinutes": 1, "onMissAction": "skip"}
    bench.write(bench.source(waitPolicy=policy), target("public.t"))
    result = bench.run()
    assert result.success, failures(result)
    assert materializations(result)[dg.AssetKey(["public", "t"])]["loaded"] == 0


def test_everything_at_once_is_a_run_of_each_pipeline(bench: Bench) -> None:
    other = bench.folder / "other"
    other.mkdir()
    (other / "x.csv").write_text("id\n1\n")
    bench.write()
    bench.write(bench.source(path=str(other)), target("public.t"), id="second")
    bench.drop()
    result = bench.materialize()
    assert result.success, failures(result)
    assert bench.status() == [("orders-ingest", "completed_with_errors"), ("second", "completed")]
    assert bench.fetch("SELECT count(*) FROM public.t") == [(1,)]
    ids = bench.fetch("SELECT id, metadata ->> 'dagsterRunId' FROM flow.pipeline_runs ORDER BY 1")
    assert ids == [
        (f"{result.run_id}.orders_ingest", result.run_id),
        (f"{result.run_id}.second", result.run_id),
    ]


def test_pipeline_that_reads_a_table_starts_after_it_was_loaded(bench: Bench) -> None:
    op = {
        "type": "lookup_join",
        "table": "public.names",
        "on": [{"field": "id", "column": "id"}],
        "fields": [{"column": "name", "as": "name"}],
    }
    names = bench.folder / "names"
    names.mkdir()
    (names / "n.csv").write_text("id,name\n1,one\n")
    bench.write(
        bench.source(),
        {"id": "t", "kind": "transform", "input": "src", "ops": [op]},
        target("public.t", input="t"),
        id="a-reader",
    )
    bench.write(bench.source(path=str(names)), target("public.names"), id="z-names")
    bench.drop()
    result = bench.materialize()
    assert result.success, failures(result)
    done = steps_done(result)
    assert done.index("flow__z_names.tgt") < done.index("flow__a_reader.src")
    assert ("1", "one") in bench.fetch("SELECT id, name FROM public.t")


def test_subset_loads_only_what_was_asked_where_files_stay(bench: Bench) -> None:
    source = bench.source()
    del source["config"]["atomicity"]
    bench.write(source, target("public.a", "a"), target("public.b", "b"))
    bench.drop()
    result = bench.materialize([dg.AssetKey(["public", "a"])])
    assert result.success, failures(result)
    assert bench.fetch("SELECT to_regclass('public.b')") == [(None,)]
    assert bench.status() == [("orders-ingest", "completed")]


def test_subset_that_would_use_up_files_is_refused(bench: Bench) -> None:
    bench.write(bench.source(), target("public.a", "a"), target("public.b", "b"))
    bench.drop()
    result = bench.materialize([dg.AssetKey(["public", "a"])])
    assert not result.success
    assert "public.b would never see them" in failures(result)[0]
    assert (bench.inbox / "a.csv").exists()


def test_check_alone_is_refused_before_files_are_touched(bench: Bench) -> None:
    bench.write()
    bench.drop()
    defs = bench.definitions()
    check = dg.AssetCheckKey(KEY, "v__amt_positive")
    job = dg.define_asset_job("only_check", selection=dg.AssetSelection.checks(check))
    merged = dg.Definitions.merge(defs, dg.Definitions(jobs=[job]))
    result = merged.resolve_job_def("only_check").execute_in_process(
        instance=bench.instance, raise_on_error=False
    )
    assert not result.success
    assert "evaluated while rows are loaded" in failures(result)[0]
    assert (bench.inbox / "a.csv").exists()


def test_document_is_registered_when_it_runs(bench: Bench) -> None:
    bench.write()
    assert bench.fetch("SELECT count(*) FROM flow.pipelines") == [(0,)]
    bench.drop()
    bench.run()
    query = """SELECT id, name, ir ->> 'id', status, "lastRunStatus" FROM flow.pipelines"""
    assert bench.fetch(query) == [
        ("orders-ingest", "orders-ingest", "orders-ingest", "active", "completed_with_errors")
    ]


def test_every_node_can_be_a_durable_step(bench: Bench) -> None:
    bench.write()
    bench.drop()
    job = bench.definitions(checkpoints="every_node").resolve_job_def("orders_ingest")
    result = job.execute_in_process(instance=bench.instance)
    assert steps_done(result) == [f"flow__orders_ingest.{step}" for step in ("src", "v", "tgt")]
    assert not checks(result)["v__amt_positive"].passed
    assert bench.fetch("SELECT count(*) FROM public.ds_orders") == [(2,)]
    assert bench.fetch("SELECT count(*) FROM pg_tables WHERE schemaname = 'flow_staging'") == [(0,)]
