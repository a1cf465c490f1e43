"""Formats: one spelling for the whole column, nothing guessed per value."""

from __future__ import annotations

import pytest

from kaireon_dagster.plan.casting import FormatRefused, cast
from kaireon_dagster.plan.types import TEXT, SqlType
from kaireon_dagster_tests.plan.expressions.engines import read_text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("10/09/2016", "2016-09-10"),
        ("30/09/2016", "2016-09-30"),
        ("1/9/2016", "2016-09-01"),
        (" 01/09/2016 ", "2016-09-01"),
        *((text, "fault") for text in ("2016-09-05", "31/02/2016", "01/02/03", "13/13/2016")),
        *((text, "fault") for text in ("10/09/2016 x", "10/09/20166", "10-09-2016", "29/02/2023")),
        *((text, "fault") for text in ("00/01/2016", "01/01/0000", "1 /9/2016", "x")),
    ],
)
def test_one_format_holds_for_the_whole_column(text: str, value: str) -> None:
    assert read_text(text, "date", "DD/MM/YYYY") == value
    assert read_text(text, "date", "%d/%m/%Y") == value


@pytest.mark.parametrize(
    ("format", "target", "text", "value"),
    [
        ("YYYYMMDD HH24:MI:SS", "timestamp", "20240131 101112", "fault"),
        ("YYYYMMDD HH24:MI:SS", "timestamp", "20240131 10:11:12", "2024-01-31 10:11:12"),
        ("YYYYMMDD", "date", "20240131", "2024-01-31"),
        ("YYYYMMDD", "date", "2024131", "fault"),
        ('YYYY-MM-DD"T"HH:MI', "timestamp", "2024-01-31T23:05", "2024-01-31 23:05:00"),
        ("YYYY-MM-DDTHH24:MI", "timestamp", "2024-01-31T23:05", "2024-01-31 23:05:00"),
        ("DD Mon YYYY", "date", "31 JAN 2024", "2024-01-31"),
        ("DD Mon YYYY", "date", "31 January 2024", "fault"),
        ("Month DD, YYYY", "date", "february 29, 2024", "2024-02-29"),
        ("Dy DD.MM.YY", "date", "Wed 31.01.24", "2024-01-31"),
        ("MM/DD/YYYY HH12:MI AM", "timestamp", "1/31/2024 12:30 am", "2024-01-31 00:30:00"),
        ("MM/DD/YYYY HH:MI PM", "timestamp", "1/31/2024 01:30 pm", "2024-01-31 13:30:00"),
        ("MM/DD/YYYY HH:MI PM", "timestamp", "1/31/2024 13:30 pm", "fault"),
        ("YYYY-MM-DD HH24:MI:SS.US", "timestamp", "2024-01-31 1:2:3.5", "2024-01-31 01:02:03.5"),
        ("YYYY-DDD", "date", "2024-060", "2024-02-29"),
        ("YYYY-MM-DD HH24:MI", "timestamptz", "2024-01-31 10:00", "2024-01-31 10:00:00+00"),
        (
            "YYYY-MM-DD HH24:MITZH:TZM",
            "timestamptz",
            "2024-01-31 10:00+02:00",
            "2024-01-31 08:00:00+00",
        ),
        ("%Y-%m-%d %H:%M%z", "timestamptz", "2024-01-31 10:00Z", "2024-01-31 10:00:00+00"),
        ("HH24.MI", "time", "23.59", "23:59:00"),
        ("%I:%M %p", "time", "11:59 PM", "23:59:00"),
        ("%d%%%m%%%Y", "date", "31%01%2024", "2024-01-31"),
    ],
)
def test_formats(format: str, target: str, text: str, value: str) -> None:
    assert read_text(text, target, format) == value


@pytest.mark.parametrize(
    ("format", "target"),
    [
        *(("DD/MM", "date"), ("YYYY", "date"), ("QQ/YYYY", "date"), ("%d/%Q/%Y", "date")),
        *(("DD/MM/YYYY DD", "date"), ("MM", "time"), ("HH12:MI", "time"), ("HH24:MI AM", "time")),
        *(("YYYY-MM-DDTZH", "timestamp"), ("DD/MM/YYYY", "uuid"), ("DD/MM/YYYY", "text")),
        *(("1.234", "numeric"), ("1,234,5", "numeric"), ("DD/MM/YYYY", "numeric"), ("", "date")),
    ],
)
def test_formats_that_leave_a_doubt_are_refused(format: str, target: str) -> None:
    with pytest.raises(FormatRefused) as refused:
        cast("x", TEXT, SqlType.parse(target), format)
    assert repr(format) in str(refused.value)


def test_a_format_reads_text_only() -> None:
    with pytest.raises(FormatRefused):
        cast("x", SqlType.parse("date"), SqlType.parse("timestamp"), "DD/MM/YYYY")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("1.234,56", "1234.56"), ("0,75", "0.75"), ("12,00", "12.00"), ("1.234", "1234.00")),
        *(("-1.000,5", "-1000.50"), ("1'234,50", "fault"), ("12.34,5", "fault"), ("1.23", "fault")),
        *(("1234,5", "1234.50"), ("1.234.567,899", "1234567.90"), ("1,5e3", "fault")),
    ],
)
def test_declared_separators(text: str, value: str) -> None:
    assert read_text(text, "numeric(12,2)", "1.234,56") == value
    assert read_text("1.234,56", "numeric(12,2)") == "fault"


def test_declared_separators_of_other_kinds() -> None:
    assert read_text("1,234.5", "numeric(12,2)", "1,234.56") == "1234.50"
    assert read_text("1 234,5", "numeric(12,2)", "9 999,00") == "1234.50"
    assert read_text("12,5", "numeric(12,2)", "0,00") == "12.50"
    assert read_text("1,234", "integer", "1,234.0") == "1234"
