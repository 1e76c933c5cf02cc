"""Whether a model still is what was captured: its modules, and the metadata or values of its weights.

Everything is held weakly: nothing here keeps a module, a parameter or its memory alive.
"""

from __future__ import annotations

import hashlib
import operator
import threading
import weakref
from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from typing import Any

import torch
from torch import nn
from torch.optim.optimizer import register_optimizer_step_post_hook
from torch.utils.hooks import RemovableHandle

from pcbench.errors import UsageError
from pcbench.runner import signature

Layout = tuple[list[object], list[Any], list[Any]]
"""A model as it is now, made on every look-up. Of each module, breadth first, its training flag and the names of its
children, parameters and buffers; then the modules, and the parameters and buffers. What occurs twice is there twice."""

_TENSOR = torch.Tensor
_VERSION = operator.attrgetter("_version")
_POINTER = torch.Tensor.data_ptr
_MOST_MODULES = 1_000_000


def walk(model: nn.Module) -> Layout:
    """Look at every module once.

    Raises:
        UsageError: The model's modules cannot be walked: a scripted module, or one that contains itself.
    """
    flags_and_names: list[object] = []
    modules: list[Any] = [model]
    tensors: list[Any] = []
    try:
        for module in modules:
            if module is None:
                continue
            own = module.__dict__
            flags_and_names.append(own["training"])
            if children := own["_modules"]:
                flags_and_names.extend(children)
                modules.extend(children.values())
                if len(modules) > _MOST_MODULES:
                    raise UsageError(
                        f"{type(model).__name__} has more than {_MOST_MODULES:,} modules, each counted as often as it "
                        "occurs",
                        hint="is it a part of itself?",
                    )
            if parameters := own["_parameters"]:
                flags_and_names.extend(parameters)
                tensors.extend(parameters.values())
            if buffers := own["_buffers"]:
                flags_and_names.extend(buffers)
                tensors.extend(buffers.values())
    except (AttributeError, KeyError, TypeError) as error:
        raise UsageError(
            f"a {type(model).__name__} cannot be looked into: {error!r}",
            hint="give an nn.Module, as it was before torch.compile or torch.jit.script",
        ) from error
    return flags_and_names, modules, tensors


class Watch:
    """What a captured model was. ``baked``: its values count; else only what an artifact specialises on does.

    Baked values count by each tensor's identity, version counter, storage and metadata, and by whether an optimizer of
    this process took a step on it. A tensor made in inference mode has no version counter: its bytes are digested each
    time, at about the speed of SHA-256.

    Raises:
        UsageError: A weight is of a layout whose metadata or changes cannot be seen.
    """

    def __init__(self, layout: Layout, *, baked: bool) -> None:
        self._flags_and_names, modules, tensors = layout
        self._baked = baked
        # What dies may leave its address, and so its id, to another: then its weakref tells.
        self._lost: list[object] = []
        watched = modules + tensors if baked else modules
        self._known = [weakref.ref(value, self._lost.append) for value in watched if value is not None]
        self._ids = [*map(id, modules + tensors)]
        self._ties = _ties(modules + tensors)
        picked = list({id(tensor): place for place, tensor in enumerate(tensors) if tensor is not None}.values())
        self._pick = None if len(picked) == len(tensors) else _picker(picked)
        distinct = tensors if self._pick is None else self._pick(tensors)
        self._metadata = signature.metadata(distinct)
        self._same_metadata = self._metadata.same
        inference = [place for place in picked if tensors[place].is_inference()]
        self._uncounted = _picker(inference) if inference else None
        if inference:
            self._pick_counted = _picker([place for place in picked if place not in inference])
        if baked:
            self._storages = [weakref.ref(tensor.untyped_storage(), self._lost.append) for tensor in distinct]
            counted = self._pick_counted(tensors) if inference else distinct
            self._stamps = [*map(_VERSION, counted), *map(_POINTER, counted)]
            self._bytes = b"" if self._uncounted is None else _digest(self._uncounted(tensors))
            _watch_optimizers(self)

    def unchanged(self, layout: Layout) -> bool:
        """Whether modules and weights are those that were captured, whatever the mode and their metadata."""
        flags_and_names, modules, tensors = layout
        if [*map(_name, flags_and_names)] != [*map(_name, self._flags_and_names)]:
            return False
        return self.fresh((self._flags_and_names, modules, tensors), lambda *tensors: True)

    def fresh(self, layout: Layout, same_metadata: Callable[..., bool] | None = None) -> bool:
        """Whether what was captured still stands for the model, in the mode in which it was captured."""
        flags_and_names, modules, tensors = layout
        if self._lost or flags_and_names != self._flags_and_names:
            return False
        if [*map(id, modules + tensors)] != self._ids and (self._baked or not self._took(modules, tensors)):
            return False
        distinct = tensors if self._pick is None else self._pick(tensors)
        if not (same_metadata or self._same_metadata)(*distinct):
            return False
        if not self._baked:
            return True
        if self._uncounted is not None:
            if _digest(self._uncounted(tensors)) != self._bytes:
                return False
            distinct = self._pick_counted(tensors)
        return [*map(_VERSION, distinct), *map(_POINTER, distinct)] == self._stamps

    def lose(self, stepped: Mapping[int, torch.Tensor]) -> None:
        """Take note that an optimizer changed these tensors, by id."""
        if any(stepped.get(id(value)) is value for value in (known() for known in self._known) if value is not None):
            self._lost.append(None)

    def _took(self, modules: list[Any], tensors: list[Any]) -> bool:
        """Whether only weights were replaced, and are tied as those before them were; then these are the known ones."""
        if [*map(id, modules)] != self._ids[: len(modules)] or _ties(modules + tensors) != self._ties:
            return False
        self._ids = [*map(id, modules + tensors)]
        return True


_BAKED: weakref.WeakSet[Watch] = weakref.WeakSet()
_HOOKED: list[RemovableHandle] = []
_HOOKING = threading.Lock()


def _watch_optimizers(watch: Watch) -> None:
    """Tell the watch of each step of any optimizer in this process: fused ones raise no version counter."""
    with _HOOKING:
        _BAKED.add(watch)
        if not _HOOKED:
            _HOOKED.append(register_optimizer_step_post_hook(_stepped))


def _stepped(optimizer: torch.optim.Optimizer, *_: object) -> None:
    with _HOOKING:
        watches = list(_BAKED)
    if watches:
        groups = (group["params"] for group in optimizer.param_groups)
        stepped = {id(tensor): tensor for tensor in chain.from_iterable(groups) if tensor.grad is not None}
        for watch in watches:
            watch.lose(stepped)


def _name(entry: object) -> object:
    """The name in a layout; None for a training flag."""
    return entry if isinstance(entry, str) else None


def _ties(values: list[Any]) -> list[int]:
    """For each value the first place where it occurs; -1 for None."""
    first: dict[int, int] = {}
    return [-1 if value is None else first.setdefault(id(value), place) for place, value in enumerate(values)]


def _picker(places: list[int]) -> Callable[[list[Any]], tuple[Any, ...]]:
    """A function that gives what a list holds at these places; itemgetter gives no tuple of one or none."""
    if len(places) > 1:
        return operator.itemgetter(*places)
    if places:
        return lambda values: (values[places[0]],)
    return lambda values: ()


def _digest(tensors: Iterable[torch.Tensor]) -> bytes:
    digest = hashlib.sha256()
    for tensor in tensors:
        data = tensor.detach().cpu().resolve_conj().resolve_neg().contiguous()
        if data.numel():
            digest.update(data.flatten().view(torch.uint8).numpy().data)
    return digest.digest()
