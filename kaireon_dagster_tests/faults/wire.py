"""A wire between worker and server that can be cut, or stop carrying, at a chosen moment."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from psycopg.conninfo import conninfo_to_dict, make_conninfo

from kaireon_dagster.state import Database

Cut = Literal["before", "after"]


@dataclass
class Wire:
    """Carries bytes both ways until the moment that `cut` describes.

    Attributes:
        signs: texts that the worker sends, in this order; the last of them is the moment.
        when: whether that last text reaches the server: `after` the server has answered it, the
            answer is what gets lost.
        cuts: connections that were cut.
    """

    signs: list[bytes] = field(default_factory=list)
    when: Cut = "before"
    cuts: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def cut(self, *signs: str, when: Cut = "before") -> None:
        """Cut the connection that sends these texts, once."""
        self.signs, self.when, self.cuts = [sign.encode() for sign in signs], when, 0

    def comes(self, data: bytes) -> bool:
        """Whether the moment is in what the worker sends."""
        with self._lock:
            while self.signs and self.signs[0] in data:
                data = data.split(self.signs.pop(0), 1)[1]
                if not self.signs:
                    self.cuts += 1
                    return True
        return False


@contextlib.contextmanager
def wired(database: Database) -> Iterator[tuple[Database, Wire]]:
    """The database at the far end of a wire."""
    wire = Wire()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=_accept, args=(listener, database, wire), daemon=True).start()
        port = listener.getsockname()[1]
        conninfo = make_conninfo(database.conninfo, host="127.0.0.1", port=port)
        yield Database(conninfo), wire


def _accept(listener: socket.socket, database: Database, wire: Wire) -> None:
    with contextlib.suppress(OSError):
        while True:
            worker, _ = listener.accept()
            ends = (worker, _dial(database), threading.Event())
            threading.Thread(target=_send, args=(*ends, wire), daemon=True).start()
            threading.Thread(target=_answer, args=ends, daemon=True).start()


def _dial(database: Database) -> socket.socket:
    settings = conninfo_to_dict(database.conninfo)
    host, port = str(settings.get("host", "localhost")), int(settings.get("port", 5432))
    if not host.startswith("/"):
        return socket.create_connection((host, port))
    dialled = socket.socket(socket.AF_UNIX)
    dialled.connect(f"{host}/.s.PGSQL.{port}")
    return dialled


def _send(
    worker: socket.socket, server: socket.socket, is_cut: threading.Event, wire: Wire
) -> None:
    with contextlib.suppress(OSError):
        while data := worker.recv(1 << 16):
            if wire.comes(data):
                is_cut.set()
                if wire.when == "before":
                    break
            server.sendall(data)
            if is_cut.is_set():
                break
        # The server ends what it was sent, and then the connection.
        server.shutdown(socket.SHUT_WR)


def _answer(worker: socket.socket, server: socket.socket, is_cut: threading.Event) -> None:
    with contextlib.suppress(OSError):
        while data := server.recv(1 << 16):
            if not is_cut.is_set():
                worker.sendall(data)
    for end in (server, worker):
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
        end.close()
