"""Put back what a capture may change: weights, buffers, gradients, training flags, random state."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn

from pcbench import pytrees


@contextmanager
def preserved(*inputs: object) -> Iterator[None]:
    """Run the body, then give modules and tensors among ``inputs`` the values, gradients and flags they had before.

    Costs one copy of their data while the body runs. Values are written back in place, so that identities stay; a
    tensor that did not change is not touched. Python's, torch's CPU and CUDA random states are put back too.
    """
    modules = [part for value in inputs if isinstance(value, nn.Module) for part in value.modules()]
    held = [t for module in modules for t in (*module.parameters(recurse=False), *module.buffers(recurse=False))]
    held += pytrees.tensors([value for value in inputs if not isinstance(value, nn.Module)])
    before = [(t, t.detach().clone(), t.grad if t.is_leaf else None) for t in held]
    training = [(module, module.training) for module in modules]
    for tensor in held:
        if tensor.is_leaf:
            tensor.grad = None
    python_state, torch_state = random.getstate(), torch.get_rng_state()
    cuda_states = torch.cuda.get_rng_state_all() if torch.cuda.is_available() else []
    try:
        yield
    finally:
        random.setstate(python_state)
        torch.set_rng_state(torch_state)
        if cuda_states:
            torch.cuda.set_rng_state_all(cuda_states)
        for module, flag in training:
            module.training = flag
        with torch.no_grad():
            for tensor, value, grad in before:
                # Not by version: batch norm updates its running statistics without raising theirs.
                if not torch.equal(tensor, value):
                    tensor.copy_(value)
                if tensor.is_leaf:
                    tensor.grad = grad
