"""`schema`: the JSON Schema of documents."""

from __future__ import annotations

import argparse
import json

from kaireon_dagster.cli.reply import Reply
from kaireon_dagster.ir import json_schema


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes: nothing."""


def execute(options: argparse.Namespace) -> Reply:
    """Print the schema."""
    schema = json_schema()
    return Reply(lines=(json.dumps(schema, indent=2, ensure_ascii=False),), data=schema)
