"""Row rules and dataset validators."""

from __future__ import annotations

import re
from typing import Any

import pytest

from kaireon_dagster.ir import Validate
from kaireon_dagster_tests.ir.documents import Wrong, parse, problems, through, wrong_cases
from kaireon_dagster_tests.ir.samples import EVERY_RULE

NAMES = (
    "'not_null', 'gt', 'gte', 'lt', 'lte', 'eq', 'ne', 'between', 'in', 'not_in', 'regex', "
    "'min_length', 'max_length', 'email', 'url', 'uuid', 'integer', 'numeric', 'date', "
    "'timestamp' or 'unique'"
)
RE2 = "RE2 runs the rule; write it without, or as two rules"


def validate(**fields: Any) -> dict[str, Any]:
    return through({"id": "v", "kind": "validate", **fields})


def with_rule(text: str) -> dict[str, Any]:
    return validate(rowLevel=[{"id": "r", "field": "a", "rule": text, "onFail": "drop"}])


def rule(text: str, problem: str) -> Wrong:
    return Wrong(with_rule(text), f"nodes[1].rowLevel[0].rule: {problem}")


def regex(text: str, problem: str) -> Wrong:
    return rule(f"regex:{text}", problem)


def level(problem: str, seen: bool = False, **validators: Any) -> Wrong:
    return Wrong(validate(datasetLevel=validators), f"nodes[1].datasetLevel.{problem}", seen)


WRONG = [
    rule("not_nul", "unknown rule 'not_nul'; did you mean 'not_null'?"),
    rule("GT:0", "unknown rule 'GT'; did you mean 'gt'?"),
    rule("zzz", f"unknown rule 'zzz'; allowed: {NAMES}"),
    rule("not_null:x", "rule 'not_null' takes no argument"),
    rule("email:", "rule 'email' takes no argument"),
    rule("gt", "rule 'gt' needs an argument: gt:0"),
    rule("gt:", "rule 'gt' needs an argument: gt:0"),
    rule("gt:lots", "rule 'gt' compares with a number, a date or a timestamp: gt:0"),
    rule("lt:NaN", "rule 'lt' compares with a number, a date or a timestamp: lt:0"),
    rule("lt:1_000", "rule 'lt' compares with a number, a date or a timestamp: lt:0"),
    rule("lte:2026-02-30", "rule 'lte' compares with a number, a date or a timestamp: lte:0"),
    rule("eq:", "rule 'eq' needs an argument: eq:a"),
    rule("between:1", "rule 'between' needs two numbers, dates or timestamps: between:1,10"),
    rule("between:1,2,3", "rule 'between' needs two numbers, dates or timestamps: between:1,10"),
    rule("between:10,9", "the lower bound of 'between' is above the upper"),
    rule("between:2026-02-01,2026-01-01", "the lower bound of 'between' is above the upper"),
    rule("between:1,2026-01-01", "the bounds of 'between' are of different kinds"),
    rule("between:2026-01-01T00:00,2026-01-01T00:00Z",
         "the bounds of 'between' are of different kinds"),
    rule("in:", "rule 'in' needs an argument: in:a|b|c"),
    rule("min_length:-1", "rule 'min_length' needs a whole number, 0 or more: min_length:3"),
    rule("max_length:3.0", "rule 'max_length' needs a whole number, 0 or more: max_length:3"),
    rule("max_length:٣", "rule 'max_length' needs a whole number, 0 or more: max_length:3"),
    regex("", "rule 'regex' needs an argument: regex:^[A-Z]{2}$"),
    regex("(a", "not a regular expression: missing ), unterminated subpattern at position 0"),
    regex("a(?=b)", f"look-ahead is refused: {RE2}"),
    regex("a(?!b)", f"look-ahead is refused: {RE2}"),
    regex("(?<=a)b", f"look-behind is refused: {RE2}"),
    regex("(?<!a)b", f"look-behind is refused: {RE2}"),
    regex(r"(a)\1", f"a backreference (\\1) is refused: {RE2}"),
    regex("(?P<n>a)(?P=n)", f"a backreference is refused: {RE2}"),
    regex("(a)?(?(1)b|c)", f"a conditional is refused: {RE2}"),
    regex("a(?#note)", f"a comment group is refused: {RE2}"),
    regex("(?x) a", "flag 'x' is refused; allowed: 'i', 'm' or 's'"),
    regex("(?a:a)", "flag 'a' is refused; allowed: 'i', 'm' or 's'"),
    regex(r"a\Z", r"\Z is Python's own; write $"),
    regex("a{1001}", "repeats above 1000 in all are refused by RE2, which runs the rule"),
    regex("((a{20})b|c){3,51}", "repeats above 1000 in all are refused by RE2, which runs the "
          "rule"),
    regex(r"[\1]", r"\1 in a set is Python's own; write the character by its code, as \x08"),
    regex(r"[a\b]", r"\b in a set is Python's own; write the character by its code, as \x08"),
    regex(r"\é", "RE2 takes no backslash before 'é'; write it alone"),
    regex(r"\u00e9", r"\u is Python's own; write the character itself, or \x{…} by its code"),
    regex("a{,5}", "RE2 needs the lower bound of a repeat: {0,n}"),
    Wrong(
        validate(rowLevel=[{"id": "r", "field": "a", "rule": "email"}]),
        "nodes[1].rowLevel[0].onFail: required key is missing; "
        "allowed: 'quarantine', 'drop', 'warn' or 'abort'",
        True,
    ),
    Wrong(
        validate(
            rowLevel=[{"id": "r", "field": f, "rule": "email", "onFail": "drop"} for f in "ab"]
        ),
        "nodes[1].rowLevel[1].id: 'r' is the id of an earlier rule of this node",
    ),
    Wrong(
        validate(quarantine={"table": "bad"}),
        "nodes[1].quarantine.table: 'bad' is not of the form schema.table",
        True,
    ),
    Wrong(
        validate(quarantine={"table": "public.orders"}),
        "nodes[2].schema: bad rows go to this table; load another",
    ),
    level("rowcount: unknown key 'rowcount'; did you mean 'rowCount'? Allowed: 'rowCount', "
          "'nullRate', 'uniqueness', 'freshness' or 'referential'", True, rowcount={}),
    level("rowCount: needs min, max or both", rowCount={"onFail": "warn"}),
    level("rowCount[1].min: found 5; allowed: at most max, which is 4",
          rowCount=[{"min": 1, "onFail": "warn"}, {"min": 5, "max": 4, "onFail": "warn"}]),
    level("rowCount.min: found -1; allowed: 0 or more", True,
          rowCount={"min": -1, "onFail": "warn"}),
    level("rowCount.onFail: unknown onFail 'quarantine'; allowed: 'abort' or 'warn'", True,
          rowCount={"min": 1, "onFail": "quarantine"}),
    level("nullRate.max: found 1.5; allowed: 1 or less", True,
          nullRate={"field": "a", "max": 1.5, "onFail": "warn"}),
    level("uniqueness.fields: cannot be empty", True,
          uniqueness={"fields": [], "onFail": "warn"}),
    level("freshness.maxAgeMinutes: found 0; allowed: more than 0", True,
          freshness={"field": "a", "maxAgeMinutes": 0, "onFail": "warn"}),
    level("referential.references: 'public.t' is not of the form schema.table.column", True,
          referential={"field": "a", "references": "public.t", "onFail": "warn"}),
]  # fmt: skip


