"""Which failures may pass, and what a run that is executed again finds and does."""

from __future__ import annotations

from pathlib import Path

import pytest
from psycopg.conninfo import make_conninfo

from kaireon_dagster.engine.claiming import claim_source
from kaireon_dagster.errors import FlowError, Terminal, Transient
from kaireon_dagster.plan.steps import plan_pipeline
from kaireon_dagster.sources import DeadlineMissed, FileChanged, FilesNotThere
from kaireon_dagster.state import Database, DatabaseUnreachable
from kaireon_dagster_tests.cases.inputs import cast, quarantine, staging_left, transform
from kaireon_dagster_tests.harness import document, execute, new_scope, query, run, source, target

PASSING = ["40001", "40P01", "08006", "53300", "53200", "55P03", "57P01", "57014", "25P03"]
STAYING = ["23505", "23503", "23514", "42P01", "22P02", "42501", "42703", "P0001", "0A000", "22012"]


def write(folder: Path, text: str, name: str = "a.csv") -> None:
    (folder / name).write_text(text, encoding="utf-8")


def raise_on_insert(database: Database, state: str) -> None:
    execute(
        database,
        "CREATE TABLE t (id int); CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        f"IF NEW.id = 700 THEN RAISE 'row %', NEW.id USING ERRCODE = '{state}'; END IF; RETURN NEW; "
        "END $$; CREATE TRIGGER f BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION f()",
    )


# 057: errors that pass and errors that stay


@pytest.mark.parametrize("state", [*PASSING, *STAYING])
def test_the_sqlstate_decides_whether_a_load_is_worth_another_try(
    database: Database, folder: Path, state: str
) -> None:
    raise_on_insert(database, state)
    write(folder, "id\n" + "".join(f"{i}\n" for i in range(1000)))
    pipeline = document(source(folder), target())
    with pytest.raises(Transient if state in PASSING else Terminal) as caught:
        run(pipeline, database, run_id="r")
    assert state in str(caught.value) and "700" not in str(caught.value)
    assert query(database, "SELECT count(*) FROM t") == [(0,)]
    execute(database, "DROP TRIGGER f ON t")
    assert run(pipeline, database, run_id="r", steps=["tgt"]).counts.loaded == 1000
    assert query(database, "SELECT count(*) FROM t") == [(1000,)]


def test_a_killed_backend_is_an_interruption(database: Database, folder: Path) -> None:
    execute(
        database,
        "CREATE TABLE t (id int); CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NEW; END $$;"
        "CREATE TRIGGER f BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION f()",
    )
    write(folder, "id\n1\n")
    pipeline = document(source(folder), target())
    with pytest.raises(Transient):
        run(pipeline, database, run_id="r")
    execute(database, "DROP TRIGGER f ON t")
    run(pipeline, database, run_id="r", steps=["tgt"])
    assert query(database, "SELECT id FROM t") == [(1,)]


def test_a_lookup_that_breaks_off_is_an_interruption(database: Database, folder: Path) -> None:
    dying = "CASE WHEN id > 70000 THEN pg_terminate_backend(pg_backend_pid())::text END"
    execute(
        database,
        f"CREATE VIEW names AS SELECT id, {dying} AS name FROM generate_series(1, 90000) id",
    )
    write(folder, "id\n1\n")
    lookup = {
        "type": "lookup_join",
        "table": "public.names",
        "on": [{"field": "id", "column": "id"}],
        "fields": [{"column": "name", "as": "name"}],
        "joinType": "left",
    }
    with pytest.raises(Transient, match=r"reading public\.names"):
        run(document(source(folder), transform(lookup), target(input="x")), database)


def test_a_server_that_cannot_be_reached_may_come_back(database: Database, folder: Path) -> None:
    write(folder, "id\n1\n")
    gone = Database(make_conninfo(database.conninfo, host="/no/such/folder", hostaddr=""))
    with pytest.raises(DatabaseUnreachable):
        run(document(source(folder), target()), gone)
    assert (folder / "a.csv").exists()


@pytest.mark.parametrize(
    ("action", "attempts", "error"),
    [
        ("fail", 0, DeadlineMissed),
        ("fail", 1, FilesNotThere),
        ("skip", 0, None),
        ("alert", 0, None),
    ],
)
def test_a_missing_file_follows_the_documents_rule(
    database: Database, folder: Path, action: str, attempts: int, error: type[FlowError] | None
) -> None:
    policy = {"maxRetries": attempts, "intervalMinutes": 1, "onMissAction": action}
    pipeline = document(source(folder, waitPolicy=policy), target())
    if error is None:
        assert run(pipeline, database).counts.read == 0
        alerts = query(database, "SELECT severity FROM flow.system_health_alerts")
        assert alerts == ([("warning",)] if action == "alert" else [])
    else:
        with pytest.raises(error):
            run(pipeline, database)


