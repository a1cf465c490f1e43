"""Transform ops: fields, names that become identifiers, and what would do nothing."""

from __future__ import annotations

from typing import Any

import pytest

from kaireon_dagster.ir import Transform
from kaireon_dagster_tests.ir.documents import (
    Wrong,
    parse,
    problems,
    through,
    transform,
    wrong_cases,
)

TYPES = "Allowed"
CAST = {"type": "cast", "field": "a", "to": "text"}
RENAME = {"type": "rename", "from": "a", "to": "b"}
SPLIT = {"type": "split", "field": "a", "separator": ",", "into": ["x", "y"]}
MERGE = {"type": "merge", "fields": ["a", "b"], "into": "c", "separator": " "}
AGGREGATE = {
    "type": "aggregate",
    "groupBy": ["g"],
    "aggregations": [{"function": "sum", "field": "a", "as": "total"}],
}
LOOKUP = {
    "type": "lookup_join",
    "table": "public.t",
    "on": [{"field": "k", "column": "k"}],
    "fields": [{"column": "n", "as": "n"}],
}


def op(base: dict[str, Any], problem: str, seen: bool = False, **fields: Any) -> Wrong:
    changed = {key: value for key, value in {**base, **fields}.items() if value is not ...}
    return Wrong(through(transform(changed)), f"nodes[1].ops[0].{problem}", seen)


LONG = "ä" * 32
TOO_LONG = "name of 64 bytes; PostgreSQL keeps 63; choose a shorter one"
EMPTY = "a field name cannot be empty or contain NUL"
WRONG = [
    Wrong(through(transform()), "nodes[1].ops: cannot be empty", True),
    op(CAST, "field: required key is missing", True, field=...),
    op(CAST, f"field: {EMPTY}", True, field=""),
    op(CAST, "field: field names that begin with '_flow_' are reserved", field="_flow_line"),
    op(CAST, "to: unknown data type 'intger'; did you mean 'integer'?", True, to="intger"),
    op(CAST, "to: unknown data type 'varchar(20)'; did you mean 'text'?", True, to="varchar(20)"),
    op(CAST, "to: unknown data type 'decimal(5,2)'; did you mean 'numeric(5,2)'?", True,
       to="decimal(5,2)"),
    op(CAST, "to: unknown data type 'decimal'; did you mean 'numeric(12,2)'?", True, to="decimal"),
    op(CAST, "to: unknown data type 'numeric(12'; did you mean 'numeric(12,2)'? Put it in quotes, such "
       'as "numeric(12,2)"', True, to="numeric(12"),
    op(CAST, "to: unknown data type 'numeric(p,s)'; did you mean 'numeric(12,2)'?", True,
       to="numeric(p,s)"),
    op(CAST, "to: precision 39; allowed: 1 to 38", to="numeric(39,2)"),
    op(CAST, "to: precision 0; allowed: 1 to 38", to="numeric(0)"),
    op(CAST, "to: scale 6 is above the precision 5", to="numeric(5, 6)"),
    op(CAST, "format: cannot be empty", True, format=""),
    op({"type": "expression", "field": "a"}, "expression: cannot be empty", True, expression=""),
    op(RENAME, "to: the same name as 'from'; the op would change nothing", to="a"),
    op(RENAME, f"to: {TOO_LONG}", to=LONG),
    op(RENAME, "to: field names that begin with '_flow_' are reserved", to="_flow_x"),
    op({"type": "drop"}, "fields: cannot be empty", True, fields=[]),
    op({"type": "add_field", "field": "a"}, "value: required key is missing", True),
    op({"type": "add_field", "field": "a"}, "value: unknown token '{{runID}}'; did you mean "
       "'{{runId}}'? Allowed: '{{runId}}', '{{pipelineId}}', '{{runStartedAt}}' or "
       "'{{fileName}}'", value="x {{runID}}"),
    op({"type": "add_field", "field": "a", "value": 1}, "dataType: unknown data type 'int8'; did "
       "you mean 'bigint'?", True, dataType="int8"),
    op({"type": "hash", "field": "a"}, "algorithm: unknown algorithm 'sha1'; did you mean "
       "'sha512'? Allowed: 'sha256', 'sha512' or 'md5'", True, algorithm="sha1"),
    op({"type": "hash", "field": "a", "algorithm": "md5"}, "saltEnv: not the name of an "
       "environment variable; a literal secret is refused", True, saltEnv="$ecret salt"),
    op({"type": "hash", "field": "a", "algorithm": "md5"}, f"into: {TOO_LONG}", into=LONG),
    op({"type": "mask_pii", "field": "a", "strategy": "partial"}, "keepLast: found -1; allowed: "
       "0 or more", True, keepLast=-1),
    op({"type": "map_values", "field": "a"}, "mapping: cannot be empty", True, mapping={}),
    op({"type": "map_values", "field": "a"}, "mapping.x: expected a string, a number, true, "
       "false or null, found a list", True, mapping={"x": [1]}),
    op(SPLIT, "separator: cannot be empty", True, separator=""),
    op(SPLIT, "into: cannot be empty", True, into=[]),
    op(SPLIT, "into[2]: field 'x' is named twice", into=["x", "y", "x"]),
    op(MERGE, "fields: cannot be empty", True, fields=[]),
    op(MERGE, "separator: required key is missing", True, separator=...),
    op({"type": "filter"}, "condition: required key is missing", True),
    op({"type": "deduplicate", "keep": "last"}, "keys: cannot be empty", True, keys=[]),
    op({"type": "deduplicate", "keys": ["a"]}, "keep: required key is missing; allowed: 'first' "
       "or 'last'", True),
    op(AGGREGATE, "aggregations: cannot be empty", True, aggregations=[]),
    op(AGGREGATE, "aggregations[0].field: required key is missing; only count works without, sum "
       "not", aggregations=[{"function": "sum", "as": "x"}]),
    op(AGGREGATE, "aggregations[0].as: required key is missing", True,
       aggregations=[{"function": "count"}]),
    op(AGGREGATE, "aggregations[0].function: unknown function 'mean'; "
       "allowed: 'count', 'sum', 'avg', 'min', 'max', 'count_distinct', 'array_agg' or "
       "'string_agg'", True, aggregations=[{"function": "mean", "field": "a", "as": "x"}]),
    op(AGGREGATE, "aggregations[0].as: field 'g' exists already",
       aggregations=[{"function": "count", "as": "g"}]),
    op(AGGREGATE, "groupBy[1]: field 'g' is named twice", groupBy=["g", "g"]),
    op(LOOKUP, "table: 't' is not of the form schema.table", True, table="t"),
    op(LOOKUP, "on: cannot be empty", True, on=[]),
    op(LOOKUP, "fields[1].as: field 'n' is named twice",
       fields=[{"column": "n", "as": "n"}, {"column": "m", "as": "n"}]),
    op(LOOKUP, "joinType: unknown joinType 'outer'; allowed: 'left' or 'inner'", True,
       joinType="outer"),
    op({"type": "summarize"}, "fields: cannot be empty", True, fields=[]),
    op({"type": "geo_resolve", "field": "a"}, "into: required key is missing", True),
]  # fmt: skip


