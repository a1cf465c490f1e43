"""Embedded PostgreSQL: one server per work folder, shared by the processes that use it."""

from __future__ import annotations

from kaireon_dagster.server.binaries import Binaries, find_binaries
from kaireon_dagster.server.process import EmbeddedServer, start_server

__all__ = ["Binaries", "EmbeddedServer", "find_binaries", "start_server"]
