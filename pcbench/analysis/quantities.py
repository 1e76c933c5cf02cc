"""Seconds, bytes and counts as people read them: three significant digits and a unit."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pcbench.analysis.spread import Spread

_SECONDS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))
_BYTES = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B"))


def seconds(value: float) -> str:
    """``1.23 s``, ``456 ms``, ``7.89 us``."""
    return quantity(value, "seconds")


def size(value: float) -> str:
    """``1.23 MB``; a megabyte is a million bytes."""
    return quantity(value, "bytes")


def quantity(value: float, unit: str) -> str:
    """A value of a unit that asv knows; ``seconds`` and ``bytes`` get the prefix that suits them."""
    scale, symbol = scale_of(value, unit)
    return f"{digits(value / scale)} {symbol}".rstrip()


def scale_of(value: float, unit: str) -> tuple[float, str]:
    """What to divide by, and the symbol of the result, so that ``value`` reads well."""
    steps = {"seconds": _SECONDS, "bytes": _BYTES}.get(unit)
    if steps is None:
        return 1.0, unit
    # 0.9995 of a step already shows as 1.00 of it, not as 1000 of the next smaller.
    return next((step for step in steps if abs(value) >= 0.9995 * step[0]), steps[-1] if value else steps[0])


def digits(value: float) -> str:
    """Three significant digits, thousands separated; a whole number below a million as it is."""
    if value == int(value) and abs(value) < 1e6:
        return f"{int(value):,}"
    magnitude = math.floor(math.log10(abs(value)))
    rounded = round(value, 2 - magnitude)
    return f"{rounded:,.{max(0, 2 - math.floor(math.log10(abs(rounded))))}f}"


def counted(count: int, noun: str, plural: str = "") -> str:
    """``1 case``, ``2 cases``, ``3 strategies`` with a plural of its own."""
    return f"{digits(count)} {noun if count == 1 else plural or noun + 's'}"


def listed(names: Sequence[str]) -> str:
    """``a, b and c``; at least one name."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def with_spread(spread: Spread, unit: str) -> str:
    """``2.60 s (2.45-2.75, n=5)``; a single sample as ``2.60 s (n=1)``."""
    if spread.n == 1:
        return f"{quantity(spread.median, unit)} (n=1)"
    scale, symbol = scale_of(spread.median, unit)
    low, middle, high = (digits(value / scale) for value in (spread.low, spread.median, spread.high))
    return f"{middle} {symbol} ({low}-{high}, n={spread.n})"
