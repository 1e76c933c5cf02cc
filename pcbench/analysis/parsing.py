"""JSON from a file, checked where it is taken apart: what is wrong is a sentence, never a traceback."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TypeVar

from pcbench.errors import ResultsError

T = TypeVar("T")

_NAMES = {dict: "an object", list: "a list", str: "a text", int: "a whole number", type(None): "null"}


def load_json(text: str) -> object:
    """The JSON value, with the NaN and Infinity that asv writes.

    Raises:
        ResultsError: It is not JSON.
    """
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError) as error:  # ValueError: also an integer of too many digits
        raise ResultsError(f"is not JSON: {error}" if text.strip() else "is empty") from error
    return value


def read_text(path: Path) -> str:
    """The file's text.

    Raises:
        ResultsError: It cannot be read.
    """
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise ResultsError(f"cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ResultsError("is not text") from error


def expect(value: object, kind: type[T], what: str) -> T:
    """``value`` if it is a ``kind``.

    Raises:
        ResultsError: It is not.
    """
    if isinstance(value, kind):
        return value
    found = _NAMES.get(type(value), f"a {type(value).__name__}")
    raise ResultsError(f"{what} is {found}, not {_NAMES.get(kind, kind.__name__)}")


def optional(value: object, kind: type[T], what: str) -> T | None:
    """``value`` if it is a ``kind`` or null.

    Raises:
        ResultsError: It is neither.
    """
    return None if value is None else expect(value, kind, what)
