"""Sources: connectors, patterns, folders, formats, and secrets that must not stand there."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kaireon_dagster.errors import DocumentInvalid
from kaireon_dagster.ir import parse_document
from kaireon_dagster_tests.ir.documents import (
    GONE,
    Wrong,
    change,
    parse,
    pipeline,
    problems,
    source,
    stream,
    target,
    wrong_cases,
)
from kaireon_dagster_tests.ir.samples import with_config

SECRET = "a secret cannot stand in a document; name a 'connection' that holds it"
TOKENS = "'{YYYY}', '{MM}', '{DD}', '{HH}', '{mm}', '{ss}', '{YYYY-MM-DD}' or '{YYYYMMDD}'"


def config(problem: str, seen: bool = False, **fields: Any) -> Wrong:
    return Wrong(with_config(**fields), f"nodes[0].config.{problem}", seen)


def pattern(type_: str, value: str, problem: str) -> Wrong:
    return config(f"pattern.value: {problem}", pattern={"type": type_, "value": value})


def folders(problem: str, **fields: str) -> Wrong:
    return config(f"atomicity.{problem}", atomicity=fields)


WRONG = [
    Wrong(
        pipeline(source(connector="ftp"), target()),
        "nodes[0].connector: connector 'ftp' is refused: it sends in the clear; use 'sftp'",
        True,
    ),
    config("path: cannot be empty", True, path=""),
    config(
        "pattern.type: unknown type 'globb'; did you mean 'glob'? "
        "Allowed: 'glob', 'regex' or 'date_template'",
        True,
        pattern={"type": "globb", "value": "*"},
    ),
    pattern("glob", "in/*.csv", "matched against the file name alone; put the folder into 'path'"),
    pattern("regex", "(a", "not a regular expression: missing ), unterminated subpattern at "
            "position 0"),
    pattern("date_template", "a.csv", "a date_template needs at least one date token, such as "
            "{YYYY-MM-DD}; or use 'glob'"),
    pattern("date_template", "a{YYYY}{YYMM}", f"unknown date token '{{YYMM}}'; did you mean "
            f"'{{MM}}'? Allowed: {TOKENS}"),
    pattern("date_template", "a{YYYY}{", "a '{' or '}' stands alone; date tokens are written "
            "{YYYY}"),
    config("pattern.timezone: unknown time zone 'Utc'; did you mean 'UTC'?",
           pattern={"type": "glob", "value": "*", "timezone": "Utc"}),
    config("ordering: unknown ordering 'latest'; did you mean 'latest_by_mtime'? Allowed: "
           "'lexicographic', 'fifo_by_name', 'process_all' or 'latest_by_mtime'", True,
           ordering="latest"),
    config("maxFiles: found 0; allowed: 1 or more", True, maxFiles=0),
    config("waitPolicy.maxRetries: found -1; allowed: 0 or more", True,
           waitPolicy={"maxRetries": -1, "intervalMinutes": 1, "onMissAction": "fail"}),
    config("waitPolicy.onMissAction: required key is missing; allowed: 'alert', 'skip' or 'fail'",
           True, waitPolicy={"maxRetries": 1, "intervalMinutes": 1}),
    folders("stagingFolder: folders are relative to the source's path, without a leading slash or "
            "scheme", stagingFolder="/tmp/x"),
    folders("successFolder: folders are relative to the source's path, without a leading slash or "
            "scheme", successFolder="s3://x/y"),
    folders("failureFolder: '..' would leave the source's path", failureFolder="a/../../b"),
    folders("failureFolder: the source's own path cannot be its folder; name one below it",
            failureFolder="./"),
    folders("successFolder: unknown date token '{DAY}'; did you mean '{DD}'? Allowed: " + TOKENS,
            successFolder=".done/{DAY}"),
    folders("successFolder: the same folder as stagingFolder; files in it would be taken again",
            stagingFolder=".work/", successFolder=".work"),
    config("format: unknown format 'xlsx'; allowed: 'csv', 'tsv', 'json', 'jsonl', 'parquet', "
           "'avro', 'orc' or 'xml'", True, format="xlsx"),
    config("formatOptions.decimal: unknown key 'decimal'; allowed: 'delimiter', 'quote', "
           "'escape', 'header', 'encoding', 'nullValues', 'compression', 'recordsPath' or "
           "'rowTag'", True, formatOptions={"decimal": ","}),
    config("formatOptions.delimiter: longer than allowed: at most 1", True,
           formatOptions={"delimiter": "||"}),
    config("formatOptions.delimiter: a line end or NUL cannot stand here",
           formatOptions={"delimiter": "\n"}),
    config("formatOptions.quote: the quote and the delimiter are the same character",
           formatOptions={"quote": ";", "delimiter": ";"}),
    config("formatOptions.encoding: unknown encoding 'utf8x'; did you mean 'utf-8'? Allowed: "
           "'utf-8', 'utf-16', 'latin-1', 'iso-8859-15', 'windows-1252' or 'ascii'",
           formatOptions={"encoding": "utf8x"}),
    config("formatOptions.encoding: unknown encoding 'base64'; allowed: 'utf-8', 'utf-16', "
           "'latin-1', 'iso-8859-15', 'windows-1252' or 'ascii'",
           formatOptions={"encoding": "base64"}),
    config("formatOptions.rowTag: means nothing in csv; it belongs to 'xml'",
           formatOptions={"rowTag": "row"}),
    config("formatOptions.delimiter: means nothing in parquet; it belongs to 'csv' or 'tsv'",
           format="parquet", formatOptions={"delimiter": ";"}),
    config("formatOptions.compression: unknown compression 'gz'; did you mean 'gzip'? Allowed: "
           "'auto', 'none', 'gzip', 'zstd' or 'bz2'", True, formatOptions={"compression": "gz"}),
    Wrong(
        pipeline(source(connector="http_pull"), target()),
        "nodes[0].config.path: http_pull needs a URL, http:// or https://",
    ),
    Wrong(
        pipeline(stream(), target()),
        "nodes[0].connector: connector 'kafka' is not authorable while streaming is off; "
        "set FLOW_STREAMING_ENABLED=true",
    ),
]  # fmt: skip


@wrong_cases(WRONG)
def test_refused(case: Wrong) -> None:
    assert problems(case.document) == [case.problem]


@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [
        (("topic",), GONE, "topic: required key is missing; kafka reads a topic"),
        (("connection",), GONE, "connection: required key is missing"),
        (("maxBatchRecords",), 0, "maxBatchRecords: found 0; allowed: 1 or more"),
        (("startFrom",), "earlyest", "startFrom: unknown startFrom 'earlyest'; did you mean "
         "'earliest'? Allowed: 'earliest' or 'latest'"),
        (("startFrom",), {"timestamp": "yesterday"}, "startFrom.timestamp: needs ISO 8601, such "
         "as 2026-03-01T00:00:00Z"),
        (("startFrom",), {"timestmp": "2026-03-01T00:00:00Z"}, "startFrom.timestamp: required "
         "key is missing"),
        (("format",), "parquet", "format: unknown format 'parquet'; allowed: 'json', 'jsonl', "
         "'csv', 'tsv', 'avro' or 'xml'"),
    ],
)  # fmt: skip
def test_streams_refused(path: tuple[str, ...], value: Any, problem: str) -> None:
    document = change(pipeline(stream(), target()), ("nodes", 0, "config", *path), value)
    assert problems(document, streaming=True)[0] == f"nodes[0].config.{problem}"


def test_glob_takes_other_characters_as_they_are() -> None:
    parse(with_config(pattern={"type": "glob", "value": "a[1]{x}+*.c?v"}))


def test_folders_have_the_usual_names_where_one_is_left_out() -> None:
    parsed = parse(with_config(atomicity={"successFolder": ".archive/{YYYY-MM-DD}/"}))
    atomicity = parsed.sources[0].config.atomicity
    assert atomicity is not None
    assert (atomicity.staging_folder, atomicity.failure_folder) == (".processing/", ".failed/")


@pytest.mark.parametrize(
    "key",
    [
        "password",
        "dbPassword",
        "PASSWD",
        "secret",
        "clientSecret",
        "aws_secret_access_key",
        "accessKey",
        "access_key_id",
        "apiKey",
        "APIKey",
        "apikey",
        "authToken",
        "Authorization",
        "privateKey",
        "connectionString",
        "sharedKey",
        "credentials",
    ],
)
def test_secret_keys_are_refused(key: str) -> None:
    document = with_config(**{key: "hunter2"})
    assert problems(document) == [f"nodes[0].config.{key}: {SECRET}"]
    assert problems(document, unknown_keys="warn") == [f"nodes[0].config.{key}: {SECRET}"]


@pytest.mark.parametrize(
    "path",
    [
        "sftp://user:hunter2@host/in",
        "sftp://user:p/ss@host/in",
        "sftp://user:p@ss@host/in",
        "user:hunter2@host/in",
        "https://:hunter2@host/in",
        "https://host/in?sig=hunter2",
        "https://host/in?a=1&access_token=hunter2",
        "https://host/in?X-Amz-Signature=hunter2",
    ],
)
def test_secrets_in_paths_are_refused_and_not_repeated(path: str) -> None:
    (problem,) = problems(with_config(path=path))
    assert problem == f"nodes[0].config.path: {SECRET}"


@pytest.mark.parametrize(
    "path",
    [
        "/data/a:b@c/x",
        "sftp://user@host:22/in",
        "https://host:8080/in?page=2&a=b@c",
        "s3://bucket/a:b@c/",
        "s3://bucket/{x}@y",
        "C:/data",
        "https://[::1]:80/a@b",
    ],
)
def test_paths_without_secrets(path: str) -> None:
    parse(with_config(path=path))


def test_secrets_in_enrich_and_hooks() -> None:
    enrich = {
        "id": "e",
        "kind": "enrich",
        "input": "src",
        "provider": "http",
        "outputField": "x",
        "onError": "null",
        "config": {"headers": [{"Authorization": "Bearer x"}], "tokenEnv": "OK", "maxTokens": 5},
    }
    hook = {"type": "webhook", "url": "https://u:p@host/", "headersEnv": {"Authorization": "AUTH"}}
    bare = {"type": "webhook", "url": "https://host/", "headersEnv": {"X-Key": "sk-live 1"}}
    document = pipeline(source(), enrich, target(input="e", preHook=hook, postHook=[bare]))
    assert problems(document) == [
        "nodes[2].postHook[0].headersEnv.X-Key: not the name of an environment variable; "
        "a literal secret is refused",
        f"nodes[1].config.headers[0].Authorization: {SECRET}",
        f"nodes[2].preHook.url: {SECRET}",
    ]


def test_errors_hold_no_secret() -> None:
    document = json.dumps(
        with_config(path="sftp://u:hunter2@h/", password="hunter3", maxFiles="hunter4")
    )
    with pytest.raises(DocumentInvalid) as caught:
        parse_document(document, source="doc.json", format="json")
    assert len(caught.value.problems) == 3
    assert "hunter" not in f"{caught.value!s} {caught.value!r}"
