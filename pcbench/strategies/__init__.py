"""Ways to persist a compiled model: one file each, ending in ``STRATEGY = Strategy(...)``.

The contract, which the tests hold over every file here:

- ``capture`` leaves the model (weights, buffers, gradients, training flag) and random states as they were;
- ``save`` writes files into an empty folder and nothing elsewhere;
- ``load``, in a fresh process, gives a runner that is called as the model is, and agrees with eager;
- a runner does not keep the model alive: one whose weights are passed holds it weakly and says so when it has died;
- ``probe`` tries for real, and says why it cannot.
"""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch
from torch import nn

from pcbench import discovery, torch_api
from pcbench.errors import ModelDiedError, UnavailableError

Runner = Callable[..., Any]


@dataclass(frozen=True)
class Strategy:
    """A way to persist a compiled model.

    Attributes:
        summary: One line for people.
        weights: ``baked`` into the artifact, or ``passed`` when it is called (the runner then needs the model).
        probe: None when it works here, else what this installation lacks; raises where the strategy itself is at fault.
        capture: From the model, its args and its kwargs to something that ``save`` takes.
        save: Writes what was captured into a folder.
        load: From that folder, and the model where weights are passed, to a runner.
        imports: What ``load`` needs beyond ``torch`` itself, as keys of ``torch_api.NAMES``.
        machine_code: The artifact holds code for an instruction set, so that a lesser CPU cannot run it.
        retraces: A load traces the model again by design, and finds the compiled parts in caches: only a cache that
            misses, or a compiler that builds, means that it compiled again.
        takes_options: Entries of Inductor's config that are in effect while it captures make a difference.
    """

    summary: str
    weights: Literal["baked", "passed"]
    probe: Callable[[], str | None]
    capture: Callable[[nn.Module, tuple[Any, ...], dict[str, Any]], Any]
    save: Callable[[Any, Path], None]
    load: Callable[[Path, nn.Module], Runner]
    imports: tuple[str, ...] = ()
    machine_code: bool = True
    retraces: bool = False
    takes_options: bool = False


def named(name: str) -> Strategy:
    """The strategy of that name.

    Raises:
        UsageError: There is none.
    """
    discovery.check_name("strategy", name, discovery.strategy_names())
    return discovery.load(__name__, name, "STRATEGY", Strategy)


def call_model(model: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The function that passed-weights strategies compile: its module and name are what an artifact refers to."""
    return model(*args, **kwargs)


def weak_runner(model: nn.Module, call: Callable[..., Any]) -> Runner:
    """A runner over ``call(model, args, kwargs)`` that does not keep the model alive.

    Raises (when called):
        ModelDiedError: The model has been freed.
    """
    held = weakref.ref(model)

    def runner(*args: Any, **kwargs: Any) -> Any:
        alive = held()
        if alive is None:
            raise ModelDiedError(
                "this runner takes its weights from the model it was loaded for, and that model has been freed",
                hint="keep the model while its runner is in use",
            )
        return call(alive, args, kwargs)

    return runner


def round_trip(
    capture: Callable[[nn.Module, tuple[Any, ...], dict[str, Any]], Any],
    save: Callable[[Any, Path], None],
    load: Callable[[Path, nn.Module], Runner],
) -> str | None:
    """Capture, save, load and call a tiny model: None when that works, else what this torch or machine lacks.

    Raises:
        ArithmeticError: The answer differs from eager's.
        Exception: Whatever else the strategy raises: a fault is not an absence.
    """
    model, x = nn.Linear(2, 2).eval(), torch.ones(1, 2)
    with tempfile.TemporaryDirectory(prefix="pcbench-probe-") as folder, torch.no_grad():
        try:
            save(capture(model, (x,), {}), Path(folder))
            answer = load(Path(folder), model)(x)
        except Exception as error:
            lacking = _lacking(error)
            if lacking is None:
                raise
            return lacking
        if not torch.allclose(answer, model(x)):
            raise ArithmeticError("a tiny model's answer differs from eager's")
    return None


def _lacking(error: BaseException | None) -> str | None:
    """What is missing here, in one line, where that is what an error or one of its causes says."""
    while error is not None:
        if isinstance(error, UnavailableError) or type(error).__name__ in torch_api.COMPILER_FAILURES:
            return one_line(error)
        error = error.__cause__ or error.__context__
    return None


def one_line(error: BaseException) -> str:
    """An error as one line: its type and the first line that says something, with the next where it ends in a colon."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if not lines:
        return type(error).__name__
    said = " ".join(lines[:2]) if lines[0].endswith(":") else lines[0]
    return f"{type(error).__name__}: {said}"
