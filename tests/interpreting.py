"""Runs kernels in Triton's interpreter, on the CPU: ``TRITON_INTERPRET=1 python tests/interpreting.py KERNEL ...``.

A KERNEL is a name in ``kernels/`` or the path of a file that ends in ``KERNEL``. A JSON line for each run, which is a
small size in a dtype and a layout of the inputs, says how far the outputs are from the reference's of float64 inputs,
and what the programs asked the memory for. A dtype that the interpreter gets wrong has a line with the reason instead.
"""

from __future__ import annotations

import inspect
import json
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from pcbench_kernels import Kernel
from triton.runtime import autotuner, interpreter

from pcbench import discovery
from pcbench.errors import PcbenchError, UsageError

NO_BFLOAT16 = (
    "Triton's interpreter stores bfloat16 as 16-bit integers and computes with those; the kernel does not widen right "
    "after loading"
)
ZERO = 2.0**-40
"""What float64 may make of an answer that is 0: the gradient of a row that is normalised and has one column."""

_COUNTED: dict[str, tuple[str, str | None, tuple[str, ...]]] = {
    "create_masked_load": ("ptrs", "mask", ("load",)),
    "create_masked_store": ("ptrs", "mask", ("store",)),
    "create_atomic_rmw": ("ptr", "mask", ("load", "store")),
    "create_atomic_cas": ("ptr", None, ("load", "store")),
}
_CALL_THOSE = {"create_load", "create_store"} | {
    *(f"create_atomic_{what}" for what in ("load", "store", "poll")),
    *(f"create_descriptor_{what}" for what in ("load", "store", "gather", "scatter")),
}
_TOUCH_NOTHING = {"create_make_tensor_descriptor"}


