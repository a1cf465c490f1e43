"""The Dagster instance of the work folder, where `dev`, `demo` and `run` keep their runs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from kaireon_dagster.server import find_home

VARIABLE: Final = "DAGSTER_HOME"
_FILE: Final = "dagster.yaml"
_WITHOUT_PROJECT: Final = "telemetry:\n  enabled: false\npython_logs:\n  python_log_level: INFO\n"


def prepare_dagster_home() -> Path:
    """Make sure that there is an instance, and that this process and its children use it.

    `DAGSTER_HOME` is obeyed where it is set. Else it is `dagster` in the work folder, with the
    settings of the `dagster.yaml` in the current folder.
    """
    if VARIABLE not in os.environ:
        home = find_home() / "dagster"
        home.mkdir(parents=True, exist_ok=True)
        _settle(home / _FILE)
        os.environ[VARIABLE] = str(home)
    return Path(os.environ[VARIABLE])


def find_dagster_home() -> Path | None:
    """As `prepare_dagster_home`, but None where none was made yet: a single run needs none."""
    made = (find_home() / "dagster" / _FILE).exists()
    return prepare_dagster_home() if made or VARIABLE in os.environ else None


def _settle(file: Path) -> None:
    project = Path(_FILE).absolute()
    if file.is_symlink() and (not file.exists() or file.resolve() != project.resolve()):
        file.unlink()
    if file.exists():
        return
    if project.exists():
        file.symlink_to(project)
    else:
        file.write_text(_WITHOUT_PROJECT, encoding="utf-8")
