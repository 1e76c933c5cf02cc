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

Layout = tuple[list[bool], list[str], list[Any], int]
"""A model as it is now, made on every look-up; a module that occurs twice is there twice: the training flag of each
module, breadth first; names and values of each one's children, parameters and buffers; in how many dictionaries."""

_TENSOR = torch.Tensor
_VERSION = operator.attrgetter("_version")
_POINTER = torch.Tensor.data_ptr
_MOST_MODULES = 1_000_000


def walk(model: nn.Module) -> Layout:
    """Look at every module once.

    Raises:
        UsageError: The model's modules cannot be walked: a scripted module, or one that contains itself.
    """
    modules: list[Any] = [model]
    training: list[bool] = []
    names: list[str] = []
    values: list[Any] = []
    owners = 0
    try:
        for module in modules:
            if module is None:
                continue
            own = module.__dict__
            training.append(own["training"])
            if children := own["_modules"]:
                owners += 1
                names += children
                values += (several := children.values())
                modules += several
                if len(modules) > _MOST_MODULES:
                    raise UsageError(f"{type(model).__name__} contains itself", hint="a model is a tree of modules")
            if parameters := own["_parameters"]:
                owners += 1
                names += parameters
                values += parameters.values()
            if buffers := own["_buffers"]:
                owners += 1
                names += buffers
                values += buffers.values()
    except (AttributeError, KeyError, TypeError) as error:
        raise UsageError(
            f"a {type(model).__name__} cannot be looked into: {error!r}", hint="give an nn.Module that is not scripted"
        ) from error
    return training, names, values, owners


class Watch:
    """What a captured model was. ``baked``: its values count; else only what an artifact specialises on does.

    Baked values count by each tensor's identity, version counter, storage and metadata, and by whether an optimizer of
    this process took a step on it. A tensor made in inference mode
    has no version counter: its bytes are digested each time, at about the speed of SHA-256.

    Raises:
        UsageError: A weight is of a layout whose metadata or changes cannot be seen.
    """

    def __init__(self, layout: Layout, *, baked: bool) -> None:
        self._training, self._names, values, self._owners = layout
        self._baked = baked
        # What dies may leave its address, and so its id, to another: then its weakref tells.
        self._lost: list[object] = []
        self._known = _references(values, self._lost.append, tensors=baked)
        self._ids = list(map(id, values))
        self._ties = _ties(values)
        places = [place for place, tie in enumerate(self._ties) if place == tie and isinstance(values[place], _TENSOR)]
        self._tensors = _picker(places)
        self._metadata = signature.metadata(self._tensors(values))
        self._same_metadata = self._metadata.same
        inference = [place for place in places if values[place].is_inference()]
        self._counted = _picker([place for place in places if place not in inference])
        self._uncounted = _picker(inference) if inference else None
        if baked:
            storages = [t.untyped_storage() for t in self._tensors(values)]
            self._storages = [weakref.ref(storage, self._lost.append) for storage in storages]
            counted = self._counted(values)
            self._stamps = [*map(_VERSION, counted), *map(_POINTER, counted)]
            self._bytes = b"" if self._uncounted is None else _digest(self._uncounted(values))
            _watch_optimizers(self)

    def unchanged(self, layout: Layout) -> bool:
        """Whether modules and weights are those that were captured, whatever the mode and their metadata."""
        return self.fresh((self._training, *layout[1:]), lambda *tensors: True)

    def fresh(self, layout: Layout, same_metadata: Callable[..., bool] | None = None) -> bool:
        """Whether what was captured still stands for the model, in the mode in which it was captured."""
        training, names, values, owners = layout
        if self._lost or training != self._training or names != self._names or owners != self._owners:
            return False
        if [*map(id, values)] != self._ids and (self._baked or not self._took(values)):
            return False
        tensors = self._tensors(values)
        if not (same_metadata or self._same_metadata)(*tensors):
            return False
        if not self._baked:
            return True
        if self._uncounted is not None:
            if _digest(self._uncounted(values)) != self._bytes:
                return False
            tensors = self._counted(values)
        return [*map(_VERSION, tensors), *map(_POINTER, tensors)] == self._stamps

    def lose(self, stepped: Mapping[int, torch.Tensor]) -> None:
        """Take note that an optimizer changed these tensors, by id."""
        if any(stepped.get(id(value)) is value for value in (known() for known in self._known) if value is not None):
            self._lost.append(None)

    def _took(self, values: list[Any]) -> bool:
        """Whether only weights were replaced, and are tied as those before them were; then these are the known ones."""
        if _ties(values) != self._ties:
            return False
        for known, value in zip(self._known, values, strict=True):
            if known() is not value and not isinstance(value, torch.Tensor):
                return False
        self._known, self._ids = _references(values, self._lost.append, tensors=False), list(map(id, values))
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


def _references(values: list[Any], lost: Callable[[object], None], *, tensors: bool) -> list[Callable[[], object]]:
    """Weak references, which call ``lost`` when a module dies, and when a tensor does where ``tensors`` is said."""
    return [
        _nothing if value is None else weakref.ref(value, lost if tensors or not isinstance(value, _TENSOR) else None)
        for value in values
    ]


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


# What a dead reference gives, too. A weight that died and is None now fails the comparison of metadata, and a module
# the one of training flags in the cache's key.
def _nothing() -> None:
    return None


def _digest(tensors: Iterable[torch.Tensor]) -> bytes:
    digest = hashlib.sha256()
    for tensor in tensors:
        data = tensor.detach().cpu().contiguous()
        if data.numel():
            digest.update(data.flatten().view(torch.uint8).numpy().data)
    return digest.digest()
