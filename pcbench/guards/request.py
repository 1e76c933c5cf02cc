"""What a measured process was asked about guards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

BUILDING = "building the model"
"""The stage in which a stranger's code runs."""

Emit = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class Request:
    """What a measured process was asked for.

    Attributes:
        target: A model, as the user calls it, or a guard family; looked up in ``cwd``.
        size: How many guards of its kind a family is to have; of no account to a model.
        sizes: Sizes of a family, for a request that takes several.
        targets: More than one, for a request that takes them: target and size each.
    """

    target: str
    threads: int
    cwd: str
    size: int = 8
    sizes: tuple[int, ...] = ()
    targets: tuple[tuple[str, int], ...] = ()
