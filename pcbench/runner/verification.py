"""Whether a process measured what it was asked to, and whether the answer that it got is eager's."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from pcbench import targets
from pcbench.errors import UsageError
from pcbench.models import Model
from pcbench.runner import agreement
from pcbench.runner.artifact import Artifact
from pcbench.runner.stages import Emit, Request, StageFailedError, stage
from pcbench.samples import EAGER
from pcbench.status import Status


def require_threads(request: Request) -> None:
    """Check that torch's threads are as asked.

    Raises:
        UsageError: The model set another number.
    """
    if torch.get_num_threads() != request.threads:
        raise UsageError(
            f"{request.target} sets torch's threads to {torch.get_num_threads()}, {request.threads} were asked for",
            hint="take torch.set_num_threads out of the model, and use --threads",
        )


def require_same(request: Request, definition: Model, model: nn.Module, opened: Artifact | None) -> None:
    """Check that a model that was just built, and its inputs, are those of the capture, and that threads are as asked.

    Raises:
        UsageError: They are not.
    """
    require_threads(request)
    if opened is None:
        return
    if opened.manifest.fingerprint != agreement.fingerprint(model, *targets.inputs(definition)):
        raise UsageError(
            f"{request.target} has other weights or inputs than the artifact was captured with, so no answer can be "
            "checked",
            hint="is it the model that was saved? If so, seed every random number that it uses (torch's generator is "
            "seeded already)",
        )


def require_agreement(
    request: Request,
    emit: Emit,
    definition: Model,
    model: nn.Module,
    output: Any,
    *,
    shape: str | None = None,
    calls: int = 1,
) -> None:
    """Compare an output, and the gradients where a backward is part of the call, with eager's on fresh inputs.

    The model's gradients are those of the ``calls`` calls that gave the output; none are left.

    Raises:
        StageFailedError: They differ, or cannot be compared.
        UsageError: The output holds no tensor, or eager does not agree with itself.
    """
    # Making inputs seeds torch's generator; eager's second answer follows its first without that.
    made = [targets.inputs(definition, shape) for _ in range(2 * calls)]
    with stage(emit, "the comparison with eager", Status.LOAD_FAILED):
        gradients = agreement.take_gradients(model)
        expected, its_gradients = _eager(model, made[:calls])
        agreement.require_tensors(expected)
        if definition.grad and all(gradient is None for gradient in its_gradients.values()):
            raise UsageError(
                f"{request.target} says grad=True, and its call leaves no gradient",
                hint="call backward in forward(), or leave grad=True out",
            )
        if request.strategy == EAGER:
            output, gradients = _eager(model, made[calls:])
        differs = agreement.difference(expected, output)
        if differs is None and definition.grad:
            differs = agreement.gradient_difference(its_gradients, gradients)
    if differs is not None and request.strategy == EAGER:
        itself = differs.replace("eager's", "its next")
        raise UsageError(
            f"{request.target} does not agree with itself in eager mode: {itself}",
            hint="call .eval() in build(), or take out what is random or counts calls",
        )
    if differs is not None:
        raise StageFailedError(Status.WRONG_RESULT, differs)


def _eager(model: nn.Module, made: list[Any]) -> tuple[Any, agreement.Gradients]:
    """The output of the last call, and the gradients that all of them left together."""
    output = None
    for args, kwargs in made:
        output = model(*args, **kwargs)
    return output, agreement.take_gradients(model)
