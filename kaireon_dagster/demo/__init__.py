"""The demo: real flights as files, run through the documents of `pipelines/`."""

from __future__ import annotations

from kaireon_dagster.demo.files import DEMO_FOLDER, deliver_files

__all__ = ["DEMO_FOLDER", "deliver_files"]
