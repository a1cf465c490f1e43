"""Workers that are killed at a chosen point of a run, as by the kernel: nothing of theirs ends in order."""

from __future__ import annotations

import multiprocessing
import os
import signal
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from kaireon_dagster import ir
from kaireon_dagster.engine.scope import Settings
from kaireon_dagster.state import Database
from kaireon_dagster_tests.harness import run

SMALL = Settings(batch_rows=4, threads=1)
"""Batches so small that a few rows are many writes."""
_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload([__name__])


@dataclass(frozen=True)
class Point:
    """The moment in which a worker dies.

    Attributes:
        place: module, or class, that the function is looked up in.
        name: of the function.
        when: `before` or `after` its call.
        call: which of its calls, from 1.
    """

    place: str
    name: str
    when: str = "before"
    call: int = 1

    def __str__(self) -> str:
        return f"{self.when} {self.name} {self.call}"

    def arm(self) -> None:
        """Make this process die there."""
        owner = _find(self.place)
        original: Callable[..., Any] = getattr(owner, self.name)
        calls = 0

        def deadly(*args: Any, **more: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls == self.call and self.when == "before":
                die()
            result = original(*args, **more)
            if calls == self.call:
                die()
            return result

        setattr(owner, self.name, deadly)


def die() -> None:
    """End this process at once."""
    os.kill(os.getpid(), signal.SIGKILL)


def kill_at(
    point: Point,
    pipeline: ir.Pipeline,
    database: Database,
    run_id: str,
    scratch: Path | None = None,
) -> None:
    """Run a document in a process of its own, and see it die at the point."""
    text = ir.write_canonical(pipeline)
    arguments = (point, text, database.conninfo, run_id, scratch)
    victim = _CONTEXT.Process(target=_work, args=arguments)
    victim.start()
    victim.join(60)
    assert victim.exitcode == -signal.SIGKILL, f"{point} was never reached: {victim.exitcode}"


def start(pipeline: ir.Pipeline, database: Database, run_id: str) -> Any:
    """Run a document in a process of its own."""
    text = ir.write_canonical(pipeline)
    worker = _CONTEXT.Process(target=_work, args=(None, text, database.conninfo, run_id, None))
    worker.start()
    return worker


def measure(pipeline: ir.Pipeline, database: Database) -> int:
    """Run a document in a process of its own: the most memory that it held, in MB."""
    text = ir.write_canonical(pipeline)
    mine, theirs = _CONTEXT.Pipe()
    worker = _CONTEXT.Process(target=_tell_peak, args=(theirs, text, database.conninfo))
    worker.start()
    worker.join(120)
    assert worker.exitcode == 0
    return int(mine.recv())


def _tell_peak(told: Any, text: str, conninfo: str) -> None:
    pipeline = ir.parse_document(text, source="measured.json", format="json")
    run(pipeline, Database(conninfo))
    lines = Path("/proc/self/status").read_text().splitlines()
    (peak,) = (line for line in lines if line.startswith("VmHWM"))
    told.send(int(peak.split()[1]) // 1024)


def _work(point: Point | None, text: str, conninfo: str, run_id: str, scratch: Path | None) -> None:
    if scratch is not None:
        tempfile.tempdir = str(scratch)
    pipeline = ir.parse_document(text, source="victim.json", format="json")
    if point is not None:
        point.arm()
    run(pipeline, Database(conninfo), run_id=run_id, settings=SMALL)


def _find(place: str) -> Any:
    module, _, name = place.partition(":")
    found = import_module(f"kaireon_dagster.{module}")
    return getattr(found, name) if name else found
