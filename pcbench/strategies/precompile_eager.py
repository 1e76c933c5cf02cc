"""``torch.compiler.precompile`` with the eager backend: the captured ATen graph as Python source, no kernels."""

from __future__ import annotations

from pcbench.strategies._precompiled import strategy

STRATEGY = strategy(backend="eager", summary="precompile, eager backend: the ATen graph as Python source")
