"""Messages of the first phase: what was found, what is allowed, the nearest spelling."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from kaireon_dagster.ir import UnknownKeyWarning
from kaireon_dagster_tests.ir.documents import (
    GONE,
    Wrong,
    change,
    parse,
    pipeline,
    problems,
    source,
    target,
    through,
    transform,
    wrong_cases,
)

DOCUMENT = pipeline()
ID_PATTERN = "^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$"
NODE_PATTERN = "^[A-Za-z_][A-Za-z0-9_-]{0,62}$"


def wrong(path: tuple[Any, ...], value: Any, problem: str, seen: bool = True) -> Wrong:
    return Wrong(change(DOCUMENT, path, value), problem, seen)


WRONG = [
    wrong(("kind",), "pipline", "kind: unknown kind 'pipline'; did you mean 'pipeline'?"),
    wrong(("version",), GONE, "version: required key is missing; allowed: '1.0'"),
    wrong(("version",), "2.0", "version: unknown version '2.0'; did you mean '1.0'?"),
    wrong(("version",), 1.0, "version: found 1.0; allowed: '1.0'; write it in quotes"),
    wrong(
        ("schedule",),
        "0 3 * * *",
        'schedule: expected an object, found a string; write {kind: cron, expression: "0 3 * * *"}',
    ),
    wrong(
        ("nodes", 0, "config", "pattern"),
        "*.csv",
        "nodes[0].config.pattern: expected an object, found a string; "
        'write {type: glob, value: "*.csv"}',
    ),
    wrong(
        ("nodes", 0, "config", "delimiter"),
        ";",
        "nodes[0].config.delimiter: unknown key 'delimiter'; it belongs in 'formatOptions'",
    ),
    wrong(("id",), "-x", f"id: found '-x'; allowed: {ID_PATTERN}"),
    wrong(("id",), "", f"id: found ''; allowed: {ID_PATTERN}"),
    wrong(("tenantId",), "", "tenantId: cannot be empty"),
    wrong(("tenantId",), None, "tenantId: expected a string, found null"),
    wrong(("metadata",), GONE, "metadata: required key is missing"),
    wrong(("metadata",), "x", 'metadata: expected an object, found a string; write {name: "x"}'),
    wrong(("metadata", "name"), 5, "metadata.name: expected a string, found 5"),
    wrong(("metadata", "tags"), "a", "metadata.tags: expected a list, found a string"),
    wrong(("metadata", "tags"), ["a", 1], "metadata.tags[1]: expected a string, found 1"),
    wrong(
        ("metadata", "nam"),
        "x",
        "metadata.nam: unknown key 'nam'; did you mean 'name'? "
        "Allowed: 'name', 'owner', 'tags' or 'description'",
    ),
    wrong(
        ("Odd key!",),
        1,
        "[\"Odd key!\"]: unknown key 'Odd key!'; allowed: 'kind', 'version', "
        "'id', 'tenantId', 'metadata', 'schedule', 'trigger', 'nodes' or 'errorHandling'",
    ),
    wrong(
        ("error_handling",),
        {},
        "error_handling: unknown key 'error_handling'; did you mean 'errorHandling'?",
    ),
    wrong(
        ("nodes", 0, "connector"),
        "S3",
        "nodes[0].connector: unknown connector 'S3'; did you mean 's3'? Allowed: 'local_fs', "
        "'s3', 'gcs', 'azure_blob', 'sftp' or 'http_pull'",
    ),
    wrong(
        ("nodes", 0, "checkpoint"),
        "yes",
        "nodes[0].checkpoint: expected true or false, found a string",
    ),
    wrong(("nodes", 0, "checkpoint"), 1, "nodes[0].checkpoint: expected true or false, found 1"),
    wrong(
        ("nodes", 1, "lagMinutes"),
        "5",
        "nodes[1].lagMinutes: expected a whole number, found a string",
    ),
    wrong(
        ("nodes", 1, "lagMinutes"), 5.5, "nodes[1].lagMinutes: expected a whole number, found 5.5"
    ),
    wrong(
        ("nodes", 1, "lagMinutes"), True, "nodes[1].lagMinutes: expected a whole number, found true"
    ),
    wrong(("nodes", 1, "lagMinutes"), -1, "nodes[1].lagMinutes: found -1; allowed: 0 or more"),
    wrong(
        ("nodes", 1, "lagMinutes"),
        -(10**60),
        "nodes[1].lagMinutes: found a number of more than 38 digits; allowed: 0 or more",
    ),
    wrong(("nodes", 1, "id"), "ta rget", f"nodes[1].id: found 'ta rget'; allowed: {NODE_PATTERN}"),
    wrong(
        ("errorHandling",),
        {"retry": {"maxAttempts": 21}},
        "errorHandling.retry.maxAttempts: found 21; allowed: 20 or less",
    ),
    wrong(
        ("errorHandling",),
        {"retry": {"backoff": "expnential"}},
        "errorHandling.retry.backoff: unknown backoff 'expnential'; did you mean 'exponential'? "
        "Allowed: 'exponential', 'linear' or 'fixed'",
    ),
    wrong(
        ("errorHandling",),
        {"retry": {"delaySeconds": 400}},
        "errorHandling.retry.delaySeconds: found 400; allowed: at most maxDelaySeconds, 300",
        seen=False,
    ),
    wrong(
        ("errorHandling",),
        {"dlq": {"maxPct": 100.5}},
        "errorHandling.dlq.maxPct: found 100.5; allowed: 100 or less",
    ),
    wrong(
        ("errorHandling",),
        {"dlq": {"destination": "bad"}},
        "errorHandling.dlq.destination: 'bad' is not of the form schema.table",
    ),
    wrong(
        ("errorHandling",),
        {"onFailure": "stop"},
        "errorHandling.onFailure: unknown onFailure 'stop'; "
        "allowed: 'abort', 'continue' or 'alert'",
    ),
    wrong(
        ("errorHandling",),
        {"dlq": {"destination": "public.orders"}},
        "nodes[1].schema: bad rows go to this table; load another",
        seen=False,
    ),
    wrong(("trigger",), {}, "trigger.file_arrival: required key is missing"),
    wrong(
        ("trigger",),
        {"file_arrival": {"deadline": {"windowMinutes": 0, "onMiss": "alert"}}},
        "trigger.file_arrival.deadline.windowMinutes: found 0; allowed: 1 or more",
    ),
    wrong(
        ("trigger",),
        {"file_arrival": {"minFileAgeSeconds": -1}},
        "trigger.file_arrival.minFileAgeSeconds: found -1; allowed: 0 or more",
    ),
    Wrong(
        through({"id": "t", "kind": "trnsform", "ops": []}),
        "nodes[1].kind: unknown node kind 'trnsform'; did you mean 'transform'? Allowed: "
        "'source', 'transform', 'validate', 'branch', 'join', 'enrich', 'archive' or 'target'",
        True,
    ),
    Wrong(through({"id": "t", "kind": 7}), "nodes[1].kind: expected a string, found 7", True),
    Wrong(
        through({"id": "t"}),
        "nodes[1].kind: required key is missing; allowed: 'source', 'transform', 'validate', "
        "'branch', 'join', 'enrich', 'archive' or 'target'",
        True,
    ),
]


@wrong_cases(WRONG)
def test_message(case: Wrong) -> None:
    assert problems(case.document) == [case.problem]


def test_unknown_op_as_the_contract_words_it() -> None:
    document = through(
        {"id": "v", "kind": "validate"}, transform({"type": "ranme", "from": "a", "to": "b"})
    )
    assert problems(document) == [
        "nodes[2].ops[0].type: unknown op 'ranme'; did you mean 'rename'?"
    ]


def test_all_errors_of_a_document_together() -> None:
    document = pipeline(
        source(connector="gcp", config={"path": "/d", "format": "csw", "maxFiles": "3"}),
        transform(
            {"type": "ranme"},
            {"type": "cast", "field": "a", "to": "int", "onError": "quarantined"},
            input="srcc",
        ),
        target(input="t", loadMode="upsert", schema="orders"),
        schedule={"kind": "interval", "minutes": 0},
    )
    assert problems(document) == [
        "schedule.minutes: found 0; allowed: 1 or more",
        "nodes[0].connector: unknown connector 'gcp'; did you mean 'gcs'? Allowed: 'local_fs', "
        "'s3', 'gcs', 'azure_blob', 'sftp' or 'http_pull'",
        "nodes[0].config.pattern: required key is missing",
        "nodes[0].config.maxFiles: expected a whole number, found a string",
        "nodes[0].config.format: unknown format 'csw'; did you mean 'csv'? Allowed: 'csv', "
        "'tsv', 'json', 'jsonl', 'parquet', 'avro', 'orc' or 'xml'",
        "nodes[1].ops[0].type: unknown op 'ranme'; did you mean 'rename'?",
        "nodes[1].ops[1].to: unknown data type 'int'; did you mean 'integer'?",
        "nodes[1].ops[1].onError: unknown onError 'quarantined'; did you mean 'quarantine'? "
        "Allowed: 'fail', 'null' or 'quarantine'",
        "nodes[2].schema: 'orders' is not of the form schema.table",
        "nodes[1].input: unknown node 'srcc'; did you mean 'src'?",
    ]


def test_no_nodes() -> None:
    assert problems(change(DOCUMENT, ("nodes",), [])) == [
        "nodes: cannot be empty",
        "nodes: a pipeline needs at least one node of kind 'source'",
        "nodes: a pipeline needs at least one node of kind 'target'",
    ]
    assert problems(change(DOCUMENT, ("nodes",), {})) == ["nodes: expected a list, found an object"]
    assert problems(change(DOCUMENT, ("nodes",), [1, None])) == [
        "nodes[0]: expected an object, found 1",
        "nodes[1]: expected an object, found null",
    ]


@pytest.mark.parametrize("data", [None, [], "x", 3, True])
def test_a_document_is_an_object(data: Any) -> None:
    (problem,) = problems(data)
    assert problem.startswith("a document is an object, found ")


def test_values_of_other_kinds_are_not_quoted() -> None:
    document = change(DOCUMENT, ("nodes", 1, "loadMode"), {"secret": "hunter2"})
    (problem,) = problems(document)
    assert problem.startswith("nodes[1].loadMode: found an object; allowed: 'append'")


def test_long_words_are_cut() -> None:
    (problem,) = problems(change(DOCUMENT, ("nodes", 1, "loadMode"), "x" * 10_000))
    assert len(problem) < 250


def test_unknown_keys_can_be_warnings() -> None:
    document = change(DOCUMENT, ("nodes", 0, "config", "colour"), "red")
    document = change(document, ("nodes", 1, "preHook"), {"type": "refresh", "view": "a.b", "x": 1})
    with pytest.warns(UnknownKeyWarning) as caught:
        parsed = parse(document, unknown_keys="warn")
    assert [str(warning.message).split(";")[0] for warning in caught] == [
        "doc.json: nodes[0].config.colour: unknown key 'colour'",
        "doc.json: nodes[1].preHook.x: unknown key 'x'",
    ]
    assert parsed.id == "orders"


def test_only_unknown_keys_become_warnings() -> None:
    document = change(DOCUMENT, ("nodes", 0, "config", "colour"), "red")
    document = change(document, ("nodes", 1, "loadMode"), "apend")
    with pytest.warns(UnknownKeyWarning):
        found = problems(document, unknown_keys="warn")
    assert [problem.split(":")[0] for problem in found] == ["nodes[1].loadMode"]


def test_right_documents_warn_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert parse(DOCUMENT, unknown_keys="warn") == parse(DOCUMENT)
