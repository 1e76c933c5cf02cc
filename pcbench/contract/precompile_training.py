"""What ``precompile`` promises where the captured computation runs a backward.

Checked through :mod:`pcbench.precompile`, so that both forms of the call are held to it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from pcbench import precompile
from pcbench.contract import expect
from pcbench.contract._programs import BACKENDS, agree

DOCUMENT = "torch_compiler_api"


def gradients_are_those_of_eager() -> str:
    """An artifact whose ``fn`` runs a backward gives the model passed at run time the gradients that eager gives it."""
    for backend in BACKENDS:
        model, x = _model()
        run = _loaded(_bare_step, backend)
        run(model, x)
        _expect_gradients(model, x, 1, backend)
    return "both backends give each parameter eager's gradient"


def gradients_accumulate() -> str:
    """Gradients are added to those that are there, as eager's backward does; ``zero_grad`` starts again."""
    model, x = _model()
    run = _loaded(_bare_step, "eager")
    for times in (1, 2, 3):
        run(model, x)
        _expect_gradients(model, x, times, f"after {times} calls")
    model.zero_grad()
    run(model, x)
    _expect_gradients(model, x, 1, "after zero_grad")
    return "three calls give three times eager's gradient, and one after zero_grad gives it once"


def an_ordinary_training_loop_works() -> str:
    """The usual loop of ``zero_grad``, the step and ``optimizer.step`` trains as eager does: it all runs again.

    Each call runs the whole forward and backward over the weights of that moment.
    """
    run = _loaded(_loss_step, "eager")
    (trained, x), (reference, _) = _model(seed=3), _model(seed=3)
    losses: list[list[float]] = []
    for model, step in ((trained, run), (reference, _loss_step)):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses.append([])
        for _ in range(4):
            optimizer.zero_grad()
            losses[-1].append(float(step(model, x)))
            optimizer.step()
    ours, eagers = losses
    expect(torch.allclose(torch.tensor(ours), torch.tensor(eagers)), f"losses {ours}, eager's {eagers}")
    expect(ours[0] > ours[-1], f"the losses did not fall: {ours}")
    return f"four steps of SGD: losses {ours[0]:.4f} to {ours[-1]:.4f}, as eager's"


def frozen_parameters_keep_no_gradient() -> str:
    """A parameter that is frozen, or has no part in the loss, keeps ``.grad`` None: it is not filled with zeros."""
    for backend in BACKENDS:
        model, x = _model(frozen=True)
        run = _loaded(_bare_step, backend, frozen=True)
        run(model, x)
        got = {name for name, p in model.named_parameters() if p.grad is not None}
        expect(got == {"1.weight", "1.bias"}, f"{backend}: {', '.join(sorted(got)) or 'no parameter'} got a gradient")
    both = nn.ModuleDict({"used": nn.Linear(4, 3), "unused": nn.Linear(4, 3)})
    run = precompile.load(*precompile.precompile(_part_step, both, x, backend="eager"))
    run(both, x)
    expect(both["used"].weight.grad is not None, "a parameter with a part in the loss got no gradient")
    expect(both["unused"].weight.grad is None, "a parameter without a part in the loss got a gradient")
    return "a frozen layer, and one that has no part in the loss, keep .grad None"


def which_parameters_get_a_gradient_is_fixed_at_capture() -> str:
    """Which parameters get a gradient is fixed when ``fn`` is captured: one frozen or thawed later changes nothing."""
    thawed, x = _model()
    _loaded(_bare_step, "eager", frozen=True)(thawed, x)
    got = sorted(name for name, p in thawed.named_parameters() if p.grad is not None)
    expect(got == ["1.bias", "1.weight"], f"captured frozen and called thawed: {got} got a gradient")
    frozen, x = _model(frozen=True)
    _loaded(_bare_step, "eager")(frozen, x)
    lacking = [name for name, p in frozen.named_parameters() if p.grad is None]
    expect(not lacking, f"captured thawed and called frozen: {lacking} got no gradient")
    return "thawing after the capture adds no gradient, freezing takes none away"


def the_result_is_that_of_fn() -> str:
    """The artifact returns what ``fn`` returns, not the gradients: None for a step that is a bare backward."""
    for backend in BACKENDS:
        model, x = _model()
        bare = _loaded(_bare_step, backend)(model, x)
        expect(bare is None, f"{backend}: a bare backward returned {type(bare).__name__}")
        loss = _loaded(_loss_step, backend)(model, x)
        expect(agree(loss, model(x).square().mean()), f"{backend}: a step that returns its loss returned {loss}")
    structured = _loaded(_structured_step, "eager")(model, x)
    expect(
        isinstance(structured, dict) and set(structured) == {"loss", "outputs"} and len(structured["outputs"]) == 2,
        f"a step that returns a dict of a tensor and a list returned {structured}",
    )
    return "None for a bare backward, the loss where fn returns it, a dict where it returns a dict"


def _bare_step(model: nn.Module, x: torch.Tensor) -> None:
    model(x).square().mean().backward()


def _loss_step(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    loss: torch.Tensor = model(x).square().mean()
    loss.backward()  # type: ignore[no-untyped-call]
    return loss


def _structured_step(model: nn.Module, x: torch.Tensor) -> dict[str, Any]:
    y = model(x)
    loss = y.square().mean()
    loss.backward()
    return {"loss": loss, "outputs": [y, y + 1]}


def _part_step(model: nn.ModuleDict, x: torch.Tensor) -> None:
    model["used"](x).sum().backward()


def _model(seed: int = 0, *, frozen: bool = False) -> tuple[nn.Module, torch.Tensor]:
    torch.manual_seed(seed)
    model, x = nn.Sequential(nn.Linear(4, 5), nn.Linear(5, 3)), torch.randn(2, 4)
    model[0].requires_grad_(not frozen)
    return model, x


def _loaded(step: Callable[..., object], backend: str, *, frozen: bool = False) -> Callable[..., Any]:
    model, x = _model(seed=7, frozen=frozen)
    return precompile.load(*precompile.precompile(step, model, x, backend=backend))


def _expect_gradients(model: nn.Module, x: torch.Tensor, times: int, when: str) -> None:
    """Each parameter has ``times`` the gradient that eager gives it."""
    gradients = torch.autograd.grad(model(x).square().mean(), list(model.parameters()))
    for (name, parameter), gradient in zip(model.named_parameters(), gradients, strict=True):
        expect(parameter.grad is not None, f"{when}: {name} got no gradient")
        assert parameter.grad is not None
        expect(agree(parameter.grad, times * gradient), f"{when}: {name} has another gradient than eager's")
