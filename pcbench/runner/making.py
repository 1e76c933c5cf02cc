"""One capture for the cache of runners: run, capture, save, load, and see that what was asked for is what came."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from pcbench import discovery, snapshot, strategies, torch_api
from pcbench.errors import PcbenchError, RunnerError, UsageError
from pcbench.runner import agreement, artifact, bundled, signature, weights
from pcbench.runner.weights import Watch
from pcbench.strategies import Runner, Strategy, one_line

_PREFERRED, _OTHERWISE = "nativert", "export"
_GROWTHS: tuple[Callable[[int], int], ...] = (lambda size: size + 1, lambda size: 2 * size, lambda size: size - 1)


@dataclass(frozen=True)
class Made:
    """A runner, and what was when it was captured.

    Attributes:
        keywords: In what order the captured call had them.
        same_mode: Whether torch is in the mode that it was captured in.
        watch: What its model was.
        registered: Dataclasses that became pytree nodes for it.
    """

    runner: Runner
    keywords: tuple[str, ...]
    same_mode: Callable[[], bool]
    watch: Watch
    registered: tuple[str, ...]


@functools.cache
def default_strategy() -> str:
    """``nativert`` where this torch has it, else ``export``; tried once per process."""
    if _PREFERRED in discovery.strategy_names() and strategies.named(_PREFERRED).probe() is None:
        return _PREFERRED
    return _OTHERWISE


def make(
    name: str,
    model: nn.Module,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    options: Mapping[str, Any],
    folder: Path,
) -> Made:
    """Capture the model by the strategy ``name`` into ``folder``, and load it; model and random state stay as they are.

    Dims that inputs mark with ``mark_dynamic`` are tried: eager and the runner are called with another size in them,
    and must agree.

    Raises:
        UsageError: There is no such strategy or option, or the model cannot be captured by any.
        RunnerError: The strategy failed, a marked dim did not stay dynamic, or the model changed meanwhile.
    """
    strategy = strategies.named(name)
    in_effect = _in_effect(name, strategy, options)
    same_mode = signature.mode()
    _refuse_unhashable(name, model)
    said = functools.partial(_said, name, model)
    nodes = torch_api.get("pytree").SUPPORTED_NODES
    known = set(nodes)
    with said("run"):
        description = artifact.describe(name, strategy, model, args, kwargs)
    new = {f"{cls.__module__}:{cls.__qualname__}" for cls in set(nodes) - known}
    registered = tuple(each for each in description.dataclasses if each in new)
    others = _with_other_sizes(name, model, args, kwargs)
    before = weights.walk(model)
    watch = Watch(before, baked=strategy.weights == "baked")
    with bundled.alone(), in_effect:
        with said("capture"):
            captured = artifact.capture(description, strategy, model, args, kwargs)
        with said("save"):
            artifact.save_payload(captured, folder)
        with said("load"):
            runner = strategy.load(folder, model)
    after = weights.walk(model)
    if not watch.fresh(after):
        raise RunnerError(f"{type(model).__qualname__} changed while {name} captured it", hint="load it again")
    for other in others:
        with said("call, with another size in a marked dim,"), _left_alone(model):
            differs = agreement.difference(other.expected, runner(*other.args, **other.kwargs))
        if differs is not None:
            raise RunnerError(f"{name} did not keep the marked dims of {type(model).__qualname__} dynamic: {differs}")
    return Made(runner, tuple(kwargs), same_mode, watch, registered)


def _in_effect(name: str, strategy: Strategy, options: Mapping[str, Any]) -> AbstractContextManager[Any]:
    """A context in which the options are in effect.

    Raises:
        UsageError: The strategy takes none, or Inductor's config has no such entry.
    """
    if not options:
        return nullcontext()
    if not strategy.takes_options:
        raise UsageError(f"strategy {name} takes no options: nothing of Inductor's config makes a difference to it")
    config = torch_api.get("inductor_config")
    known = tuple(config.get_config_copy())
    for entry in options:
        discovery.check_name("entry of Inductor's config", entry, known)
    return config.patch(dict(options))  # type: ignore[no-any-return]  # untyped in torch


def _refuse_unhashable(name: str, model: nn.Module) -> None:
    """torch itself hashes modules: where it lists parameters, and so in every capture.

    Raises:
        RunnerError: A module's class defines ``__eq__`` without ``__hash__``.
    """
    modules = [model]
    for module in modules:
        modules += [child for child in module._modules.values() if child is not None]
        if type(module).__hash__ is None:
            kind = type(module).__qualname__
            raise RunnerError(
                f"{name} cannot capture {type(model).__qualname__}: torch hashes modules, and {kind} is unhashable",
                hint=f"add to class {kind} the line: __hash__ = torch.nn.Module.__hash__",
            )


@contextmanager
def _said(name: str, model: nn.Module, what: str) -> Iterator[None]:
    try:
        yield
    except UsageError:
        raise
    except Exception as error:  # a strategy may raise anything: it is said with the strategy and the model
        hint, said = (error.hint, error.problem) if isinstance(error, PcbenchError) else (None, one_line(error))
        raise RunnerError(f"{name} could not {what} {type(model).__qualname__}: {said}", hint=hint) from error


@contextmanager
def _left_alone(model: nn.Module, *inputs: object) -> Iterator[None]:
    """Run the body, which runs the model, then put back buffers, gradients, random state and tensors of ``inputs``."""
    with snapshot.preserved(list(model.buffers()), *inputs), snapshot.without_gradients(model.parameters()):
        yield


@dataclass(frozen=True)
class _Other:
    """Inputs of another size in their marked dims, and eager's answer to them."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    expected: Any


