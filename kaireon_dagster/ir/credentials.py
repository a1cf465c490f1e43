"""Secrets that stand in a document, found by the keys and URLs they stand in.

Documents are kept in version control, stored, hashed and shown; a secret belongs to a connection
resource or an environment variable. Messages never repeat what was found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from kaireon_dagster.errors import Problem
from kaireon_dagster.ir.base import Location
from kaireon_dagster.ir.paths import write_path

_WORDS = frozenset(
    {
        "password",
        "passwd",
        "passphrase",
        "pwd",
        "secret",
        "secrets",
        "token",
        "credential",
        "credentials",
        "authorization",
        "apikey",
        "accesskey",
        "secretkey",
        "privatekey",
        "accountkey",
        "sharedkey",
        "connectionstring",
        "sastoken",
    }
)
_PAIRS = frozenset(
    ("api key", "access key", "secret key", "private key", "account key", "shared key")
) | {"connection string"}
_SIGNATURES = frozenset(("sig", "signature", "x-amz-signature", "x-goog-signature"))
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_USER_AND_PASSWORD = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*://)?[^/\s:@]*:[^/\s]*@[^@]*")
# A password with a slash ends the host part early; what stands before it is then no port.
_TORN_PASSWORD = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/\s:@\[]+:(?!\d*/)[^\s]*@.*")

ADVICE = "a secret cannot stand in a document; name a 'connection' that holds it"


def find_secrets(data: Any) -> Iterator[tuple[Location, Problem]]:
    """Yield every literal secret in source and enrich configs and in hooks, with its location."""
    for location, value in _find_suspects(data):
        for found in _walk(location, value):
            yield found, Problem(write_path(found), ADVICE)


def _find_suspects(data: Any) -> Iterator[tuple[Location, Any]]:
    nodes = data.get("nodes") if isinstance(data, dict) else None
    for index, node in enumerate(nodes if isinstance(nodes, list) else ()):
        if not isinstance(node, dict):
            continue
        for key in ("config", "preHook", "postHook"):
            if isinstance(node.get(key), (dict, list)):
                yield ("nodes", index, key), node[key]


def _walk(location: Location, value: Any) -> Iterator[Location]:
    if isinstance(value, dict):
        for key, item in value.items():
            if key == "headersEnv":
                continue
            if is_secret_key(key) and not isinstance(item, bool) and item not in (None, ""):
                yield (*location, key)
            else:
                yield from _walk((*location, key), item)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _walk((*location, index), item)
    elif isinstance(value, str) and location[-1] != "statement" and holds_secret(value):
        yield location


def is_secret_key(key: str) -> bool:
    """Tell whether a key names a secret: `password`, `accessKey`, `aws_secret_access_key`.

    A key that ends in `Env` names the variable that holds one, and is none.
    """
    words = [word.lower() for word in _WORD.findall(key)]
    if not words or words[-1] == "env":
        return False
    pairs = {f"{first} {second}" for first, second in pairwise(words)}
    return not _WORDS.isdisjoint(words) or not _PAIRS.isdisjoint(pairs)


def holds_secret(text: str) -> bool:
    """Tell whether a path or URL carries `user:password@`, or a token among its parameters."""
    if _USER_AND_PASSWORD.fullmatch(text) or _TORN_PASSWORD.fullmatch(text):
        return True
    if "?" not in text or "://" not in text:
        return False
    try:
        parameters = parse_qsl(urlsplit(text).query)
    except ValueError:
        return False
    return any(is_secret_key(key) or key.lower() in _SIGNATURES for key, _ in parameters)
