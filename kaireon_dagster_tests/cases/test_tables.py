"""Tables that are unlike a fresh one: odd columns, triggers, policies, views, very wide, very full."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kaireon_dagster.errors import DocumentInvalid, Terminal
from kaireon_dagster.plan.faults import NodeFault
from kaireon_dagster.state import Database, StatementRefused
from kaireon_dagster_tests.cases.inputs import cast, quarantine, rejected_lines, transform
from kaireon_dagster_tests.harness import Run, document, execute, query, run, source, target

MODES = pytest.mark.parametrize("mode", ["append", "truncate", "upsert"])


def write(folder: Path, text: str, name: str = "a.csv") -> None:
    (folder / name).write_text(text, encoding="utf-8")


def load(
    database: Database, folder: Path, mode: str = "append", *, dlq: bool = False, **more: Any
) -> Run:
    key = {"upsertKey": "id"} if mode == "upsert" else {}
    return run(document(source(folder), target(mode=mode, **key, **more), dlq=dlq), database)


# columns


@MODES
def test_dropped_columns_leave_no_hole(database: Database, folder: Path, mode: str) -> None:
    execute(
        database,
        "CREATE TABLE t (a int, id int PRIMARY KEY, b text NOT NULL, v text); ALTER TABLE t DROP a;"
        "ALTER TABLE t DROP b; ALTER TABLE t ADD w numeric DEFAULT 7",
    )
    write(folder, "v,id\nx,1\ny,2\n")
    load(database, folder, mode)
    assert query(database, "SELECT id, v, w::text FROM t ORDER BY id") == [
        (1, "x", "7"),
        (2, "y", "7"),
    ]


@MODES
def test_names_that_differ_by_case_are_different_columns(
    database: Database, folder: Path, mode: str
) -> None:
    execute(database, 'CREATE TABLE t (id int PRIMARY KEY, "Value" text, value text)')
    write(folder, "id,Value\n1,upper\n")
    load(database, folder, mode)
    assert query(database, 'SELECT id, "Value", value FROM t') == [(1, "upper", None)]


def test_a_name_in_another_case_is_refused_with_advice(database: Database, folder: Path) -> None:
    execute(database, "CREATE TABLE t (id int, value text)")
    write(folder, "ID,value\n1,x\n")
    with pytest.raises(NodeFault, match=r"no column 'ID' \(it has id, value\); rename"):
        load(database, folder)
    renamed = transform({"type": "rename", "from": "ID", "to": "id"})
    write(folder, "ID,value\n1,x\n", "b.csv")
    run(document(source(folder), renamed, target(input="x")), database)
    assert query(database, "SELECT DISTINCT id, value FROM t") == [(1, "x")]


def test_new_columns_that_differ_by_case_are_added_beside_the_old(
    database: Database, folder: Path
) -> None:
    execute(database, "CREATE TABLE t (id int)")
    write(folder, "id,ID2,Id\n1,2,3\n".replace(",Id", "").replace(",3", ""))
    load(database, folder, onNewColumns="add")
    assert query(database, 'SELECT id, "ID2" FROM t') == [(1, "2")]


@MODES
def test_names_of_63_bytes_and_of_any_script(database: Database, folder: Path, mode: str) -> None:
    names = [
        "c" * 63,
        "é" * 31,
        "名前",
        "\U0001f600",
        "ı",
        "ß",
        "SS",
        " a",
        "a ",
        "a.b",
        "1",
        "%s",
        "$1",
    ]
    write(folder, f"id,{','.join(names)}\n1,{','.join(map(str, range(len(names))))}\n")
    for _ in range(2):
        load(database, folder, mode)
        write(folder, f"{','.join(names)},id\n{','.join(map(str, range(len(names))))},1\n", "b.csv")
    columns = ", ".join(f'"{name}"' for name in names)
    rows = query(database, f"SELECT DISTINCT {columns} FROM t")
    assert rows == [tuple(str(i) for i in range(len(names)))]


def test_a_target_of_63_byte_names_has_its_own_staging_and_quarantine(
    database: Database, folder: Path
) -> None:
    schema, table = "s" * 63, "t" * 63
    for id_ in ("p" * 100, "p" * 99 + "q"):
        write(folder, "id,v\n1,x\n1,y\n,z\n")
        into = target(f"{schema}.{table}", "upsert", upsertKey="id", input="x")
        staged = {**transform(cast("id", "integer")), "checkpoint": True}
        run(document(source(folder), staged, into, id=id_, dlq=True), database)
    assert query(database, f"SELECT id, v FROM {schema}.{table}") == [(1, "y")]
    named = query(database, "SELECT tablename::text FROM pg_tables WHERE schemaname = 'flow_dlq'")
    assert len(named) == 2


def test_columns_named_like_sql_and_like_the_worker_s_own(database: Database, folder: Path) -> None:
    names = [
        "row",
        "select",
        "s",
        "t",
        "last",
        "written",
        "place",
        "known",
        "fresh",
        "rowid",
        "filename",
        "c0",
        "src",
        "low",
        "state",
    ]
    own = ", ".join(f'"{name}" numeric' for name in names)
    execute(database, f"CREATE TABLE t (id numeric PRIMARY KEY, {own})")
    lines = [",".join([value] * len(names)) for value in "12x"]
    write(folder, f"{','.join(names)},id\n{lines[0]},1\n{lines[1]},1.0\n{lines[2]},2\n")
    done = load(database, folder, "upsert", dlq=True)
    assert query(database, 'SELECT "row"::int, place::int, known::int FROM t') == [(2, 2, 2)]
    assert (done.counts.loaded, done.counts.quarantined, done.counts.deduplicated) == (1, 1, 1)


@pytest.mark.parametrize("name", ["ctid", "xmin", "tableoid"])
def test_names_that_postgres_keeps_for_itself_are_refused(
    database: Database, folder: Path, name: str
) -> None:
    write(folder, f"id,{name}\n1,2\n")
    with pytest.raises(Terminal, match=name):
        load(database, folder)


@pytest.mark.parametrize("name", ["_flow_seq", "_flow_row", "_FLOW_x", "_kaireon_lineage"])
@pytest.mark.parametrize("format_", ["csv", "jsonl"])
def test_names_of_our_own_are_refused(
    database: Database, folder: Path, name: str, format_: str
) -> None:
    text = f"id,{name}\n1,2\n" if format_ == "csv" else json.dumps({"id": 1, name: 2})
    write(folder, text, f"a.{format_}")
    with pytest.raises(Terminal, match=name):
        run(document(source(folder, f"*.{format_}", format=format_), target()), database)


def test_a_table_with_columns_of_our_own_names_is_loaded(database: Database, folder: Path) -> None:
    execute(
        database,
        "CREATE TABLE t (id int PRIMARY KEY, _flow_seq int DEFAULT 5, _flow_original text)",
    )
    write(folder, "id\n1\n1\n")
    with pytest.raises(NodeFault, match="covers every column"):
        load(database, folder, "upsert")
    write(folder, "id\n1\n1\n")
    load(database, folder, dlq=True)
    assert query(database, "SELECT * FROM t") == [(1, 5, None)]


@pytest.mark.parametrize(
    "declared", ["text", "json", "int", "jsonb GENERATED ALWAYS AS ('1'::jsonb) STORED"]
)
def test_a_lineage_column_of_another_type_is_refused(
    database: Database, folder: Path, declared: str
) -> None:
    execute(database, f"CREATE TABLE t (id int, _kaireon_lineage {declared})")
    write(folder, "id\n1\n")
    with pytest.raises(NodeFault, match="_kaireon_lineage"):
        load(database, folder, lineage=True)
    assert query(database, "SELECT count(*) FROM t") == [(0,)]


def test_a_table_without_columns_cannot_be_loaded(database: Database, folder: Path) -> None:
    execute(database, "CREATE TABLE t ()")
    write(folder, "id\n1\n")
    with pytest.raises(NodeFault, match="no column"):
        load(database, folder)
    write(folder, "id\n1\n")
    with pytest.raises(NodeFault, match="none at all"):
        load(database, folder, onNewColumns="ignore")
    write(folder, "id\n1\n")
    load(database, folder, onNewColumns="add")
    assert query(database, "SELECT id FROM t") == [("1",)]


@pytest.mark.parametrize(
    ("declared", "good", "stored", "bad"),
    [
        ("mood", "ok", "ok", "worse"),
        ("mood[]", "{ok,bad}", "{ok,bad}", "{worse}"),
        ("short", "abc", "abc", "abcd"),
        ("varchar(2)[]", "{ab,c}", "{ab,c}", "{abc}"),
        ("bit(3)", "101", "101", "1011"),
        ("bit varying(3)", "10", "10", "1011"),
        ("character(3)", "ab", "ab ", "abcd"),
        ("numeric", "1e-20", "0.00000000000000000001", "1,5"),
        ("numeric(3)[]", "{1,2}", "{1,2}", "{1000}"),
        ("money", "12.50", "$12.50", "x"),
        ("inet", "10.0.0.1", "10.0.0.1/32", "10.0.0.256"),
        ("int4range", "[1,3)", "[1,3)", "[3,1)"),
        ("interval", "1 day", "1 day", "one day"),
        ("timetz", "10:00+02", "10:00:00+02", "25:00"),
        ("json", '{""a"": [1]}', '{"a": [1]}', "{a}"),
        ("point", "(1,2)", "(1,2)", "1"),
        ("pair", "(1,x)", "(1,x)", "(y,x)"),
        ("bytea", "\\x00ff", "\\x00ff", "\\xfg"),
        ("oid", "7", "7", "x"),
        ("tsvector", "a b", "'a' 'b'", None),
        ('"char"', "x", "x", None),
        ("name", "x", "x", None),
        ("positive", "5", "5", "-5"),
        ("time(0)", "10:00:00.6", "10:00:01", "x"),
        ("timestamp(0)", "2024-01-01 10:00:00.6", "2024-01-01 10:00:01", "x"),
        ("real", "1.5", "1.5", "1e39"),
    ],
)
@pytest.mark.parametrize("mode", ["append", "upsert"])
def test_types_that_only_the_server_reads_refuse_row_by_row(
    database: Database,
    folder: Path,
    declared: str,
    good: str,
    stored: str,
    bad: str | None,
    mode: str,
) -> None:
    execute(
        database,
        "CREATE TYPE mood AS ENUM ('ok', 'bad'); CREATE DOMAIN short AS varchar(3);"
        "CREATE TYPE pair AS (i int, t text); CREATE DOMAIN positive AS int CHECK (VALUE > 0);"
        f"CREATE TABLE t (id int PRIMARY KEY, v {declared})",
    )
    lines = [f'1,"{good}"', "2,"] + ([f'3,"{bad}"'] if bad else [])
    write(folder, "id,v\n" + "\n".join(lines) + "\n")
    done = load(database, folder, mode, dlq=True)
    assert query(database, "SELECT id, v::text FROM t ORDER BY id") in (
        [(1, stored), (2, None)],
        [(1, stored.rstrip()), (2, None)],
    )
    assert done.counts.quarantined == len(lines) - 2
    assert [row for _, row in quarantine(database)] == ([{"id": "3", "v": bad}] if bad else [])


def test_no_value_is_cut_to_fit_a_column(database: Database, folder: Path) -> None:
    execute(
        database,
        "CREATE DOMAIN code AS character(2); CREATE TABLE t (a character(2), b varchar(2), c code, "
        "d bit(2), e varchar(2)[], f code[])",
    )
    for name in "abcdef":
        write(folder, f"{name}\n{'{abc}' if name in 'ef' else '101' if name == 'd' else 'abc'}\n")
        with pytest.raises(Terminal):
            load(database, folder)
        for file in (folder / ".processing").rglob("*.csv"):
            file.unlink()
    assert query(database, "SELECT count(*) FROM t") == [(0,)]


# triggers, policies, rules, views


@pytest.mark.parametrize("declared", ["numeric", "numeric(9,1)"])
@pytest.mark.parametrize("mode", ["append", "truncate"])
def test_rows_that_a_trigger_changes_or_keeps_out_are_counted(
    database: Database, folder: Path, mode: str, declared: str
) -> None:
    execute(
        database,
        f"CREATE TABLE t (id int NOT NULL, n {declared}, made text NOT NULL);"
        "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "IF NEW.id = 2 THEN RETURN NULL; END IF; NEW.id = coalesce(NEW.id, 0) * 10; NEW.made = 'by f'; "
        "RETURN NEW; END $$; CREATE TRIGGER keeps BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION f()",
    )
    write(folder, "id,n\n1,1\n2,2\n3,3\n,4\n")
    done = load(database, folder, mode)
    assert query(database, "SELECT id, made FROM t ORDER BY id") == [
        (0, "by f"),
        (10, "by f"),
        (30, "by f"),
    ]
    counts = done.counts
    assert (counts.read, counts.loaded, counts.filtered) == (4, 3, 1)
    assert "1 rows were kept out by triggers of public.t (keeps)" in done.outcomes["tgt"].warnings


def test_a_trigger_on_a_partition_may_keep_rows_out(database: Database, folder: Path) -> None:
    execute(
        database,
        "CREATE TABLE t (id int) PARTITION BY RANGE (id); CREATE TABLE t1 PARTITION OF t DEFAULT;"
        "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;"
        "CREATE TRIGGER keeps BEFORE INSERT ON t1 FOR EACH ROW EXECUTE FUNCTION f()",
    )
    write(folder, "id\n1\n2\n")
    counts = load(database, folder).counts
    assert (counts.read, counts.loaded, counts.filtered) == (2, 0, 2)


@pytest.mark.parametrize("rule", ["INSTEAD NOTHING", "ALSO DELETE FROM other"])
def test_a_table_with_rules_is_refused(database: Database, folder: Path, rule: str) -> None:
    execute(
        database,
        f"CREATE TABLE other (i int); CREATE TABLE t (id int); CREATE RULE odd AS ON INSERT TO t DO {rule}",
    )
    write(folder, "id\n1\n")
    with pytest.raises(NodeFault, match="odd"):
        load(database, folder)


@pytest.mark.parametrize(
    ("create", "kind"),
    [
        ("CREATE VIEW t AS SELECT 1 AS id", "view"),
        ("CREATE TABLE u (id int); CREATE VIEW t AS SELECT id FROM u", "view"),
        ("CREATE MATERIALIZED VIEW t AS SELECT 1 AS id", "materialized view"),
    ],
)
@MODES
def test_what_is_no_table_is_refused(
    database: Database, folder: Path, create: str, kind: str, mode: str
) -> None:
    execute(database, create)
    write(folder, "id,v\n1,x\n")
    with pytest.raises(NodeFault, match=f"is a {kind}; a target must be a table"):
        load(database, folder, mode)


@pytest.mark.parametrize(
    "create",
    [
        "CREATE SEQUENCE t",
        "CREATE TYPE t AS (id int)",
        "CREATE TABLE u (id int); CREATE INDEX t ON u (id)",
    ],
)
def test_a_name_that_something_else_has_is_refused(
    database: Database, folder: Path, create: str
) -> None:
    execute(database, create)
    write(folder, "id\n1\n")
    with pytest.raises(Terminal) as caught:
        load(database, folder)
    assert "public.t" in str(caught.value)


@pytest.mark.parametrize("kind", ["UNLOGGED TABLE", "TABLE"])
@MODES
def test_an_unlogged_table_is_loaded_like_any(
    database: Database, folder: Path, kind: str, mode: str
) -> None:
    execute(database, f"CREATE {kind} t (id int PRIMARY KEY, v text)")
    write(folder, "id,v\n1,x\n")
    assert load(database, folder, mode).counts.loaded == 1


@pytest.fixture
def guest(database: Database) -> Database:
    """The same database, for a user with few rights."""
    from psycopg.conninfo import make_conninfo

    ((name,),) = query(database, "SELECT current_database()")
    role = f"guest_{name}"
    execute(
        database,
        f"CREATE ROLE {role} LOGIN; GRANT ALL ON SCHEMA flow, flow_staging TO {role};"
        f"GRANT ALL ON ALL TABLES IN SCHEMA flow TO {role}; GRANT CREATE ON DATABASE {name} TO {role}",
    )
    return Database(make_conninfo(database.conninfo, user=role))


@pytest.fixture(autouse=True)
def without_guest(database: Database) -> Any:
    yield
    ((name,),) = query(database, "SELECT current_database()")
    if query(database, "SELECT 1 FROM pg_roles WHERE rolname = %s", f"guest_{name}"):
        execute(database, f"DROP OWNED BY guest_{name}; DROP ROLE guest_{name}")


@MODES
def test_row_policies_decide_which_rows_may_be_written(
    database: Database, guest: Database, folder: Path, mode: str
) -> None:
    execute(
        database,
        "CREATE TABLE t (id int PRIMARY KEY, v text); ALTER TABLE t ENABLE ROW LEVEL SECURITY;"
        "CREATE POLICY mine ON t USING (v <> 'other') WITH CHECK (v <> 'other'); GRANT ALL ON t TO public",
    )
    write(folder, "id,v\n1,x\n2,y\n")
    assert load(guest, folder, mode).counts.loaded == 2
    write(folder, "id,v\n3,x\n4,other\n", "b.csv")
    with pytest.raises(StatementRefused, match="row-level security") as caught:
        load(guest, folder, mode)
    assert "other" not in str(caught.value)
    assert query(database, "SELECT id FROM t ORDER BY id") == [(1,), (2,)]


@MODES
def test_a_user_without_rights_is_told_so(
    database: Database, guest: Database, folder: Path, mode: str
) -> None:
    execute(database, "CREATE TABLE t (id int PRIMARY KEY, v text)")
    write(folder, "id,v\n1,x\n")
    with pytest.raises(
        StatementRefused, match=r"InsufficientPrivilege \(42501\).*permission denied for table t"
    ):
        load(guest, folder, mode)


def test_a_lookup_without_rights_is_refused(
    database: Database, guest: Database, folder: Path
) -> None:
    execute(database, "CREATE TABLE names (id int, name text)")
    write(folder, "id\n1\n")
    lookup = {
        "type": "lookup_join",
        "table": "public.names",
        "on": [{"field": "id", "column": "id"}],
        "fields": [{"column": "name", "as": "name"}],
        "joinType": "left",
    }
    with pytest.raises(Terminal, match=r"reading public\.names was refused: InsufficientPrivilege"):
        run(document(source(folder), transform(lookup), target(input="x")), guest)


def test_the_right_to_insert_is_enough_to_append(
    database: Database, guest: Database, folder: Path
) -> None:
    execute(database, "CREATE TABLE t (id int PRIMARY KEY, v text); GRANT INSERT ON t TO public")
    write(folder, "id,v\n1,x\n")
    assert load(guest, folder).counts.loaded == 1


# sizes


@MODES
def test_a_thousand_columns(database: Database, folder: Path, mode: str) -> None:
    names = [f"c{i:04}" for i in range(999)]
    types = [f"{name} {'int' if i % 10 == 0 else 'text'}" for i, name in enumerate(names)]
    execute(database, f"CREATE TABLE t (id int PRIMARY KEY, {', '.join(types)})")
    rows = "".join(f"{i},{','.join('7' for _ in names)}\n" for i in range(20))
    bad = f"77,{','.join('x' for _ in names)}\n"
    write(folder, f"id,{','.join(names)}\n{rows}{bad}")
    done = load(database, folder, mode, dlq=True)
    assert (done.counts.loaded, done.counts.quarantined) == (20, 1)
    assert query(database, "SELECT sum(c0000), min(c0998) FROM t") == [(140, "7")]
    assert len(quarantine(database)[0][1]["_rules"]) == 100


def test_more_columns_than_a_table_can_have_are_refused(database: Database, folder: Path) -> None:
    write(folder, ",".join(f"c{i}" for i in range(1700)) + "\n")
    with pytest.raises(Terminal, match="1600"):
        load(database, folder)


@pytest.mark.parametrize(("quoted", "mode"), [(False, "append"), (True, "upsert")])
def test_a_field_of_fifty_megabytes(
    database: Database, folder: Path, quoted: bool, mode: str
) -> None:
    size = 50 << 20
    field = ("x" * 1023 + ("\n" if quoted else "y")) * (size >> 10)
    mark = '"' if quoted else ""
    execute(database, "CREATE UNLOGGED TABLE t (id int PRIMARY KEY, v text)")
    execute(database, "ALTER TABLE t ALTER v SET STORAGE EXTERNAL")
    write(folder, f"id,v\n1,a\n2,{mark}{field}{mark}\n3,b\n")
    load(database, folder, mode)
    assert query(database, "SELECT id, length(v) FROM t ORDER BY id") == [(1, 1), (2, size), (3, 1)]


@pytest.mark.parametrize("format_", ["csv", "jsonl"])
def test_five_hundred_files(database: Database, folder: Path, format_: str) -> None:
    for i in range(500):
        text = (
            ""
            if i % 10 == 0
            else f"id,v\n{i},x\n"
            if format_ == "csv"
            else f'{{"id": {i}, "v": "x"}}\n'
        )
        write(folder, text, f"part-{i:03}.{format_}")
    done = run(document(source(folder, f"*.{format_}", format=format_), target()), database)
    assert done.counts.loaded == 450
    assert query(database, "SELECT count(DISTINCT id) FROM t") == [(450,)]
    assert len(list((folder / ".archive").iterdir())) == 500


# quarantine tables


def test_a_target_that_is_the_quarantine_is_refused_in_the_document(folder: Path) -> None:
    with pytest.raises(DocumentInvalid, match="bad rows go to this table"):
        document(source(folder), target("flow_dlq.p"), dlq=True)


def test_a_quarantine_table_of_the_user_s_own_is_used_if_it_fits(
    database: Database, folder: Path
) -> None:
    execute(
        database,
        'CREATE SCHEMA q; CREATE TABLE q.bad (note text, "row" jsonb, "ruleId" text, "nodeId" text, '
        '"runId" text, "pipelineId" text, at timestamptz DEFAULT now(), id serial)',
    )
    execute(database, "CREATE TABLE t (id int)")
    write(folder, "id\nx\n")
    handling = {"dlq": {"enabled": True, "destination": "q.bad"}}
    run(document(source(folder), target(), errorHandling=handling), database)
    assert quarantine(database, "q.bad") == [("type:id", {"id": "x"})]
    execute(database, 'ALTER TABLE q.bad DROP "row"')
    write(folder, "id\nx\n")
    with pytest.raises(Terminal, match="lacks row"):
        run(document(source(folder), target(), errorHandling=handling), database)


def test_an_unreadable_tail_among_full_files_is_named(database: Database, folder: Path) -> None:
    write(folder, "id,v\n1,x\n", "a.csv")
    write(folder, "v,id\n", "b.csv")
    write(folder, 'id,v\n2,"y\n', "c.csv")
    load(database, folder, dlq=True)
    assert query(database, "SELECT * FROM t") == [("1", "x")]
    assert list(rejected_lines(database)) == [2]
