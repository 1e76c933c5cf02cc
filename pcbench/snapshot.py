"""Put back what a capture may change: weights, buffers, gradients, training flags, random state."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import torch
from torch import nn

from pcbench import pytrees, torch_api


@contextmanager
def without_gradients(tensors: Iterable[torch.Tensor]) -> Iterator[None]:
    """Run the body with ``grad`` None on every leaf, then put the same gradient objects back."""
    grads = [(tensor, tensor.grad) for tensor in tensors if tensor.is_leaf]
    for tensor, _ in grads:
        tensor.grad = None
    try:
        yield
    finally:
        for tensor, grad in grads:
            tensor.grad = grad


@contextmanager
def preserved(*inputs: object) -> Iterator[None]:
    """Run the body, then give modules and tensors among ``inputs`` the values, gradients and flags they had before.

    Costs one copy of their data while the body runs. Values are written back in place, so that identities stay; a
    tensor that did not change is not touched. Python's, torch's CPU and CUDA random states are put back too. Sparse and
    meta tensors, whose values cannot be compared, are left as the body leaves them.
    """
    leaves = torch_api.get("pytree").tree_leaves(inputs)
    modules = [part for value in leaves if isinstance(value, nn.Module) for part in value.modules()]
    named = [(m, *pair) for m in modules for pair in (*m.named_parameters("", False), *m.named_buffers("", False))]
    held = [tensor for _, _, tensor in named] + pytrees.tensors([v for v in leaves if not isinstance(v, nn.Module)])
    held = [t for t in held if t.layout is torch.strided and not t.is_meta]
    before = [(tensor, tensor.detach().clone(), tensor.requires_grad) for tensor in held]
    training = [(module, module.training) for module in modules]
    python_state, torch_state = random.getstate(), torch.get_rng_state()
    cuda_states = torch.cuda.get_rng_state_all() if torch.cuda.is_available() else []
    try:
        with without_gradients(held):
            yield
    finally:
        random.setstate(python_state)
        torch.set_rng_state(torch_state)
        if cuda_states:
            torch.cuda.set_rng_state_all(cuda_states)
        for module, flag in training:
            module.training = flag
        for module, name, tensor in named:
            if getattr(module, name, None) is not tensor:
                setattr(module, name, tensor)
        with torch.no_grad():
            for tensor, value, requires_grad in before:
                # Not by version: batch norm updates its running statistics without raising theirs.
                if not _same(tensor, value):
                    tensor.copy_(value)
                if tensor.is_leaf:
                    tensor.requires_grad_(requires_grad)


def _same(left: torch.Tensor, right: torch.Tensor) -> bool:
    """Whether values are equal; not a number is equal to itself."""
    if torch.equal(left, right):
        return True
    if left.shape != right.shape or not (left.is_floating_point() or left.is_complex()):
        return False
    return bool(((left == right) | (left.isnan() & right.isnan())).all())