# 059: a re-execution has another run id, and the same root


def test_a_run_goes_on_behind_its_last_durable_step(database: Database, folder: Path) -> None:
    raise_on_insert(database, "40001")
    write(folder, "id\n700\nx\n")
    staged = {**transform(cast("id", "integer")), "checkpoint": True}
    pipeline = document(source(folder), staged, target(input="x"), dlq=True)
    with pytest.raises(Transient):
        run(pipeline, database, run_id="root")
    made = query(
        database,
        "SELECT relname, oid::bigint FROM pg_class WHERE relnamespace = 'flow_staging'::regnamespace",
    )
    execute(database, "DROP TRIGGER f ON t")
    write(folder, "id\n1\n", "later.csv")
    again = run(pipeline, database, run_id="root", steps=["tgt"])
    assert again.counts.loaded == 1
    assert query(database, "SELECT id FROM t") == [(700,)]
    assert [row for _, row in quarantine(database)] == [{"id": "x"}]
    assert (folder / "later.csv").exists()
    assert len(made) == 1 and staging_left(database) == 0


def test_every_step_may_be_executed_again(database: Database, folder: Path) -> None:
    raise_on_insert(database, "40001")
    write(folder, "id\n700\nx\n")
    staged = {**transform(cast("id", "integer")), "checkpoint": True}
    pipeline = document(source(folder), staged, target(input="x"), dlq=True)
    with pytest.raises(Transient):
        run(pipeline, database, run_id="root")
    execute(database, "DROP TRIGGER f ON t")
    for _ in range(3):
        run(pipeline, database, run_id="root")
        write(folder, "id\n1\n", "later.csv")
    assert (folder / "later.csv").exists()
    assert query(database, "SELECT id FROM t") == [(700,)]
    assert len(quarantine(database)) == 1
    assert query(
        database, 'SELECT "rowsIn", "rowsLoaded", "rowsQuarantined" FROM flow.pipeline_runs'
    ) == [(2, 1, 1)]


def test_staging_that_was_cleaned_away_is_made_again(database: Database, folder: Path) -> None:
    raise_on_insert(database, "40001")
    write(folder, "id\n700\nx\n")
    staged = {**transform(cast("id", "integer")), "checkpoint": True}
    pipeline = document(source(folder), staged, target(input="x"), dlq=True)
    with pytest.raises(Transient):
        run(pipeline, database, run_id="root")
    execute(
        database,
        "DROP TRIGGER f ON t; DROP SCHEMA flow_staging CASCADE; CREATE SCHEMA flow_staging",
    )
    run(pipeline, database, run_id="root", steps=["tgt"])
    assert query(database, "SELECT id FROM t") == [(700,)]
    assert len(quarantine(database)) == 1


def test_a_changed_document_starts_afresh(database: Database, folder: Path) -> None:
    raise_on_insert(database, "40001")
    write(folder, "id\n700\n5\n")
    staged = {**transform(cast("id", "integer")), "checkpoint": True}
    with pytest.raises(Transient):
        run(document(source(folder), staged, target(input="x")), database, run_id="root")
    execute(database, "DROP TRIGGER f ON t")
    halved = transform(
        cast("id", "integer"), {"type": "expression", "field": "id", "expression": "id / 5"}
    )
    changed = document(source(folder), {**halved, "checkpoint": True}, target(input="x"))
    run(changed, database, run_id="root")
    assert query(database, "SELECT id FROM t ORDER BY id") == [(1,), (140,)]


def test_a_document_that_changed_after_the_load_is_not_loaded_twice_and_says_so(
    database: Database, folder: Path
) -> None:
    write(folder, "id\n1\n")
    run(document(source(folder), target()), database, run_id="root")
    write(folder, "id\n2\n")
    changed = document(source(folder), target(onNewColumns="add"))
    again = run(changed, database, run_id="root")
    assert query(database, "SELECT id FROM t") == [("1",)]
    assert any("the document has changed" in w for w in again.outcomes["tgt"].warnings)


def test_a_file_that_changed_after_it_was_claimed_is_refused(
    database: Database, folder: Path
) -> None:
    write(folder, "id\n1\n")
    pipeline = document(source(folder), target())
    scope = new_scope(plan_pipeline(pipeline), database, "root")
    relation = claim_source(scope, scope.plan.step("src"))
    with Path(relation.files[0].path).open("a") as file:
        file.write("2\n")
    with pytest.raises(FileChanged):
        run(pipeline, database, run_id="root", steps=["tgt"])
    assert query(database, "SELECT to_regclass('public.t')") == [(None,)]
