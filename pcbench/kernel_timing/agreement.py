"""Whether a kernel's outputs are right: near the answer in float64, as torch's own kernel is in the same dtype.

An error is the largest difference from the answer, of the answer's largest value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from pcbench_kernels import Kernel

from pcbench.errors import PcbenchError
from pcbench.kernel_timing.rotation import tensors
from pcbench.status import Status

_TIMES_TORCH = 4.0
_SUMMED = 16 * 2.0**-23
"""Sums in float32 in another order than torch's are apart by that much where torch's happen to be exact."""
_ZERO = 2.0**-40
"""An answer no larger is what float64 makes of 0: its error counts as it is."""


class WrongResultError(PcbenchError):
    """A kernel's answer is not the reference's, so that it has no time."""

    status = Status.WRONG_RESULT


def torch_errors(kernel: Kernel, inputs: tuple[Any, ...], rival: Callable[..., Any] | None) -> tuple[float, ...]:
    """The error of each output of torch's own kernel for the same, as far as there is one to compare.

    Args:
        rival: What torch runs for a kernel whose reference cannot be run in its own dtype.
    """
    own = rival if kernel.reduced else kernel.reference
    if own is None:
        return ()
    answers = _answers(kernel, inputs)
    return tuple(_error(found, answer) for found, answer in zip(tensors(own(*inputs)), answers, strict=False))


def require(
    kernel: Kernel,
    sets: Sequence[tuple[Any, ...]],
    outputs: Sequence[Any],
    own_errors: Sequence[tuple[float, ...]],
    when: str,
) -> None:
    """Return if the outputs of each set of inputs are right.

    Args:
        own_errors: torch's own, by set.
        when: For the error: when the outputs were made.

    Raises:
        WrongResultError: They are not; it says the largest error.
    """
    wrong = []
    for number, (inputs, found, own) in enumerate(zip(sets, outputs, own_errors, strict=True)):
        answers, got = _answers(kernel, inputs), tensors(found)
        if len(got) != len(answers):
            raise WrongResultError(f"{when}, it gave {len(got)} outputs, not {len(answers)}")
        for index, (output, answer) in enumerate(zip(got, answers, strict=True)):
            if output.shape != answer.shape:
                raise WrongResultError(
                    f"{when}, output {index} has the shape {list(output.shape)}, not {list(answer.shape)}"
                )
            error, limit = _error(output, answer), _limit(output.dtype, own[index] if index < len(own) else 0.0)
            if not error <= limit:
                wrong.append((error, f"output {index} of input set {number}", limit))
    if wrong:
        error, which, limit = max(wrong)
        raise WrongResultError(
            f"{when}, {which} is off by {error:.2g} of the answer's largest value; {limit:.2g} would be right"
        )


def _limit(dtype: torch.dtype, own_error: float) -> float:
    rounding = torch.finfo(dtype).eps if dtype.is_floating_point else 0.0
    return _TIMES_TORCH * own_error + _SUMMED + rounding


def _answers(kernel: Kernel, inputs: tuple[Any, ...]) -> list[torch.Tensor]:
    exact = inputs if kernel.reduced else tuple(map(_widened, inputs))
    return tensors(kernel.reference(*exact))


def _widened(value: Any) -> Any:
    return value.double() if torch.is_tensor(value) and value.is_floating_point() else value


def _error(found: torch.Tensor, answer: torch.Tensor) -> float:
    """NaN counts as infinitely far."""
    if not answer.numel():
        return 0.0
    off = (found.double() - answer.double()).abs_().nan_to_num_(nan=float("inf")).max().item()
    largest = answer.double().abs().max().item()
    return off / largest if largest > _ZERO else off
