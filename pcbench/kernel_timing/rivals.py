"""What torch runs for the same as a kernel, and what it is called."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from pcbench_kernels import Kernel
from torch import overrides

from pcbench.strategies import one_line


@dataclass(frozen=True)
class Rival:
    """What is timed beside a kernel.

    Attributes:
        call: Takes the kernel's inputs; None where there is nothing to time.
        words: What it is called, as ``torch.softmax``, or after the function in the kernel's file that calls torch.
        unavailable: Why there is none, or None.
    """

    call: Callable[..., Any] | None
    words: str
    unavailable: str | None


def torchs_own(kernel: Kernel) -> Callable[..., Any] | None:
    """What torch runs for the same as a kernel, in the kernel's own dtype; None where this torch has nothing."""
    return kernel.rival or (None if kernel.reduced else kernel.reference)


def rival_of(name: str, kernel: Kernel, inputs: tuple[Any, ...]) -> Rival:
    """torch's own for a kernel, run once on inputs to see that this GPU has it."""
    call = torchs_own(kernel)
    if call is None:
        return Rival(None, "", "this torch has no kernel for the same")
    try:
        with _Called() as called:
            call(*inputs)
    except torch.OutOfMemoryError:
        raise
    except RuntimeError as error:
        return Rival(None, "", one_line(error))
    return Rival(call, _words(name, call, called.names), None)


def _words(kernel: str, call: Callable[..., Any], called: Iterable[str]) -> str:
    known = overrides.resolve_name(call)
    if known is not None:
        return str(known)
    own = getattr(call, "__name__", "<lambda>")
    return " + ".join(dict.fromkeys(called)) if own == "<lambda>" else f"{kernel}.{own}"


class _Called(overrides.TorchFunctionMode):
    """Keeps the names of the torch functions that are called within it, but for those that torch calls itself."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        name = overrides.resolve_name(func)
        if name is not None and not name.endswith(".__get__"):
            self.names.append(name)
        return func(*args, **(kwargs or {}))
