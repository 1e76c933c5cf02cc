"""``torch.compiler.precompile`` with the Inductor backend: Python source with kernels, and a cache of them."""

from __future__ import annotations

from pcbench.strategies._precompiled import strategy

STRATEGY = strategy(backend="inductor", summary="precompile, inductor backend: Python source and a kernel cache")
