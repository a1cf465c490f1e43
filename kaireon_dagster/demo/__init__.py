"""The demo: real flights as files, and questions that the loaded tables answer."""

from __future__ import annotations

from kaireon_dagster.demo.answers import Answer, ask
from kaireon_dagster.demo.files import DEMO_FOLDER, deliver_files

__all__ = ["DEMO_FOLDER", "Answer", "ask", "deliver_files"]