@dataclass(frozen=True)
class _Move:
    """A marked dim that got another size: the dim of the how-manieth marked tensor, and both sizes."""

    tensor: int
    dim: int
    old: int
    new: int


def _with_other_sizes(name: str, model: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[_Other]:
    """Inputs in which each marked dim has another size at least once; but those of size 0 or 1, or of one allowed size.

    All marked dims change by the same rule, so that those that were equal stay so.

    Raises:
        UsageError: A marked tensor is where it cannot be resized.
        RunnerError: Eager takes no other size in a dim, so that nothing could be seen.
    """
    leaves = torch_api.get("pytree").tree_leaves((args, kwargs))
    if any(
        leaf.__dict__.get(torch_api.MARKED_DIMS)
        for leaf in signature.tensors_of((args, kwargs))
        if not any(leaf is each for each in leaves)
    ):
        raise UsageError(
            "a tensor with a marked dim is in a mapping that is no pytree node, so that no other size can be tried",
            hint="give it in a tuple, list, dict or dataclass, or without the mark",
        )
    others: list[_Other] = []
    refused: dict[_Move, str] = {}
    moved: set[tuple[int, int]] = set()
    for growth in _GROWTHS:
        moves: list[_Move] = []
        other_args, other_kwargs = _resized((args, kwargs), growth, moves)
        now = {(move.tensor, move.dim) for move in moves}
        if now <= moved:
            continue
        try:
            with _left_alone(model, other_args, other_kwargs):
                # A copy: an answer that is an input, changed in place, is put back with it.
                answer = model(*other_args, **other_kwargs)
                expected = torch_api.get("pytree").tree_map_only(torch.Tensor, lambda t: t.detach().clone(), answer)
        except Exception as error:  # a model may refuse a size in any way: the next is tried, and all are told
            refused.update(dict.fromkeys(moves, one_line(error)))
            continue
        others.append(_Other(other_args, other_kwargs, expected))
        moved |= now
    never = {move: why for move, why in refused.items() if (move.tensor, move.dim) not in moved}
    if never:
        told = dict.fromkeys(f"{move.old} to {move.new}: {why}" for move, why in never.items())
        raise RunnerError(
            f"{name} was not tried: {type(model).__qualname__} itself takes no other size in a marked dim "
            f"({'; '.join(told)})",
            hint="mark a dim dynamic only where the model takes other sizes, with min and max where it takes few",
        )
    return others


def _resized(inputs: Any, growth: Callable[[int], int], moves: list[_Move]) -> Any:
    """``inputs`` with marked dims resized as far as their marks allow, by leaving out or repeating rows."""
    copies: dict[int, torch.Tensor] = {}

    def resized(tensor: torch.Tensor) -> torch.Tensor:
        made = tensor.detach()
        spans = {span.dim: span for span in tensor.__dict__.get(torch_api.MARKED_RANGES, ())}
        for dim in sorted(tensor.__dict__.get(torch_api.MARKED_DIMS, ())):
            old, span = tensor.shape[dim], spans.get(dim)
            low, high = (None, None) if span is None else (span.min, span.max)
            new = min(max(growth(old), 2 if low is None else low), growth(old) if high is None else high)
            if old > 1 and new != old:
                made = made.index_select(dim, torch.arange(new, device=made.device) % old)
                moves.append(_Move(len(copies), dim, old, new))
        return made.requires_grad_(tensor.requires_grad)

    def each(leaf: object) -> object:
        if not isinstance(leaf, torch.Tensor):
            return leaf
        if id(leaf) not in copies:
            copies[id(leaf)] = resized(leaf)
        return copies[id(leaf)]

    return torch_api.get("pytree").tree_map(each, inputs)
