"""Run one function in several processes at the same moment."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from typing import Any

CONTEXT = multiprocessing.get_context("fork")


def run_together(count: int, work: Callable[..., Any], *arguments: Any) -> list[Any]:
    """What `work(*arguments)` returned, or the text of what it raised, in each process."""
    barrier, outcomes = CONTEXT.Barrier(count), CONTEXT.Queue()
    processes = [
        CONTEXT.Process(target=_work, args=(barrier, outcomes, work, arguments))
        for _ in range(count)
    ]
    for process in processes:
        process.start()
    got = [outcomes.get(timeout=60) for _ in processes]
    for process in processes:
        process.join()
    return got


def _work(
    barrier: Any, outcomes: Any, work: Callable[..., Any], arguments: tuple[Any, ...]
) -> None:
    barrier.wait()
    try:
        outcomes.put(work(*arguments))
    except Exception as error:  # noqa: BLE001
        outcomes.put(repr(error))
