"""A folder of its own for every command, and a way to call one in this process."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kaireon_dagster.cli import main


@dataclass(frozen=True, slots=True)
class Said:
    """What a command answered."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        """The answer under `--json`."""
        return json.loads(self.out)


Call = Callable[..., Said]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder of the test, with no setting of the person who runs it."""
    for variable in ("FLOW_HOME", "FLOW_PIPELINES", "FLOW_DATABASE_URL", "FLOW_STREAMING_ENABLED"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def call(folder: Path, capsys: pytest.CaptureFixture[str]) -> Call:
    """Call a command in the test's folder."""

    def run(*words: object) -> Said:
        code = main([str(word) for word in words])
        captured = capsys.readouterr()
        return Said(code, captured.out, captured.err)

    return run
