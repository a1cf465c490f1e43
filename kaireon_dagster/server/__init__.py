"""Embedded PostgreSQL: one server per work folder, shared by the processes that use it."""

from __future__ import annotations

from kaireon_dagster.server.binaries import Binaries, find_binaries
from kaireon_dagster.server.errors import (
    ServerBinariesMissing,
    ServerFolderRefused,
    ServerInUse,
    ServerNotReady,
    ServerNotStarted,
    ServerVersionMismatch,
)
from kaireon_dagster.server.process import EmbeddedServer, start_server
from kaireon_dagster.server.sharing import connect_embedded, find_home

__all__ = [
    "Binaries",
    "EmbeddedServer",
    "ServerBinariesMissing",
    "ServerFolderRefused",
    "ServerInUse",
    "ServerNotReady",
    "ServerNotStarted",
    "ServerVersionMismatch",
    "connect_embedded",
    "find_binaries",
    "find_home",
    "start_server",
]
