"""`python -m kaireon_dagster.server FOLDER LINGER_SECONDS`: the owner of a shared server."""

from __future__ import annotations

import sys

from kaireon_dagster.server.supervisor import main

sys.exit(main(sys.argv[1:]))
