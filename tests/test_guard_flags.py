"""What each guard filter and each setting makes unsafe: a program in which that change goes unnoticed."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import guarded_block
import pytest
import torch
from guarded_block import Block, scaled
from torch import nn

from pcbench import torch_api
from pcbench.guards import _flags


def _set(of: Callable[[Block], Any], name: str, value: Any) -> Callable[[Block], None]:
    return lambda block: setattr(of(block), name, value)


def _hook(block: Block) -> None:
    block.act.register_forward_hook(lambda module, args, output: output + 5)


CHANGES: dict[str, Callable[[Block], None]] = {
    "attribute": _set(lambda block: block, "scale", 7),
    "attribute of torch.nn": _set(lambda block: block.act, "negative_slope", 0.25),
    "parameter": lambda block: setattr(block, "weight", nn.Parameter(torch.ones(3))),
    "default": lambda block: setattr(scaled, "__defaults__", (3,)),
    "global": lambda block: vars(guarded_block).update(factor=5),
    "hook": _hook,
}
ARGUMENTS = {"argument": (-torch.ones(2, 3), 4), "shape": (-torch.ones(5, 3), 3)}

UNNOTICED = {
    "keep_portable_guards_unsafe": {"attribute", "attribute of torch.nn", "global", "argument"},
    "keep_tensor_guards_unsafe": {"attribute", "attribute of torch.nn", "parameter", "global", "argument", "mode"},
    "skip_all_guards_unsafe": {
        "attribute",
        "attribute of torch.nn",
        "parameter",
        "global",
        "argument",
        "shape",
        "mode",
    },
    "skip_guard_on_all_nn_modules_unsafe": {"attribute", "attribute of torch.nn", "parameter"},
    "skip_guard_on_globals_unsafe": {"global"},
    "skip_guard_on_inbuilt_nn_modules_unsafe": {"attribute of torch.nn"},
}
"""What the sentences of ``_flags.FILTERS`` say goes unnoticed."""


def _reset() -> None:
    torch_api.get("dynamo").reset()


@contextmanager
def _restored() -> Iterator[None]:
    _reset()
    try:
        yield
    finally:
        vars(guarded_block).update(factor=2)
        scaled.__defaults__ = (2,)


def _notices(change: str, config: dict[str, bool] | None = None, **options: Any) -> bool:
    """Whether a change makes the compiled block compile again; where it does not, its answer is that of before."""
    block, args, graphs = Block(), (-torch.ones(2, 3), 3), itertools.count()

    def counting(graph: Callable[..., Any], inputs: Any) -> Callable[..., Any]:  # noqa: ARG001  # a backend's signature
        next(graphs)
        return graph

    with _restored(), torch_api.get("dynamo_config").patch(**(config or {})):
        compiled = torch.compile(block, backend=counting, **options)
        before = compiled(*args)
        assert torch.equal(before, block(*args))
        CHANGES.get(change, lambda block: None)(block)
        given = ARGUMENTS.get(change, args)
        with torch.set_grad_enabled(change != "mode"):
            after, right = compiled(*given), block(*given)
        if next(graphs) > 1:
            assert torch.equal(after, right)
            return True
        if change not in ("mode", "parameter"):  # which the graph takes as they are
            assert not torch.equal(after, right)
        return False


@pytest.mark.slow
@pytest.mark.parametrize("name", UNNOTICED)
def test_under_a_filter_what_its_sentence_says_goes_unnoticed_and_only_that(name: str) -> None:
    filtered = {"guard_filter_fn": getattr(torch.compiler, name)}
    changes = {*CHANGES, *ARGUMENTS, "mode"} - {"hook", "default"}  # which settings say something of

    assert {change for change in changes if not _notices(change, options=dict(filtered))} == UNNOTICED[name]
    assert name in _flags.FILTERS


def test_without_a_filter_every_such_change_is_noticed() -> None:
    changes = {*CHANGES, *ARGUMENTS, "mode"} - {"hook", "default"}

    assert {change for change in changes if _notices(change)} == changes


@pytest.mark.parametrize(
    ("setting", "change"),
    [("skip_guards_on_constant_func_defaults", "default"), ("skip_nnmodule_hook_guards", "hook")],
)
def test_under_a_setting_what_its_sentence_says_goes_unnoticed(setting: str, change: str) -> None:
    assert not _notices(change, {setting: True})
    assert _notices(change, {setting: False})
    assert not _flags.FLAGS[setting][True].startswith("nothing: ")
    assert _flags.FLAGS[setting][False].startswith("nothing: ")


def test_one_parameter_in_the_place_of_two_goes_unnoticed_where_the_setting_says_so() -> None:
    setting = "skip_no_tensor_aliasing_guards_on_parameters"

    def notices(skipped: bool) -> bool:
        block, args = Block(), (-torch.ones(2, 3), 3)
        with _restored(), torch_api.get("dynamo_config").patch(**{setting: skipped}):
            compiled = torch.compile(block, backend="eager")
            compiled(*args)
            before = torch_api.frames_compiled()
            block.other = block.weight
            compiled(*args)
            return torch_api.frames_compiled() > before

    assert notices(False)
    assert not notices(True)
    assert not _flags.FLAGS[setting][True].startswith("nothing: ")
