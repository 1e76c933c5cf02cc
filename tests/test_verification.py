"""Gradients and extra shapes as parts of an answer, in measured processes."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn
from users_model import TAIL, Write

from pcbench import sampling
from pcbench.errors import UsageError
from pcbench.runner import agreement
from pcbench.samples import EAGER
from pcbench.status import Status

STEP = """
class Step(Net):
    def forward(self, x):
        loss = self.linear(x).square().sum()
        loss.backward()
        return loss.detach()
"""


def trained(model: nn.Module, times: int = 1) -> nn.Module:
    for _ in range(times):
        model(torch.ones(2, 3)).sum().backward()
    return model


def test_gradients_are_taken_by_name_and_none_are_left() -> None:
    model = trained(nn.Linear(3, 1))
    taken = agreement.take_gradients(model)

    assert {name: gradient is not None for name, gradient in taken.items()} == {"weight": True, "bias": True}
    assert all(parameter.grad is None for parameter in model.parameters())


def test_gradients_that_are_missing_not_added_up_or_not_eagers_are_told_with_their_parameter() -> None:
    model = nn.Linear(3, 1)
    twice = agreement.take_gradients(trained(model, 2))
    once = agreement.take_gradients(trained(model))
    none = agreement.take_gradients(model)

    assert agreement.gradient_difference(twice, twice) is None
    assert agreement.gradient_difference(none, none) is None
    assert agreement.gradient_difference(once, none) == "the gradient of weight is missing, eager's is there"
    assert agreement.gradient_difference(none, once) == "the gradient of weight is there, eager's is not"
    assert str(agreement.gradient_difference(twice, once)).startswith("the gradient of weight differs from eager's")


@pytest.mark.slow
def test_a_runner_that_loses_gradients_is_a_wrong_result(write: Write, tmp_path: Path) -> None:
    lost = STEP.replace("loss.backward()", "torch.compiler.is_compiling() or loss.backward()")
    setting = write(lost, "\nMODEL = Model(build=Step, inputs=inputs, grad=True)\n")
    assert sampling.capture(setting, "export", tmp_path / "c").status is Status.OK

    outcome = sampling.load(setting, "export", tmp_path / "c", "warm")
    assert outcome.status is Status.WRONG_RESULT
    assert outcome.reason == "the gradient of linear.weight is missing, eager's is there"


@pytest.mark.slow
def test_a_runner_whose_gradients_do_not_add_up_is_a_wrong_result(write: Write, tmp_path: Path) -> None:
    setting = write(STEP, "\nMODEL = Model(build=Step, inputs=inputs, grad=True)\n")
    assert sampling.capture(setting, "precompile_eager", tmp_path / "c").status is Status.OK
    whole = sampling.load(setting, "precompile_eager", tmp_path / "c", "warm", hot=True, calls=True)
    assert (whole.status, whole.reason) == (Status.OK, None)

    forgetful = STEP.replace("loss = ", "self.zero_grad(); loss = ")
    setting = write(forgetful, "\nMODEL = Model(build=Step, inputs=inputs, grad=True)\n")
    outcome = sampling.load(setting, "precompile_eager", tmp_path / "c", "warm", calls=True)
    assert outcome.status is Status.WRONG_RESULT
    assert str(outcome.reason).startswith("the gradient of linear.weight differs from eager's")


@pytest.mark.slow
def test_each_extra_shape_is_called_once_and_a_refused_one_costs_no_other(write: Write, tmp_path: Path) -> None:
    shapes = "{'same': inputs, 'more rows': lambda: ((torch.ones(5, 4),), {})}"
    setting = write("", f"\nMODEL = Model(build=Net, inputs=inputs, shapes={shapes})\n")
    assert sampling.capture(setting, "export", tmp_path / "c").status is Status.OK
    outcome = sampling.load(setting, "export", tmp_path / "c", "warm", shapes=True, calls=True)

    same, more = outcome.shapes
    assert (outcome.status, len(outcome.call_s) >= 5) == (Status.OK, True)
    assert (same.name, same.status, same.recompiles) == ("same", Status.OK, 0)
    assert same.call_s is not None
    assert (more.status, more.call_s, more.recompiles) == (Status.GUARD_FAILED, None, None)
    assert str(more.reason).startswith("shape more rows: ")


@pytest.mark.slow
def test_a_model_that_says_what_it_lacks_is_unavailable_and_not_broken(write: Write) -> None:
    body = (
        "from pcbench.errors import UnavailableError\nraise UnavailableError('it needs a library', hint='install it')\n"
    )
    outcome = sampling.load(write(body, TAIL), EAGER, None, "cold")

    assert (outcome.status, outcome.reason) == (Status.UNAVAILABLE, "it needs a library")


@pytest.mark.slow
def test_the_library_of_an_answers_dataclass_is_imported_on_the_clock(write: Write, tmp_path: Path) -> None:
    body = (
        "from dataclasses import dataclass\ntime.sleep(1.5)\n@dataclass\nclass Answer:\n    y: torch.Tensor\n"
        "class Wrapped(Net):\n    def forward(self, x):\n        return Answer(self.linear(x))\n"
    )
    setting = write(body, "\nMODEL = Model(build=Wrapped, inputs=inputs)\n")
    assert sampling.capture(setting, "export", tmp_path / "c").status is Status.OK

    (sample,) = sampling.load(setting, "export", tmp_path / "c", "warm").samples
    assert sample.phases.import_other_s > 1.5


@pytest.mark.slow
def test_a_backward_that_leaves_no_gradient_is_bad_usage(write: Write) -> None:
    with pytest.raises(UsageError, match="says grad=True, and its call leaves no gradient"):
        sampling.load(write("", "\nMODEL = Model(build=Net, inputs=inputs, grad=True)\n"), EAGER, None, "cold")
