"""How a family makes one guard refuse: one attribute of what its function looks at is another one for a while."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def changed(holder: object, attribute: str, value: object, args: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """Inside, the attribute has this value; the args of the call are handed over as they are."""
    before = getattr(holder, attribute)
    setattr(holder, attribute, value)
    try:
        yield args
    finally:
        setattr(holder, attribute, before)
