"""Whether two answers are the same, and whether two processes built the same model."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from pcbench import pytrees, torch_api
from pcbench.errors import UsageError

# Largest error that reordered sums explain, relative to a value and to the tensor's typical magnitude together; tensors
# of other dtypes must be equal.
TOLERANCE = {
    torch.float64: 1e-9,
    torch.complex128: 1e-9,
    torch.float32: 1e-4,
    torch.complex64: 1e-4,
    torch.float16: 5e-3,
    torch.bfloat16: 4e-2,
}

Gradients = Mapping[str, torch.Tensor | None]
"""The gradient of each parameter by name; None where there is none."""


def difference(expected: Any, actual: Any) -> str | None:
    """None when ``actual`` is the same answer as ``expected``, else what differs: structure, shape, dtype or values."""
    pytree = torch_api.get("pytree")
    then, now = pytree.tree_structure(expected), pytree.tree_structure(actual)
    if then != now or type(expected) is not type(actual):
        return f"the output's structure is {type(actual).__name__} {now}, eager's is {type(expected).__name__} {then}"
    for index, (left, right) in enumerate(zip(pytree.tree_leaves(expected), pytree.tree_leaves(actual), strict=True)):
        if isinstance(left, torch.Tensor) and isinstance(right, torch.Tensor):
            differs = _tensor_difference(left, right)
        else:
            differs = None if _same(left, right) else f"is {right!r:.60}, eager's is {left!r:.60}"
        if differs is not None:
            return f"output {index} {differs}"
    return None


def _same(left: Any, right: Any) -> bool:
    if isinstance(left, float) and isinstance(right, float):
        return math.isclose(left, right, rel_tol=TOLERANCE[torch.float32]) or (math.isnan(left) and math.isnan(right))
    return type(left) is type(right) and bool(left == right)


def _tensor_difference(left: torch.Tensor, right: torch.Tensor) -> str | None:
    if (left.shape, left.dtype) != (right.shape, right.dtype):
        return f"is {right.dtype}{list(right.shape)}, eager's is {left.dtype}{list(left.shape)}"
    if left.device != right.device:
        return f"is on {right.device}, eager's is on {left.device}"
    if not left.numel() or _close(left, right):
        return None
    error = (_real(left) - _real(right)).abs().nan_to_num(nan=math.inf).max().item()
    return f"differs from eager's by up to {error:.3g}"


def _real(tensor: torch.Tensor) -> torch.Tensor:
    plain = tensor.detach()
    return (torch.view_as_real(plain.resolve_conj()) if plain.is_complex() else plain).double()


def _close(left: torch.Tensor, right: torch.Tensor) -> bool:
    tolerance = TOLERANCE.get(left.dtype)
    if tolerance is None:
        return torch.equal(left, right)
    left, right = _real(left), _real(right)
    finite = left.isfinite()
    if not torch.equal(finite, right.isfinite()) or not torch.equal(
        left[~finite].nan_to_num(nan=0.5), right[~finite].nan_to_num(nan=0.5)
    ):
        return False
    left, right = left[finite], right[finite]
    nonzero = left[left != 0].abs()
    typical = nonzero.median() if nonzero.numel() else left.new_zeros(())
    return bool(((left - right).abs() <= tolerance * (left.abs() + typical)).all())


def take_gradients(model: nn.Module) -> Gradients:
    """The gradients of the model's parameters by name; the model is left without."""
    taken = {name: parameter.grad for name, parameter in model.named_parameters()}
    model.zero_grad(set_to_none=True)
    return taken


def gradient_difference(expected: Gradients, actual: Gradients) -> str | None:
    """None when both are the same gradients, else the first parameter's whose gradient differs, and how."""
    for name, left in expected.items():
        right = actual.get(name)
        if left is None and right is None:
            continue
        if right is None:
            return f"the gradient of {name} is missing, eager's is there"
        differs = "is there, eager's is not" if left is None else _tensor_difference(left, right)
        if differs is not None:
            return f"the gradient of {name} {differs}"
    return None


def require_tensors(output: Any) -> None:
    """Check that a model's output can be compared.

    Raises:
        UsageError: It holds no tensor.
    """
    if not pytrees.tensors(output):
        raise UsageError(
            f"the model's output, a {type(output).__name__}, holds no tensor, so no answer can be checked",
            hint="return a tensor, or a tuple, dict or dataclass of tensors",
        )


def fingerprint(model: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """SHA-256 of names, dtypes, shapes and bytes of weights, buffers and inputs."""
    digest = hashlib.sha256()
    state = [*model.named_parameters(), *model.named_buffers()]
    inputs = [(f"input {i}", t) for i, t in enumerate(pytrees.tensors((args, kwargs)))]
    for name, tensor in [*state, *inputs]:
        digest.update(f"{name} {tensor.dtype} {list(tensor.shape)}".encode())
        data = tensor.detach().cpu().resolve_conj().resolve_neg().contiguous()
        if data.numel():
            digest.update(data.flatten().view(torch.uint8).numpy().data)
    return digest.hexdigest()
