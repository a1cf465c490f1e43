"""JSON documents: one array of objects, one object, or a longer document that holds them.

`recordsPath` says where the records stand: `data.items`, or the JSON pointer `/data/items` where a
key holds a dot. Its steps are keys of objects. A document is read in pieces, so an array may be of
any size; what is not an element of it, and each element, may be up to `LONGEST_VALUE` characters.
A document that is no JSON is refused as a whole, since nothing in it can be trusted; its elements
are then judged one by one like the lines of a jsonl file.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from kaireon_dagster.sources.faults import FileBroken
from kaireon_dagster.sources.json_part import LinesPart, flatten
from kaireon_dagster.sources.unpack import Ready

LONGEST_VALUE: Final = 64 << 20
_CHUNK: Final = 1 << 20
_BLANK: Final = re.compile(r"[ \t\r\n]*")


@dataclass(frozen=True, slots=True)
class Element:
    """One record of a document: its text, and the physical line in which it begins."""

    line: int
    text: str


@dataclass(slots=True)
class DocumentPart(LinesPart):
    """One document, rewritten as lines in `path`."""

    records_path: str | None = None

    def places(self) -> Iterator[tuple[int, bytes]]:
        """Yield every record as it stands in the document, and its line there."""
        for element in walk_document(self.ready, self.records_path):
            yield element.line, element.text.encode("utf-8")


def split_document(ready: Ready, path: Path, records_path: str | None) -> DocumentPart:
    """Rewrite a document as one record per line.

    Raises:
        FileBroken: when the document is no JSON, or has no records where they are looked for.
    """
    with path.open("wb") as lines:
        for element in walk_document(ready, records_path):
            lines.write(flatten(element.text.encode("utf-8")) + b"\n")
    return DocumentPart(ready, path, is_clean=True, records_path=records_path)


def walk_document(ready: Ready, records_path: str | None) -> Iterator[Element]:
    """Yield the records of a document, and check what stands around them."""
    with ready.path.open("rb") as file:
        reader = _Reader(file, ready.file.label)
        if reader.peek() == "":
            return
        yield from _descend(reader, _steps(records_path), records_path)
        if reader.peek() != "":
            reader.fail("text after the end of the document")


def _steps(records_path: str | None) -> list[str]:
    if not records_path:
        return []
    if not records_path.startswith("/"):
        return records_path.split(".")
    steps = records_path[1:].split("/")
    return [step.replace("~1", "/").replace("~0", "~") for step in steps]


def _descend(reader: _Reader, steps: list[str], records_path: str | None) -> Iterator[Element]:
    if not steps:
        yield from _records(reader)
        return
    if reader.peek() != "{":
        reader.fail(f"recordsPath {records_path!r} needs an object with the key {steps[0]!r}")
    was_found = False
    for key in _members(reader):
        if key != steps[0]:
            reader.value()
        elif was_found:
            reader.fail(f"the key {key!r} of recordsPath occurs twice")
        else:
            was_found = True
            yield from _descend(reader, steps[1:], records_path)
    if not was_found:
        reader.fail(f"recordsPath {records_path!r} needs the key {steps[0]!r}; it is not there")


def _records(reader: _Reader) -> Iterator[Element]:
    found = reader.peek()
    if found == "{":
        yield reader.value()
    elif found == "[":
        yield from _elements(reader)
    else:
        reader.fail("neither an array of objects nor an object")


def _elements(reader: _Reader) -> Iterator[Element]:
    reader.take("[")
    if reader.peek() == "]":
        reader.take("]")
        return
    while True:
        yield reader.value()
        if reader.peek() == "]":
            reader.take("]")
            return
        reader.take(",")


def _members(reader: _Reader) -> Iterator[str]:
    """Yield the keys of an object; the value must be read before the next is asked for."""
    reader.take("{")
    if reader.peek() == "}":
        reader.take("}")
        return
    while True:
        if reader.peek() != '"':
            reader.fail("a key is missing")
        key = json.loads(reader.value().text)
        reader.take(":")
        yield key
        if reader.peek() == "}":
            reader.take("}")
            return
        reader.take(",")


class _Reader:
    """Reads JSON values out of a stream of text."""

    def __init__(self, file: BinaryIO, label: str) -> None:
        self._file = file
        self._label = label
        self._decode = codecs.getincrementaldecoder("utf-8-sig")("strict").decode
        self._scan = json.JSONDecoder(parse_int=str, parse_float=str).raw_decode
        self._text = ""
        self._place = 0
        self._line = 1
        self._is_last = False

    def peek(self) -> str:
        """Give the next character that is not blank; empty at the end."""
        while True:
            blank = _BLANK.match(self._text, self._place)
            self._pass(self._place if blank is None else blank.end())
            if self._place < len(self._text) or self._is_last:
                return self._text[self._place : self._place + 1]
            self._fill()

    def take(self, mark: str) -> None:
        """Pass over one expected character."""
        found = self.peek()
        if found != mark:
            self.fail(f"{mark!r} is missing" if found else "the document is cut off")
        self._place += 1

    def value(self) -> Element:
        """Read one value of any kind."""
        self.peek()
        line = self._line
        while True:
            end = self._find_end()
            if end is not None:
                text = self._text[self._place : end]
                self._pass(end)
                return Element(line, text)
            if self._is_last:
                self.fail("the document is cut off, or no JSON")
            if len(self._text) - self._place > LONGEST_VALUE:
                self.fail(f"a value of more than {LONGEST_VALUE >> 20} Mi characters")
            self._fill()

    def fail(self, cause: str) -> None:
        """Refuse the document, at the line that was reached."""
        raise FileBroken(self._label, cause, self._line)

    def _find_end(self) -> int | None:
        """Where the next value ends; None when more text is needed to know."""
        try:
            _, end = self._scan(self._text, self._place)
        except RecursionError:
            self.fail("JSON that is nested too deeply")
        except json.JSONDecodeError as error:
            # A fault well inside the text will not be mended by what follows.
            if len(self._text) - error.pos > _CHUNK and "Unterminated" not in error.msg:
                self._pass(error.pos)
                self.fail("not JSON")
            return None
        is_whole = end < len(self._text) or self._is_last or self._text[end - 1] in '"]}'
        return end if is_whole else None

    def _pass(self, place: int) -> None:
        # A CR LF counts once, a lone CR too.
        passed = self._text[self._place : place]
        returns = passed.count("\r")
        self._line += passed.count("\n")
        if returns:
            follows = self._text[place : place + 1] == "\n" and passed.endswith("\r")
            self._line += returns - passed.count("\r\n") - follows
        self._place = place

    def _fill(self) -> None:
        size = max(_CHUNK, len(self._text) - self._place)
        data = self._file.read(size)
        try:
            more = self._decode(data, final=not data)
        except UnicodeDecodeError:
            self.fail("bytes that are not UTF-8; declare formatOptions.encoding")
        self._text = self._text[self._place :] + more
        self._place = 0
        self._is_last = not data
