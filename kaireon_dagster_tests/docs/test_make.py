"""What the Makefile installs, and what it says where it cannot."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from kaireon_dagster_tests.docs.pages import PROJECT


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone where nothing was installed yet."""
    for name in ("Makefile", "setup.py"):
        shutil.copy(PROJECT / name, tmp_path / name)
    return tmp_path


def make(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", "-C", str(folder), "--no-print-directory", *words],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("target", "extras"),
    [("demo", "demo"), ("dev", "demo"), ("test", "demo,test,lint"), ("lint", "demo,test,lint")],
)
def test_each_target_installs_what_it_needs_and_says_so_first(
    clone: Path, target: str, extras: str
) -> None:
    lines = make(clone, "-n", target).stdout.splitlines()
    installs = [number for number, line in enumerate(lines) if "--editable" in line]
    assert [lines[number].split("--editable ")[1] for number in installs] == [f"'.[{extras}]'"]
    assert "installing into .venv" in lines[installs[0] - 1]


def test_tools_hold_what_the_demo_needs(clone: Path) -> None:
    (clone / ".venv").mkdir()
    for stamp in (".python", ".tools", ".demo"):
        (clone / ".venv" / stamp).touch()
    assert "install" not in make(clone, "-n", "demo", "test").stdout


@pytest.mark.parametrize(
    ("missing", "said"),
    [("venv", "apt install python3-venv"), ("sys.version_info", "Python 3.10 or newer is needed")],
)
def test_a_python_that_will_not_do_is_told_before_anything_is_made(
    clone: Path, missing: str, said: str
) -> None:
    python = clone / "python"
    python.write_text(
        f'#!/bin/sh\ncase "$2" in *"{missing}"*) echo "Python 3.10 or newer is needed" >&2; exit 1;; esac\n'
    )
    python.chmod(0o755)
    done = make(clone, "demo", f"PYTHON={python}")
    assert done.returncode != 0
    assert said in done.stderr
    assert not (clone / ".venv").exists()
