from __future__ import annotations

from datetime import datetime, timezone

import pytest

from kaireon_dagster.ir.source import Pattern
from kaireon_dagster.sources import PatternInvalid, expand_tokens, matches
from kaireon_dagster.sources.patterns import matches_on_any_date, token_matcher

NOON = datetime(2026, 3, 8, 12, 30, 5, tzinfo=timezone.utc)


def pattern(type: str, value: str, timezone: str = "UTC") -> Pattern:
    return Pattern.model_validate({"type": type, "value": value, "timezone": timezone})


@pytest.mark.parametrize(
    ("value", "name", "fits"),
    [
        ("orders_*.csv", "orders_1.csv", True),
        ("orders_*.csv", "orders_.csv", True),
        ("orders_*.csv", "orders_1.csv.part", False),
        ("orders[1].csv", "orders[1].csv", True),
        ("orders[1].csv", "orders1.csv", False),
        ("a?.csv", "ab.csv", True),
        ("a?.csv", "a.csv", False),
        ("*.csv", "ORDERS.CSV", False),
        ("*.csv", "new\nline.csv", True),
        ("*.csv", "{a,b}.csv", True),
        ("{a,b}.csv", "a.csv", False),
        ("*.csv", "caf\udce9.csv", True),
        ("na\u00efve.csv", "nai\u0308ve.csv", False),
        ("a+b(c).csv", "a+b(c).csv", True),
        ("*", ".hidden.csv", False),
        ("*", "~$lock.csv", False),
    ],
)
def test_a_glob_knows_star_and_question_mark_only(value: str, name: str, fits: bool) -> None:
    assert matches(pattern("glob", value), name, NOON) is fits


@pytest.mark.parametrize(
    ("name", "fits"),
    [("events_2026.json", True), ("events_2026.json.bak", False), ("x_events_2026.json", False)],
)
def test_a_regex_matches_the_whole_name(name: str, fits: bool) -> None:
    assert matches(pattern("regex", "events_[0-9]{4}\\.json"), name, NOON) is fits
    assert matches(pattern("regex", "^events_[0-9]{4}\\.json$"), name, NOON) is fits


def test_a_broken_regex_is_named() -> None:
    broken = Pattern.model_construct(type="regex", value="a(", timezone="UTC")
    with pytest.raises(PatternInvalid, match=r"'a\('"):
        matches(broken, "a", NOON)


def test_a_date_template_is_written_in_its_zone() -> None:
    log = pattern("date_template", "log_{YYYY-MM-DD}.jsonl", "America/Los_Angeles")
    early = datetime(2026, 3, 8, 2, 0, tzinfo=timezone.utc)
    assert matches(log, "log_2026-03-07.jsonl", early)
    assert not matches(log, "log_2026-03-08.jsonl", early)
    assert not matches(log, "log_2026-03-06.jsonl", early)


def test_a_date_template_of_another_day_is_known_when_a_dead_run_left_it() -> None:
    log = pattern("date_template", "log_{YYYYMMDD}.jsonl")
    assert not matches(log, "log_20250101.jsonl", NOON)
    assert matches_on_any_date(log, "log_20250101.jsonl")
    assert not matches_on_any_date(log, "log_2025.jsonl")


@pytest.mark.parametrize(
    ("text", "written"),
    [
        (".archive/{YYYY-MM-DD}/", ".archive/2026-03-08/"),
        ("{YYYYMMDD}_{HH}{mm}{ss}", "20260308_123005"),
        ("{YYYY}/{MM}/{DD}", "2026/03/08"),
        ("{MM} is no {mm}", "03 is no 30"),
        ("100% {other}", "100% {other}"),
    ],
)
def test_tokens_are_written(text: str, written: str) -> None:
    assert expand_tokens(text, NOON) == written
    assert token_matcher(text).fullmatch(written)
