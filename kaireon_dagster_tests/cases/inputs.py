"""The input files of the cases, and short ways to load them."""

from __future__ import annotations

import json
import multiprocessing
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kaireon_dagster.state import Database
from kaireon_dagster_tests.harness import query

CASES = Path(__file__).parent
# Forked from a process that has no threads and has the imports behind it.
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload([__name__])


def case(number: str) -> Path:
    """Folder of a case's input files."""
    (found,) = CASES.glob(f"{number}-*")
    return found


def expected(number: str) -> Any:
    """What the case says is right."""
    return json.loads((case(number) / "expected.json").read_text(encoding="utf-8"))


def statements(number: str, name: str = "setup.sql") -> str:
    """SQL that the case runs first."""
    return (case(number) / name).read_text(encoding="utf-8")


def copy(number: str, folder: Path, *names: str) -> None:
    """Copy input files of a case into a source's folder, since a run moves its files."""
    for name in names:
        shutil.copyfile(case(number) / name, folder / name)


def transform(*ops: dict[str, Any], input: str = "src") -> dict[str, Any]:
    """A transform node `x`."""
    return {"id": "x", "kind": "transform", "input": input, "ops": list(ops)}


def cast(field: str, to: str, **more: Any) -> dict[str, Any]:
    """A cast operation."""
    return {"type": "cast", "field": field, "to": to, **more}


def quarantine(database: Database, table: str = "flow_dlq.p") -> list[tuple[str, dict[str, Any]]]:
    """Rule and row of everything in quarantine, in order."""
    return query(database, f'SELECT "ruleId", row FROM {table} ORDER BY id')


def rejected_lines(database: Database) -> dict[int, str]:
    """Line and cause of the records in quarantine that could not be read."""
    rows = quarantine(database)
    return {row["_line"]: row["_cause"] for rule, row in rows if rule == "parse"}


def staging_left(database: Database) -> int:
    """Tables left in the staging schema."""
    ((count,),) = query(
        database, "SELECT count(*) FROM pg_tables WHERE schemaname = 'flow_staging'"
    )
    return int(count)


def work_together(
    work: Callable[..., Any], rounds: int, arguments: list[tuple[Any, ...]]
) -> list[Any]:
    """What `work(round, *arguments)` returned, or the text of what it raised, in one process for each
    of the arguments, all starting each round at the same moment.
    """
    gate, results = PROCESSES.Barrier(len(arguments)), PROCESSES.Queue()
    processes = [
        PROCESSES.Process(target=_work, args=(work, rounds, a, gate, results)) for a in arguments
    ]
    for process in processes:
        process.start()
    found = [results.get(timeout=120) for _ in processes for _ in range(rounds)]
    for process in processes:
        process.join()
    return found


def _work(
    work: Callable[..., Any], rounds: int, arguments: tuple[Any, ...], gate: Any, results: Any
) -> None:
    for round_ in range(rounds):
        gate.wait(60)
        try:
            results.put(work(round_, *arguments))
        except Exception as error:  # noqa: BLE001  (told to the test)
            results.put(f"{type(error).__name__}: {error}")
