"""A COPY that is fed by one thread and sent by another, so that reading and writing overlap."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable
from types import TracebackType

import psycopg

from kaireon_dagster.state.database import Connection

_CANCEL_SECONDS = 5.0
_WAITING = 4
"""Batches that may wait to be encoded and sent: enough to overlap, few enough to stay small."""


Chunk = Callable[[], bytes]


class CopyStopped(Exception):
    """The feeding side gave up; the server forgets what was sent."""


class CopyStream:
    """Sends bytes to `COPY … FROM STDIN`. Leaving the block ends the COPY, or cancels it on an error.

    Attributes:
        rows: rows that the server took, once the block was left.
    """

    def __init__(self, connection: Connection, statement: str) -> None:
        self.rows = 0
        self._connection = connection
        self._statement = statement
        self._queue: queue.Queue[Chunk | BaseException | None] = queue.Queue(_WAITING)
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._send, name="flow-copy", daemon=True)

    def __enter__(self) -> CopyStream:
        self._thread.start()
        return self

    def write(self, chunk: Chunk) -> None:
        """Hand over what gives bytes; the sending thread asks for them, so encoding overlaps too.

        Raises what the server answered, or the encoding did, as soon as it is known.
        """
        while self._thread.is_alive():
            try:
                self._queue.put(chunk, timeout=0.2)
            except queue.Full:
                continue
            return
        self._join()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if error is not None and not isinstance(error, Exception):
                self._cancel()
            self._finish(None if error is None else CopyStopped())
        except BaseException:
            # Interrupted: the server may be busy with what it was sent, and would hold its locks.
            self._cancel()
            self._thread.join()
            raise
        if error is None:
            self._raise()

    def _finish(self, end: CopyStopped | None) -> None:
        while self._thread.is_alive():
            try:
                self._queue.put(end, timeout=0.2)
                break
            except queue.Full:
                continue
        self._thread.join()

    def _cancel(self) -> None:
        with contextlib.suppress(psycopg.Error):
            self._connection.cancel_safe(timeout=_CANCEL_SECONDS)

    def _join(self) -> None:
        self._thread.join()
        self._raise()
        raise psycopg.OperationalError("the COPY ended before all rows were sent")

    def _raise(self) -> None:
        if self._error is not None:
            raise self._error

    def _send(self) -> None:
        try:
            with self._connection.cursor() as cursor:
                with cursor.copy(self._statement) as copy:
                    while (item := self._queue.get()) is not None:
                        if isinstance(item, BaseException):
                            raise item
                        copy.write(item())
                self.rows = cursor.rowcount
        except BaseException as error:  # noqa: BLE001  (handed to the feeding thread)
            self._error = error
