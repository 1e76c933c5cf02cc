"""A guard family over sizes: every size is checked for real, and costs what its guards do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from pcbench import guard_families, timing
from pcbench.errors import PcbenchError
from pcbench.guard_samples import Sweep, read_sweep
from pcbench.guards import subjects, sweep
from pcbench.guards.guarded import guarded
from pcbench.guards.request import Request

HOME = Path(__file__).parent


def swept(family: str, *sizes: int) -> Sweep:
    messages: list[dict[str, Any]] = []
    request = Request(family, 1, str(HOME), sizes=sizes)
    sweep.guard_sweep(request, timing.PhaseClock(sees_compilers=False), messages.append)
    return read_sweep(messages[-1]["sweep"])


@pytest.mark.parametrize("family", ["lists", "tensors", "module_width", "global_variables"])
def test_the_size_that_was_compiled_first_still_costs_what_its_guards_do(family: str) -> None:
    found = swept(family, 512, 8)

    assert found.guards[512] - found.guards[8] >= 504
    assert min(found.samples[512]) > 1.5 * min(found.samples[8])


@pytest.mark.slow
def test_every_family_is_swept_with_guards_that_take_their_call() -> None:
    for family in guard_families.names():
        found = swept(family, 64, 1)
        assert min(found.samples[64]) > min(found.samples[1]), family


def test_a_check_that_refuses_is_no_time() -> None:
    torch.compiler.reset()
    with subjects.compiled(guarded("lists", 8, HOME)) as subject:
        torch.compiler.reset()  # takes globals away at which guards look

        with pytest.raises(PcbenchError, match="refuse the call that they took before"):
            sweep.sweep("lists", {8: subject})