@wrong_cases(WRONG)
def test_refused(case: Wrong) -> None:
    assert problems(case.document) == [case.problem]


@pytest.mark.parametrize(
    "pattern",
    [
        r"^\d{3}-\d{4}$",
        r"[\](?=]",
        "((a{20}b){50}){1}|a{1000}",
        "[a{2000}]",
        "[]a(?=]",
        "[^](?!]",
        r"\(?=",
        "a{2,}?b*?",
        "(?i)abc(?:d|e)",
        "(?s-i:a.b)",
        r"\\1",
        "a{0,1000}",
        "x{,}",
        r"\x41\t\.",
        "[a-z&&[b]]",
    ],
)
def test_patterns_of_the_common_subset(pattern: str) -> None:
    parse(with_rule(f"regex:{pattern}"))


@pytest.mark.parametrize(
    ("text", "name", "argument", "arguments"),
    [
        ("email", "email", None, ()),
        ("gt:0", "gt", "0", ("0",)),
        ("ne:a:b", "ne", "a:b", ("a:b",)),
        ("between:1, 10", "between", "1, 10", ("1", "10")),
        ("in:a| b|", "in", "a| b|", ("a", " b", "")),
        ("regex:a|b,c", "regex", "a|b,c", ("a|b,c",)),
    ],
)
def test_rules_are_taken_apart(
    text: str, name: str, argument: str | None, arguments: tuple[str, ...]
) -> None:
    node = parse(with_rule(text)).node("v")
    assert isinstance(node, Validate)
    (found,) = node.row_level
    assert (found.name, found.argument, found.arguments) == (name, argument, arguments)


def test_dataset_rules_in_one_list() -> None:
    node = parse(EVERY_RULE).node("v")
    assert isinstance(node, Validate)
    assert [rule.validator for rule in node.dataset_rules] == [
        "rowCount",
        "rowCount",
        "nullRate",
        "uniqueness",
        "freshness",
        "referential",
    ]
    assert node.dataset_level.referential[0].column == ("public", "t", "id")


def test_dangerous_patterns_are_only_compiled() -> None:
    # Python's engine takes exponential time to run this; RE2, which runs it, does not.
    assert re.compile("(a+)+$")
    parse(with_rule("regex:(a+)+$"))
