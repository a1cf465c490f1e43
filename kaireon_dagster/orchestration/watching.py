"""Progress of steps, for whoever runs a pipeline in their own process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal

State = Literal["started", "finished", "retrying", "failed"]


@dataclass(frozen=True, slots=True)
class StepEvent:
    """Something that happened to a step.

    Attributes:
        step: the step's name.
        node: the node it ends in.
        kind: `claim`, `stage` or `load`.
        seconds: since the try began.
        message: in words, such as rows loaded or the error; no value of a row.
        read: rows of files that the step has read, where it failed too.
    """

    step: str
    node: str
    kind: str
    state: State
    seconds: float = 0.0
    message: str = ""
    read: int = 0


Watcher = Callable[[StepEvent], None]
_watcher: ContextVar[Watcher | None] = ContextVar("flow_watcher", default=None)


@contextmanager
def watching(watcher: Watcher) -> Iterator[None]:
    """Hand the events of steps in this process to a watcher, while the block lasts."""
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


def tell(event: StepEvent) -> None:
    """Hand an event to the watcher, if there is one."""
    watcher = _watcher.get()
    if watcher is not None:
        watcher(event)
