"""Whether a kernel's outputs are right: near the answer in float64, as torch's own kernel is in the same dtype.

Two errors count. The largest difference from the answer, of the answer's largest value, shows one element far off; the
root mean square of the differences, of the answer's own, shows many that are a little off each.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from pcbench_kernels import Kernel

from pcbench.errors import PcbenchError, UnavailableError
from pcbench.kernel_timing.rotation import tensors
from pcbench.status import Status

_TIMES_TORCH = 4.0
_MOST_OF_TORCH = 0.1
"""An error of torch's own beyond this is none of rounding: what it runs is not the same."""
_SUMMED = 16 * 2.0**-23
"""Sums in float32 in another order than torch's are apart by that much where torch's happen to be exact."""
_ZERO = 2.0**-40
"""An answer no larger is what float64 makes of 0: its error counts as it is."""


class WrongResultError(PcbenchError):
    """A kernel's answer is not the reference's, so that it has no time."""

    status = Status.WRONG_RESULT


@dataclass(frozen=True)
class Error:
    """How far an output is from the answer, NaN infinitely; or how far it may be.

    Attributes:
        largest: The largest difference, of the answer's largest value.
        rms: The root mean square of the differences, of the answer's.
    """

    largest: float
    rms: float


def require(
    kernel: Kernel,
    sets: Sequence[tuple[Any, ...]],
    outputs: Sequence[Any],
    rival: Callable[..., Any] | None,
    when: str,
) -> list[tuple[Error, ...]]:
    """Return torch's own errors, by set of inputs, if the outputs of each set are right.

    Torch's own is the reference in the kernel's dtype: a rival need not give the same, as that of dropout does not.

    Args:
        rival: What torch runs for a kernel whose reference cannot be run in its own dtype; None where nothing does.
        when: For the error: when the outputs were made.

    Raises:
        WrongResultError: They are not; it says the error that is furthest beyond what would be right.
    """
    own = rival if kernel.reduced else kernel.reference
    own_errors: list[tuple[Error, ...]] = []
    wrong: list[tuple[float, str]] = []
    for number, (inputs, found) in enumerate(zip(sets, outputs, strict=True)):
        answers = _answers(kernel, inputs)
        given = () if own is None else tensors(own(*inputs))
        own_errors.append(tuple(_error(output, answer) for output, answer in zip(given, answers, strict=False)))
        wrong += _wrong(number, tensors(found), answers, own_errors[-1], when)
    _raise_worst(wrong, when)
    return own_errors


def require_again(
    kernel: Kernel,
    sets: Sequence[tuple[Any, ...]],
    outputs: Sequence[Any],
    own_errors: Sequence[tuple[Error, ...]],
    when: str,
) -> None:
    """Return if later outputs of the same sets are right as well.

    Raises:
        WrongResultError: As from :func:`require`, which gave ``own_errors``.
    """
    wrong: list[tuple[float, str]] = []
    for number, (inputs, found, own) in enumerate(zip(sets, outputs, own_errors, strict=True)):
        wrong += _wrong(number, tensors(found), _answers(kernel, inputs), own, when)
    _raise_worst(wrong, when)


def _wrong(
    number: int, got: list[torch.Tensor], answers: list[torch.Tensor], own: tuple[Error, ...], when: str
) -> Iterator[tuple[float, str]]:
    """Each error that is too large, with how many times what would be right it is."""
    if not answers:
        raise WrongResultError(f"{when}, there is no tensor that its answer could be compared with")
    if len(got) != len(answers):
        raise WrongResultError(f"{when}, it gave {len(got)} outputs, not {len(answers)}")
    for index, (output, answer) in enumerate(zip(got, answers, strict=True)):
        if output.shape != answer.shape:
            raise WrongResultError(
                f"{when}, output {index} has the shape {list(output.shape)}, not {list(answer.shape)}"
            )
        if not answer.isfinite().all():
            raise UnavailableError(f"the reference's output {index} of input set {number} is not finite: choose others")
        error, most = _error(output, answer), _most(output.dtype, own[index] if index < len(own) else None)
        for off, limit, of in (
            (error.largest, most.largest, "largest value"),
            (error.rms, most.rms, "root mean square"),
        ):
            if not off <= limit:
                which = f"output {index} of input set {number}"
                yield (
                    off / limit if limit else math.inf,
                    f"{which} is off by {off:.2g} of the answer's {of}; {limit:.2g} would be right",
                )


def _raise_worst(wrong: Iterable[tuple[float, str]], when: str) -> None:
    worst = max(wrong, default=None)
    if worst is not None:
        raise WrongResultError(f"{when}, {worst[1]}")


def _most(dtype: torch.dtype, own: Error | None) -> Error:
    if not dtype.is_floating_point:
        return Error(0.0, 0.0)
    rounding = torch.finfo(dtype).eps
    if own is None:
        return Error(_SUMMED + rounding, _SUMMED + rounding)
    largest, rms = min(own.largest, _MOST_OF_TORCH), min(own.rms, _MOST_OF_TORCH)
    # Torch's own rounds as much as the kernel does; but to one element chance may have been kinder.
    return Error(_TIMES_TORCH * largest + _SUMMED + rounding, _TIMES_TORCH * rms + _SUMMED)


def _answers(kernel: Kernel, inputs: tuple[Any, ...]) -> list[torch.Tensor]:
    exact = inputs if kernel.reduced else tuple(map(_widened, inputs))
    return tensors(kernel.reference(*exact))


def _widened(value: Any) -> Any:
    return value.double() if torch.is_tensor(value) and value.is_floating_point() else value


def _error(found: torch.Tensor, answer: torch.Tensor) -> Error:
    if not answer.numel():
        return Error(0.0, 0.0)
    wanted = answer.double()
    off = (found.double() - wanted).abs_().nan_to_num_(nan=float("inf"))
    largest, rms = wanted.abs().max().item(), _rms(wanted)
    if largest <= _ZERO:
        largest = rms = 1.0
    return Error(off.max().item() / largest, _rms(off) / rms)


def _rms(tensor: torch.Tensor) -> float:
    return float(torch.linalg.vector_norm(tensor).item()) / math.sqrt(tensor.numel())
