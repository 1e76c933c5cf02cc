"""The configuration that a tuned kernel chose, and what its rival is called."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from pcbench_kernels import Kernel, matmul, vector_add
from triton.runtime.autotuner import Autotuner
from triton.runtime.jit import JITFunction

from pcbench import discovery
from pcbench.codegen import recording
from pcbench.kernel_timing import choosing
from pcbench.kernel_timing.rivals import rival_of


def test_what_a_launch_chose_is_told_as_in_the_rows_of_codegen(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = matmul.CONFIGS[2]
    monkeypatch.setattr(JITFunction, "run", lambda self, *args, **kwargs: None)
    monkeypatch.setattr(Autotuner, "_bench", lambda self, *args, config, **kwargs: [1.0 if config is wanted else 2.0])
    monkeypatch.setattr(matmul._matmul, "cache", {})
    run = Autotuner.run
    with choosing.recorded() as chosen:
        matmul.matmul(torch.randn(32, 32), torch.randn(32, 32))
    here, *_ = recording.tracked("matmul", Path(), None, {})
    rows = [variant.config for variant in recording.variants(here, first=False)]

    assert chosen == [rows[2]]
    assert len(set(rows)) == len(rows)
    assert Autotuner.run is run


def test_a_launch_that_is_not_tuned_chooses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    launched: list[Any] = []
    monkeypatch.setattr(JITFunction, "run", lambda self, *args, **kwargs: launched.append(self))
    with choosing.recorded() as chosen:
        vector_add.add(torch.randn(8), torch.randn(8))

    assert len(launched) == 1
    assert chosen == []


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("vector_add", "torch.add"),
        ("softmax", "torch.softmax"),
        ("matmul", "torch.matmul"),
        ("attention", "torch.nn.functional.scaled_dot_product_attention"),
        ("dropout", "torch.nn.functional.dropout"),
        ("layer_norm", "layer_norm.reference"),
        ("matmul_int4", "matmul_int4.dequantised"),
    ],
)
def test_a_rival_is_called_after_torchs_function_or_after_the_kernel_files_own(name: str, words: str) -> None:
    kernel = discovery.load("pcbench_kernels", name, "KERNEL", Kernel)

    assert rival_of(name, kernel, kernel.inputs(kernel.small[0], torch.float32, "cpu")).words == words
