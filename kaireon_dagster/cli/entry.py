"""Reads the command line, runs one command, and turns errors into one line and an exit code."""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Final, NoReturn, Protocol, cast

from kaireon_dagster.cli.faults import ProgramFault, UsageFault
from kaireon_dagster.cli.reply import DONE, FAILED, INVALID, Reply, tell
from kaireon_dagster.errors import DocumentInvalid, FlowError, MissingExtra

PROGRAM: Final = "kaireon-dagster"
COMMANDS: Final = {
    "init": "write a starter document for a data file",
    "validate": "check documents, and say everything that is wrong with them",
    "plan": "show the steps, the lineage and the tables of a document; touches nothing",
    "run": "run one document through its Dagster job",
    "dev": "PostgreSQL and the Dagster UI for the documents in pipelines/",
    "demo": "load the flights of 2013 from New York, and show what happened",
    "doctor": "check versions, database and folders",
    "schema": "print the JSON Schema of documents, for editors",
}
_INTERRUPTED: Final = 130
_FRAMES: Final = 4


class Command(Protocol):
    """The module of a command; imported only when it is asked for, so that others start fast."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare what the command takes."""

    def execute(self, options: argparse.Namespace) -> Reply:
        """Do it."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Returns:
        0 when it is done, 1 when a run or a check failed, 2 for wrong usage or an invalid document.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        reply = _answer(words)
        reply.print(as_json="--json" in words)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has seen enough; Python must not complain about it when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    return reply.code


class _Parser(argparse.ArgumentParser):
    """Raises what is wrong with a command line, so that it is told like any other error."""

    def error(self, message: str) -> NoReturn:
        raise UsageFault(f"{message}; see {self.prog} --help")


def _answer(words: list[str]) -> Reply:
    parser, command = _read_command(words)
    try:
        options = parser.parse_args(words)
    except UsageFault as error:
        return _refuse(error, INVALID, "--json" in words)
    if options.version:
        return _version()
    if command is None:
        message = "a command is missing"
        data = {"error": {"type": "UsageFault", "message": message}}
        return Reply(INVALID, (parser.format_help().rstrip(),), data)
    return _execute(command, options)


def _version() -> Reply:
    from importlib.metadata import version

    found = version(PROGRAM)
    return Reply(DONE, (f"{PROGRAM} {found}",), {"version": found})


def _read_command(words: list[str]) -> tuple[argparse.ArgumentParser, Command | None]:
    parser = _Parser(
        prog=PROGRAM, description="Declarative Flow pipelines as Dagster assets in PostgreSQL."
    )
    parser.add_argument("--version", action="store_true", help="print the version")
    _add_json(parser, default=False)
    choices = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    asked = next((word for word in words if not word.startswith("-")), None)
    command = None
    for name, summary in COMMANDS.items():
        child = choices.add_parser(name, help=summary, description=_sentence(summary))
        if name == asked:
            command = cast("Command", import_module(f"kaireon_dagster.cli.{name}"))
            command.add_arguments(child)
            # Where it is not given here, it must not hide that it stands in front.
            _add_json(child, default=argparse.SUPPRESS)
    return parser, command


def _add_json(parser: argparse.ArgumentParser, default: object) -> None:
    parser.add_argument(
        "--json", action="store_true", default=default, help="answer as one JSON value"
    )


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _execute(command: Command, options: argparse.Namespace) -> Reply:
    try:
        return command.execute(options)
    except DocumentInvalid as error:
        problems = [{"path": p.path, "message": p.message} for p in error.problems]
        return _refuse(error, INVALID, options.json, source=error.source, problems=problems)
    except FlowError as error:
        usage = isinstance(error, (MissingExtra, UsageFault))
        return _refuse(error, INVALID if usage else FAILED, options.json)
    except KeyboardInterrupt:
        return Reply(_INTERRUPTED, ("interrupted",), {"error": {"message": "interrupted"}})
    except Exception as error:  # noqa: BLE001  (its text may hold values of rows, so it is retold)
        return _refuse(_retold(error), FAILED, options.json)


def _retold(error: Exception) -> ProgramFault:
    frames = traceback.extract_tb(error.__traceback__)[-_FRAMES:]
    places = (f"{Path(frame.filename).name}:{frame.lineno}" for frame in reversed(frames))
    return ProgramFault(type(error).__name__, " < ".join(places))


def _refuse(error: FlowError, code: int, as_json: bool, **facts: object) -> Reply:
    if not as_json:
        tell(f"{PROGRAM}: {error}")
    return Reply(
        code, (), {"error": {"type": type(error).__name__, "message": str(error), **facts}}
    )
