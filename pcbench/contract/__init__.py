"""What PyTorch's documents promise of persisted, compiled models, as claims that a small program can find broken.

Each module here takes part of a document and names it: ``DOCUMENT = "load_compiled_function"``. Each public function of
such a module is a claim, in the order of the document. Its docstring is the claim, in our own words and one paragraph;
its body is the program, run in a process of its own with torch imported. It returns the evidence that the claim holds,
one line, raises :class:`DiffersError` with what happened instead, or
:class:`pcbench.errors.UnavailableError` with what this torch lacks. Anything else that it raises is a crash: nothing is
known of the claim then.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from contextlib import contextmanager

from pcbench.errors import PcbenchError
from pcbench.strategies import one_line


class DiffersError(PcbenchError):
    """A claim does not hold; the problem is what happened instead."""


def expect(holds: bool, otherwise: str) -> None:
    """Go on where the claim holds so far.

    Raises:
        DiffersError: It does not; ``otherwise`` says what happened.
    """
    if not holds:
        raise DiffersError(otherwise)


def said(error: BaseException) -> str:
    """An error as one line; where its first line opens a bracket, with what is in it."""
    line = one_line(error)
    if line.endswith("("):
        return textwrap.shorten(f"{type(error).__name__}: {error}", 200, placeholder=" ...")
    return line


@contextmanager
def promised(what: str) -> Iterator[None]:
    """A body that the document says works: what it raises is how the claim differs.

    Raises:
        DiffersError: The body raised.
    """
    try:
        yield
    except PcbenchError:
        raise
    except Exception as error:  # torch may raise anything where a promise is broken
        raise DiffersError(f"{what} raised {said(error)}") from error


@contextmanager
def refused(what: str, *kinds: type[BaseException], saying: str = "") -> Iterator[list[BaseException]]:
    """A body that the document says is refused with an error of one of ``kinds`` that says ``saying``.

    Gives a list that holds the error afterwards.

    Raises:
        DiffersError: It was not refused, or otherwise.
    """
    caught: list[BaseException] = []
    try:
        yield caught
    except PcbenchError:
        raise
    except Exception as error:  # torch may raise anything where a promise is broken
        if kinds and not isinstance(error, kinds):
            raise DiffersError(f"{what} was refused by another error: {said(error)}") from error
        expect(saying in str(error), f"{what} was refused in other words: {said(error)}")
        caught.append(error)
    else:
        raise DiffersError(f"{what} was not refused")