@dataclass
class Traffic:
    """The bytes that programs asked the memory for since the last :meth:`forget`. What is atomic loads and stores."""

    requested: int = 0
    _elements: dict[tuple[str, int], list[np.ndarray]] = field(default_factory=dict)
    _alive: list[object] = field(default_factory=list)

    def forget(self) -> None:
        self.requested = 0
        self._elements.clear()
        self._alive.clear()

    def ask(self, kind: str, pointers: Any, mask: Any) -> None:
        size = -(-pointers.get_element_ty().primitive_bitwidth // 8)
        asked = pointers.data.ravel()
        if mask is not None:
            asked = asked[np.broadcast_to(mask.data.astype(bool), pointers.data.shape).ravel()]
        self.requested += size * asked.size
        self._elements.setdefault((kind, size), []).append(np.unique(asked))

    def keep(self, arguments: object) -> None:
        """Let nothing that a program was given be freed: another tensor in its place would have its addresses."""
        self._alive.append(arguments)

    def distinct(self) -> int:
        """Bytes that were loaded at least once, and bytes that were stored at least once."""
        return sum(np.unique(np.concatenate(self._addresses(kind))).size for kind in ("load", "store"))

    def _addresses(self, kind: str) -> list[np.ndarray]:
        found = [np.empty(0, np.uint64)]
        for (of, size), parts in self._elements.items():
            if of == kind:
                elements = np.unique(np.concatenate(parts)).astype(np.uint64)
                found.append((elements[:, None] + np.arange(size, dtype=np.uint64)).ravel())
        return found


def counted() -> Traffic:
    """Count the traffic of whatever is interpreted in this process from now on.

    Raises:
        PcbenchError: This Triton's interpreter has a way to the memory that would not be counted.
    """
    builder, traffic = interpreter.InterpreterBuilder, Traffic()
    ways = {name for name in dir(builder) if any(word in name for word in ("load", "store", "atomic", "descriptor"))}
    if unknown := sorted(ways - _COUNTED.keys() - _CALL_THOSE - _TOUCH_NOTHING):
        raise PcbenchError(
            f"nothing counts what {', '.join(unknown)} of Triton's interpreter asks the memory for",
            hint=f"say in {Path(__file__).name} how to count it, or that it calls what is counted",
        )
    for name, (pointers, mask, kinds) in _COUNTED.items():
        setattr(builder, name, _asking(traffic, getattr(builder, name), pointers, mask, kinds))
    run = interpreter.InterpretedFunction.run

    def kept(self: Any, *args: Any, **kwargs: Any) -> None:
        traffic.keep((args, kwargs))
        run(self, *args, **kwargs)

    interpreter.InterpretedFunction.run = kept
    return traffic


def _asking(
    traffic: Traffic, run: Callable[..., Any], pointers: str, mask: str | None, kinds: tuple[str, ...]
) -> Callable[..., Any]:
    signature = inspect.signature(run)

    def asked(*args: Any, **kwargs: Any) -> Any:
        given = signature.bind(*args, **kwargs).arguments
        for kind in kinds:
            traffic.ask(kind, given[pointers], None if mask is None else given[mask])
        return run(*args, **kwargs)

    return asked


def run_first_configurations() -> None:
    """Let a kernel with ``triton.autotune`` run its first configuration: to choose, Triton needs a driver of a GPU."""
    run = autotuner.Autotuner.run

    def run_first(self: Any, *args: Any, **kwargs: Any) -> Any:
        self.configs = self.configs[:1]
        return run(self, *args, **kwargs)

    autotuner.Autotuner.run = run_first


def every_second_column(tensor: torch.Tensor) -> torch.Tensor:
    """A view of the same values in a tensor of twice as many columns, the others of which are wrong: NaN, or 0."""
    wrong = float("nan") if tensor.is_floating_point() else 0
    wide = torch.full((*tensor.shape[:-1], 2 * tensor.shape[-1]), wrong, dtype=tensor.dtype)
    wide[..., ::2] = tensor
    return wide[..., ::2]


def transposed(tensor: torch.Tensor) -> torch.Tensor:
    """A view of the same values that lies column by column."""
    return tensor.mT.contiguous().mT


LAYOUTS: dict[str, tuple[int, Callable[[torch.Tensor], torch.Tensor]]] = {
    "contiguous": (0, torch.clone),
    "every second column": (1, every_second_column),
    "transposed": (2, transposed),
}
"""What is done to inputs with at least so many dimensions; the others are cloned."""


def laid_out(layout: str, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    dimensions, view = LAYOUTS[layout]
    return tuple(
        (view(each) if each.dim() >= dimensions else each.clone()) if isinstance(each, torch.Tensor) else each
        for each in inputs
    )


def tensors(values: Any) -> list[torch.Tensor]:
    return [each for each in (values if isinstance(values, tuple) else (values,)) if isinstance(each, torch.Tensor)]


def dtypes(kernel: Kernel) -> tuple[torch.dtype, ...]:
    return kernel.dtypes if kernel.reduced else (torch.float32, torch.float16, torch.bfloat16)


def runs(kernel: Kernel, traffic: Traffic) -> Iterator[dict[str, Any]]:
    """What is to be said of each dtype, small size and layout."""
    for dtype in dtypes(kernel):
        if dtype == torch.bfloat16 and not kernel.widens:
            yield {"dtype": named(dtype), "skipped": NO_BFLOAT16}
            continue
        for sizes in kernel.small:
            inputs = kernel.inputs(sizes, dtype, "cpu")
            most = max(each.dim() for each in tensors(inputs))
            for layout in (layout for layout, (least, _) in LAYOUTS.items() if least <= most):
                traffic.forget()
                said = {"dtype": named(dtype), "sizes": dict(sizes), "layout": layout}
                said |= agreement(kernel, inputs, laid_out(layout, inputs))
                if layout == "contiguous" and all(each.numel() for each in tensors(inputs)):
                    said["traffic"] = [
                        ("distinct bytes", traffic.distinct(), "bytes_moved", kernel.bytes_moved(sizes, dtype)),
                        ("bytes asked for", traffic.requested, "bytes_requested", kernel.bytes_requested(sizes, dtype)),
                    ]
                yield said


def agreement(kernel: Kernel, inputs: tuple[Any, ...], given: tuple[Any, ...]) -> dict[str, Any]:
    """Launch on ``given``, which has the values of ``inputs``; say how its outputs differ from the reference's."""
    exact = inputs if kernel.reduced else tuple(widened(each) for each in inputs)
    # torch.empty gives NaN meanwhile: what a kernel leaves unwritten shows.
    torch.set_deterministic_debug_mode("warn")
    got = tensors(kernel.launch(*given))
    torch.set_deterministic_debug_mode("default")
    wanted, alike = tensors(kernel.reference(*exact)), tensors(kernel.reference(*inputs))
    before, after = tensors(inputs), tensors(given)
    most = max(each.dim() for each in before)
    outputs = []
    for found, answer, own in zip(got, wanted, alike, strict=True):
        narrow = {own.dtype} if own.dim() == most else {own.dtype, torch.float32}
        outputs.append(output(found, answer) | {"dtypes": None if kernel.reduced else sorted(map(named, narrow))})
    changed = [i for i, pair in enumerate(zip(before, after, strict=True)) if not same(*pair)]
    return {"outputs": outputs, "changed": changed}


def named(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def widened(value: Any) -> Any:
    return value.double() if isinstance(value, torch.Tensor) and value.is_floating_point() else value


def same(first: torch.Tensor, second: torch.Tensor) -> bool:
    one, other = (torch.empty(each.shape, dtype=each.dtype).copy_(each) for each in (first, second))
    return torch.equal(one.flatten().view(torch.uint8), other.flatten().view(torch.uint8))


def output(got: torch.Tensor, wanted: torch.Tensor) -> dict[str, Any]:
    """An output beside the float64 answer; the error is of the answer's largest value, but as it is where that is 0."""
    said = {"dtype": named(got.dtype), "shape": list(got.shape), "wanted_shape": list(wanted.shape)}
    if got.shape != wanted.shape:
        return said
    difference, scale = (got.double() - wanted.double()).abs(), wanted.double().abs()
    largest, off = (float(each.max()) if each.numel() else 0.0 for each in (scale, difference))
    return said | {"nans": int(got.double().isnan().sum()), "error": off / largest if largest > ZERO else off}


def main(*kernels: str) -> None:
    if os.environ.get("TRITON_INTERPRET") != "1":
        raise UsageError("triton was imported to compile", hint="start this with TRITON_INTERPRET=1 in the environment")
    traffic = counted()
    run_first_configurations()
    for each in kernels:
        kernel = (
            discovery.load_file(Path(each), "KERNEL", Kernel)
            if each.endswith(".py")
            else discovery.load("pcbench_kernels", each, "KERNEL", Kernel)
        )
        for said in runs(kernel, traffic):
            print(json.dumps({"kernel": each} | said), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
