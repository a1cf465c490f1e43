"""The heartbeat of a run while one of its steps works."""

from __future__ import annotations

import contextlib
import threading
from types import TracebackType
from typing import Final

from kaireon_dagster.errors import FlowError
from kaireon_dagster.state import Database, runs, wrapped

BEAT_SECONDS: Final = 10.0


class Heart:
    """Shows in the run row, on a connection of its own, that the step inside the block lives."""

    def __init__(self, database: Database, run_id: str, *, every: float = BEAT_SECONDS) -> None:
        self._database, self._run_id, self._every = database, run_id, every
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="flow-heart", daemon=True)

    def __enter__(self) -> Heart:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()

    def _beat(self) -> None:
        while not self._stop.wait(self._every):
            # A beat that is lost is made up for by the next; the step itself meets the fault.
            with (
                contextlib.suppress(FlowError),
                wrapped("beat"),
                self._database.connect() as connection,
            ):
                runs.beat(connection, self._run_id)
