"""Targets: tables, load modes and hooks."""

from __future__ import annotations

from typing import Any

import pytest

from kaireon_dagster.ir import find_statement_fault, split_reference, split_table
from kaireon_dagster_tests.ir.documents import GONE, Wrong, change, parse, problems, wrong_cases
from kaireon_dagster_tests.ir.samples import HOOKS, with_target

ALLOWED = (
    "ANALYZE, VACUUM, REFRESH MATERIALIZED VIEW, REINDEX, CLUSTER, SELECT of a function, NOTIFY, "
    "SET LOCAL"
)
SHAPE = "holds a quote, ';' or a control character; write schema.table"


def load(problem: str, seen: bool = False, **fields: Any) -> Wrong:
    return Wrong(with_target(**fields), f"nodes[1].{problem}", seen)


WRONG = [
    Wrong(
        change(with_target(), ("nodes", 1, "schema"), GONE),
        "nodes[1].schema: required key is missing",
        True,
    ),
    load("schema: 'Orders' is not of the form schema.table", True, schema="Orders"),
    load("schema: 'a.b.c' is not of the form schema.table", True, schema="a.b.c"),
    load(f"schema: 'orders\"; DROP TABLE victim; --' {SHAPE}", True,
         schema='orders"; DROP TABLE victim; --'),
    load(f"schema: 'orders; COMMIT' {SHAPE}", True, schema="orders; COMMIT"),
    load(f"schema: '\"orders\"' {SHAPE}", True, schema='"orders"'),
    load(f"schema: 'a.b\\tc' {SHAPE}", True, schema="a.b\tc"),
    load("schema: table part of 'a.': a name cannot be empty", True, schema="a."),
    load("schema: schema part of '.a': a name cannot be empty", True, schema=".a"),
    load(f"schema: table part of 'a.{'x' * 58}…': name of 64 bytes; PostgreSQL keeps 63; choose "
         "a shorter one", schema="a." + "x" * 64),
    load("schema: schema 'pg_catalog' belongs to PostgreSQL itself", schema="pg_catalog.pg_class"),
    load("schema: schema 'information_schema' belongs to PostgreSQL itself",
         schema="information_schema.tables"),
    load("loadMode: unknown loadMode 'Blue_Green'; did you mean 'blue_green'? Allowed: 'append', "
         "'truncate', 'upsert', 'blue_green', 'incremental_watermark' or 'cdc_mirror'", True,
         loadMode="Blue_Green"),
    load("upsertKey: required key is missing; upsert matches rows by it", loadMode="upsert"),
    load("upsertKey: required key is missing; cdc_mirror matches rows by it", loadMode="cdc_mirror",
         upsertKey=[]),
    load("upsertKey[1]: column 'a' is named twice", loadMode="upsert", upsertKey=["a", "a"]),
    load("upsertKey: a field name cannot be empty or contain NUL", True, loadMode="upsert",
         upsertKey=""),
    load("watermarkColumn: required key is missing; incremental_watermark loads the rows above it",
         loadMode="incremental_watermark"),
    load("onNewColumns: unknown onNewColumns 'create'; allowed: 'error', 'add' or 'ignore'", True,
         onNewColumns="create"),
    load("backupBeforeLoad.retainCount: found 0; allowed: 1 or more", True,
         backupBeforeLoad={"retainCount": 0}),
    load("backupBeforeLoad.onError: unknown onError 'warning'; did you mean 'warn'? Allowed: "
         "'fail' or 'warn'", True, backupBeforeLoad={"onError": "warning"}),
    load("expectedRowCountDelta.windowRuns: found 61; allowed: 60 or less", True,
         expectedRowCountDelta={"minPct": 0, "maxPct": 1, "windowRuns": 61}),
    load("expectedRowCountDelta.windowRuns: found 2; allowed: 3 or more", True,
         expectedRowCountDelta={"minPct": 0, "maxPct": 1, "windowRuns": 2}),
    load("expectedRowCountDelta.minPct: found 2; allowed: at most maxPct, 1",
         expectedRowCountDelta={"minPct": 2, "maxPct": 1}),
    load("preHook.type: unknown hook type 'sq'; did you mean 'sql'? Allowed: 'sql', 'refresh', "
         "'webhook' or 'custom_function'", True, preHook={"type": "sq"}),
    load("postHook[1].view: 'totals' is not of the form schema.table", True,
         postHook=[HOOKS[0], {"type": "refresh", "view": "totals"}]),
    load(f"preHook.statement: DROP is refused in hooks; allowed: {ALLOWED}",
         preHook={"type": "sql", "statement": "DROP TABLE x"}),
    load("preHook.url: needs a URL, http:// or https://", preHook={"type": "webhook",
                                                                  "url": "ftp://x/y"}),
    load("preHook.method: unknown method 'post'; did you mean 'POST'? Allowed: 'GET', 'POST', "
         "'PUT', 'PATCH' or 'DELETE'", True,
         preHook={"type": "webhook", "url": "http://x/", "method": "post"}),
    load("preHook: expected a list, found 5", True, preHook=5),
]  # fmt: skip


@wrong_cases(WRONG)
def test_refused(case: Wrong) -> None:
    assert problems(case.document) == [case.problem]


@pytest.mark.parametrize(
    ("text", "table"),
    [
        ("public.orders", ("public", "orders")),
        ("My Schema.Größe %s :x", ("My Schema", "Größe %s :x")),
        ("a." + "ä" * 31, ("a", "ä" * 31)),
    ],
)
def test_tables_are_taken_literally(text: str, table: tuple[str, str]) -> None:
    assert parse(with_target(schema=text)).targets[0].table == table
    assert split_table(text) == table


