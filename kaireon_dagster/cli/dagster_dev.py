"""`dagster dev` as our `dev` starts it: it says nothing that is not so, or that nobody can act on.

To be run as a module, with the arguments of `dagster dev`.
"""

from __future__ import annotations

import logging
import os
import runpy
import sys
import warnings
from pathlib import Path
from typing import Final

_SETTINGS: Final = "dagster.yaml"
_UNUSED: Final = f"Found a dagster instance configuration value ({_SETTINGS})"


def main(arguments: list[str]) -> None:
    """Be `dagster dev`."""
    # Its successor `dg dev` wants a project made by `dg`.
    warnings.filterwarnings("ignore", r"Function `dev_command` is superseded", FutureWarning)
    if _instance_has_settings():
        logging.getLogger("dagster").addFilter(_is_so)
    sys.argv = ["dagster", "dev", *arguments]
    runpy.run_module("dagster", run_name="__main__", alter_sys=True)


def _instance_has_settings() -> bool:
    """Whether the instance is set by the file in the current folder, which is linked into it."""
    linked = Path(os.environ.get("DAGSTER_HOME", ""), _SETTINGS)
    return linked.exists() and Path(_SETTINGS).exists() and linked.samefile(_SETTINGS)


def _is_so(record: logging.LogRecord) -> bool:
    return not record.getMessage().startswith(_UNUSED)


if __name__ == "__main__":
    main(sys.argv[1:])
