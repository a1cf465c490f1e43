"""What holds for every document there could be."""

from __future__ import annotations

import copy
import json
import pickle
import warnings
from typing import Any

import duckdb
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kaireon_dagster.errors import DocumentInvalid
from kaireon_dagster.ir import (
    Pipeline,
    content_hash,
    find_regex_fault,
    find_statement_fault,
    parse_document,
)
from kaireon_dagster.ir.document import Format
from kaireon_dagster.ir.recurrence import find_rule_faults
from kaireon_dagster.ir.rules import find_rule_fault
from kaireon_dagster.ir.schedule import find_cron_fault
from kaireon_dagster_tests.ir.documents import parse
from kaireon_dagster_tests.ir.samples import RIGHT, STREAMS

ENGINE = duckdb.connect()
KEYS = st.sampled_from(
    ["kind", "type", "id", "nodes", "input", "inputs", "config", "ops", "schema", "loadMode",
     "schedule", "metadata", "routes", "name", "trigger", "file_arrival", "source", "preHook",
     "<Source>", "catchUp", "all", "mapping", "value"]
)  # fmt: skip
WORDS = st.sampled_from(
    ["pipeline", "source", "target", "branch", "transform", "cron", "rrule", "cast", "sql", "src",
     "tgt", "b.eu", "a.b", "local_fs", "kafka", "upsert", "gt:0", "{{x}}", "user:pw@h"]
)  # fmt: skip
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | WORDS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(KEYS | st.text(max_size=8), inner, max_size=6)
    ),
    max_leaves=20,
)


def refused_or_parsed(text: str, format: Format = "json") -> Pipeline | None:
    try:
        return parse_document(text, source="doc", format=format)
    except DocumentInvalid as error:
        assert error.problems
        assert all(problem.message for problem in error.problems)
        assert str(pickle.loads(pickle.dumps(error))) == str(error)
        return None


def spots(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        items = list(value.items())
    elif isinstance(value, list):
        items = list(enumerate(value))
    return [path, *(spot for key, item in items for spot in spots(item, (*path, key)))]


@st.composite
def spoilt(draw: st.DrawFn) -> Any:
    """A right document in which any value was replaced by any other, or any key was added."""
    document = {"top": copy.deepcopy(draw(st.sampled_from([*RIGHT, *STREAMS])))}
    for _ in range(draw(st.integers(1, 3))):
        path = draw(st.sampled_from(spots(document)[1:]))
        place: Any = document
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = draw(VALUES)
        if isinstance(place, dict):
            place.update(draw(st.dictionaries(KEYS | st.text(max_size=8), VALUES, max_size=1)))
    return document["top"]


@given(VALUES)
def test_any_json_is_parsed_or_refused(value: Any) -> None:
    refused_or_parsed(json.dumps(value))


@settings(max_examples=400)
@given(spoilt())
def test_spoilt_documents_are_parsed_or_refused(document: Any) -> None:
    refused_or_parsed(json.dumps(document))


@given(spoilt())
def test_spoilt_documents_with_warnings(document: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            parse(document, unknown_keys="warn", streaming=True)
        except DocumentInvalid as error:
            assert not any("unknown key" in problem.message for problem in error.problems)


@given(st.text())
def test_any_text_is_parsed_or_refused(text: str) -> None:
    refused_or_parsed(text)
    refused_or_parsed(text, "yaml")


@given(spoilt())
def test_json_means_the_same_read_as_yaml(document: Any) -> None:
    text = json.dumps(document)
    # JSON escapes characters beyond 16 bits in two halves; YAML has escapes of its own for them.
    assume("\\ud" not in text)
    as_json, as_yaml = refused_or_parsed(text), refused_or_parsed(text, "yaml")
    assert as_json == as_yaml


def reorder(value: Any, draw: Any) -> Any:
    if isinstance(value, dict):
        keys = draw(st.permutations(list(value)))
        return {key: reorder(value[key], draw) for key in keys}
    if isinstance(value, list):
        return [reorder(item, draw) for item in value]
    return value


@given(st.data(), st.sampled_from(RIGHT), st.sampled_from([None, 0, 3, "\t"]))
def test_hash_is_stable_under_key_order_and_white_space(
    data: st.DataObject, document: dict[str, Any], indent: int | str | None
) -> None:
    text = json.dumps(reorder(document, data.draw), indent=indent, ensure_ascii=bool(indent))
    turned = parse_document(text, source="doc", format="json")
    assert content_hash(turned) == content_hash(parse(document))


@given(st.text() | st.text(alphabet="SELECTf()$'\"-/*;, \nEe\\a"))
def test_hook_statements_are_always_judged(statement: str) -> None:
    find_statement_fault(statement)
    assert find_statement_fault(f"DROP TABLE x; {statement}") is not None


PIECES = st.sampled_from(
    [*"()[]{}?*+|^$.-&,aé_ ", "[^", "(?:", "(?P<n>", "(?i)", "(?s-i:", "(?=", "{2}", "{2,3}", "{,",
     "{999}", "[[:alpha:]]", "\\d", "\\b", "\\1", "\\0", "\\é", "\\_", "\\x41", "\\Z", "\\]"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=7).map("".join))
def test_patterns_that_are_accepted_are_read_by_the_engine(pattern: str) -> None:
    if find_regex_fault(pattern) is None:
        ENGINE.execute("SELECT regexp_matches('abc', ?)", [pattern]).fetchall()


@given(st.text())
def test_rules_and_schedules_are_always_judged(text: str) -> None:
    find_rule_fault(text)
    find_rule_fault(f"between:{text}")
    list(find_rule_faults(text))
    list(find_rule_faults(f"FREQ=DAILY;{text}"))
    find_cron_fault(text)


CRON = st.text(alphabet="0123456789*/,-LRH#?W ", max_size=20)


@given(CRON)
def test_cron_is_always_judged(text: str) -> None:
    find_cron_fault(text)