def test_references_are_split_at_the_dot() -> None:
    assert split_reference("b.eu") == ("b", "eu")
    assert split_reference("src") == ("src", None)


@pytest.mark.parametrize(
    "statement",
    [
        "ANALYZE",
        "analyze public.orders;",
        "/* a /* nested */ DROP */ VACUUM (ANALYZE) public.orders ; -- DELETE",
        "REFRESH MATERIALIZED VIEW CONCURRENTLY public.totals",
        "REINDEX TABLE public.orders",
        "CLUSTER public.orders USING orders_pkey",
        "NOTIFY loaded, 'DROP; 100% done'",
        "SET LOCAL work_mem = '64MB'",
        "SELECT refresh_totals()",
        "select public.\"Refresh\" ('a;b', $$DROP; '$$, $x$ $$ $x$, E'it\\'s; DROP', (1 + 2))",
        "SELECT pg_notify('a', 'b') AS sent, now()::text",
        "SELECT f('{{ run_id }} ${HOME} {x} LIKE ''%admin%''', U&'d\\0061t', B'1')",
        'ANALYZE "drop"."update"',
        "SELECT f(a_drop, updates)",
    ],
)
def test_hook_statements_allowed(statement: str) -> None:
    assert find_statement_fault(statement) is None
    parse(with_target(preHook={"type": "sql", "statement": statement}))


@pytest.mark.parametrize("word", ["DROP", "DELETE", "UPDATE", "TRUNCATE", "INSERT", "MERGE", "COPY",
                                  "GRANT", "REVOKE", "ALTER"])  # fmt: skip
def test_hook_words_denied_wherever_they_stand(word: str) -> None:
    refused = f"{word} is refused in hooks; allowed: {ALLOWED}"
    for statement in (
        f"{word} x",
        f"{word.lower()}\tx",
        f"ANALYZE x; {word} y",
        f"/**/{word}/**/x",
        f"SELECT f((WITH a AS ({word} x) SELECT 1))",
        f"SELECT f('') --\n, {word}",
    ):
        assert find_statement_fault(statement) == refused


@pytest.mark.parametrize(
    ("statement", "fault"),
    [
        ("", "the statement is empty"),
        (" -- nothing", "the statement is empty"),
        (";;", "the statement is empty"),
        ("ANALYZE; VACUUM", "more than one statement; a hook has one, and a list of hooks runs in "
         "order"),
        ("ANALYZE 'x", "a string or quoted name is not closed"),
        ('ANALYZE "x', "a string or quoted name is not closed"),
        ("SELECT f($a$ $b$)", "a string or quoted name is not closed"),
        ("ANALYZE /* /* */", "a comment is not closed"),
        ("DO $$ BEGIN PERFORM 1; END $$", f"only these are allowed in hooks: {ALLOWED}"),
        ("CREATE TABLE x (a int)", f"only these are allowed in hooks: {ALLOWED}"),
        ("SET work_mem = '1GB'", f"only these are allowed in hooks: {ALLOWED}"),
        # Strings that PostgreSQL would end elsewhere than a careless reader.
        ("SELECT f(E'a'\n'\\' , ' ); DROP TABLE x; --')", "two strings side by side; join them "
         "with ||"),
        ("SELECT f($€$ ' $€$); DROP TABLE x; --')", f"DROP is refused in hooks; allowed: {ALLOWED}"),
        ("ANALYZE x --\r; DROP TABLE x", f"DROP is refused in hooks; allowed: {ALLOWED}"),
        ("SET LOCAL standard_conforming_strings = off", "SET LOCAL standard_conforming_strings is "
         "refused in hooks"),
        ('SET LOCAL "role" = postgres', "SET LOCAL role is refused in hooks"),
        ("SET LOCAL SESSION AUTHORIZATION x", "SET LOCAL session is refused in hooks"),
        ("SELECT pg_catalog.\"set_config\"('role', 'x', true)", "set_config is refused in hooks; "
         "write SET LOCAL"),
        ("SELECT U&\"s\\0065t_config\"('a')", "names written with U& are refused in hooks"),
        ("REFRESH VIEW x", f"only these are allowed in hooks: {ALLOWED}"),
        ("EXPLAIN ANALYZE SELECT f()", f"only these are allowed in hooks: {ALLOWED}"),
        ("WITH a AS (SELECT 1) SELECT f()", f"only these are allowed in hooks: {ALLOWED}"),
        ("LOCK TABLE x", f"only these are allowed in hooks: {ALLOWED}"),
        ("CALL p()", f"only these are allowed in hooks: {ALLOWED}"),
        ("COMMIT", f"only these are allowed in hooks: {ALLOWED}"),
        ("'ANALYZE'", f"only these are allowed in hooks: {ALLOWED}"),
        *(
            (
                statement,
                "SELECT is allowed for function calls only: SELECT schema.function(arguments)",
            )
            for statement in (
                "SELECT 1",
                "SELECT",
                "SELECT * FROM t",
                "SELECT f() FROM t",
                "SELECT f() INTO t",
                "SELECT f(), 1",
                "SELECT f(",
                "SELECT f()) x",
                "SELECT f().x.y",
                "SELECT '{\"a\": 1}'::jsonb",
                "SELECT (f())",
                "SELECT f() AS",
            )
        ),
    ],
)  # fmt: skip
def test_hook_statements_refused(statement: str, fault: str) -> None:
    assert find_statement_fault(statement) == fault