@wrong_cases(WRONG)
def test_refused(case: Wrong) -> None:
    assert problems(case.document) == [case.problem]


@pytest.mark.parametrize(
    "name",
    ["numeric", "numeric(38)", "numeric(38,38)", "numeric( 5 , 0 )", "text", "jsonb", "uuid"],
)
def test_data_types(name: str) -> None:
    parse(through(transform({**CAST, "to": name})))


def test_a_name_of_63_bytes_fits_and_a_longer_one_may_be_read() -> None:
    long = "ä" * 40
    parse(through(transform({**RENAME, "from": long, "to": "ä" * 31 + "x"})))
    parse(through(transform({"type": "drop", "fields": [long]})))


def test_a_wrong_op_hides_no_other() -> None:
    document = through(transform({"type": "ranme"}, {"type": "filter"}, 5, {**CAST, "too": 1}))
    assert problems(document) == [
        "nodes[1].ops[0].type: unknown op 'ranme'; did you mean 'rename'?",
        "nodes[1].ops[1].condition: required key is missing",
        "nodes[1].ops[2]: expected an object, found 5",
        "nodes[1].ops[3].too: unknown key 'too'; did you mean 'to'? "
        "Allowed: 'type', 'field', 'to', 'format' or 'onError'",
    ]


def test_json_values_are_frozen() -> None:
    value = {"a": [1, {"b": None}]}
    node = parse(through(transform({"type": "add_field", "field": "x", "value": value}))).node("t")
    assert isinstance(node, Transform)
    assert hash(node.ops[0])
    assert node.model_dump(by_alias=True)["ops"][0]["value"] == value


def test_a_value_that_yaml_cuts_at_its_comma_is_told_to_need_quotes() -> None:
    wrong = through(transform({**CAST, "to": "numeric(12", "2)": None}))
    assert sorted(problems(wrong)) == [
        "nodes[1].ops[0].to: unknown data type 'numeric(12'; did you mean 'numeric(12,2)'? "
        'Put it in quotes, such as "numeric(12,2)"',
        "nodes[1].ops[0][\"2)\"]: unknown key '2)'; put the value before it, with its comma, "
        "in quotes",
    ]
