"""``pcbench.ModelRunnerCache``: a loaded runner per model and kind of call, captured when it is first asked for."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import nn

from pcbench import snapshot, torch_api
from pcbench.errors import UsageError
from pcbench.runner import making, signature, weights
from pcbench.runner.kept import CachedRunner, Kept
from pcbench.runner.signature import Key

BOUND = 16
"""How many runners a cache keeps unless it is told otherwise: one with baked weights holds a copy of them."""

# Dynamo and export are not thread safe, whichever cache asks. A thread that has it may ask again: see _captured_now.
_CAPTURING = threading.RLock()
_captured_now: set[int] = set()

_INFERENCE = torch.is_inference_mode_enabled
_FUNCTION_MODES = torch_api.get("function_modes")
_NO_KWARGS: dict[str, Any] = {}


class _Shared(type):
    @property
    def load(cls) -> Callable[..., CachedRunner]:
        """The process-wide cache's."""
        return PROCESS_WIDE.load


class ModelRunnerCache(metaclass=_Shared):
    """Runners by model and kind of call; ``load`` captures what is asked for the first time, and finds it later.

    ``ModelRunnerCache.load(model, example_inputs)`` uses one cache for the process, ``PROCESS_WIDE``; an instance
    has its own. A model is known by its identity, and its runners and their files end with it. A kind of call is what
    :mod:`pcbench.runner.signature` keys by, with the training flags of the model and of its submodules, strategy and
    options.

    A strategy that bakes weights in captures again when the model's modules, parameters or buffers were replaced, given
    another storage, or changed in place. It does not see what torch's version counters do not count: changes in place
    through ``tensor.data``, a NumPy array or a storage; by kernels of others that write to memory; and of running
    statistics by batch normalisation in training mode, so that ``F.batch_norm(..., training=True)`` on buffers of one's
    own, or a ``BatchNorm`` whose ``num_batches_tracked`` is None, leaves a runner that is not up to date (torch's own
    modules are seen by ``num_batches_tracked``). Weights made in inference mode have no counter: their bytes are
    digested at every hit, at the speed of SHA-256. A strategy that is passed the weights captures again when modules
    were replaced, or the weights' number, names, types, dtypes, sizes, strides, devices or ties changed. None notices
    plain Python attributes of modules, their hooks, or another class; or inputs that share memory unless they are the
    same tensor.

    A runner with baked weights is a copy: what a call changes in buffers, and gradients of weights, stay with the copy.
    Weights are referred to weakly, which ``torch.utils.swap_tensors`` refuses.

    All methods may be called from several threads. Captures happen one at a time in the process; hits do not wait for
    them. Hits, misses and evictions are counted; an eviction is a runner that made room for another. A runner works on
    after its entry is gone, as long as its model lives where its weights are passed.

    Args:
        bound: The most runners to keep; the one not used for longest makes room.
        strategy: A strategy's name; without it ``nativert`` where this torch has it, else ``export``.
        options: Entries of Inductor's config that are in effect during capture and load, for strategies that take them.
    """

    def __init__(
        self, bound: int = BOUND, *, strategy: str | None = None, options: Mapping[str, Any] | None = None
    ) -> None:
        if not isinstance(bound, int) or bound < 1:
            raise UsageError(f"a cache cannot be bound to {bound} runners", hint="give 1 or more")
        self._strategy = strategy
        self._options = dict(options or {})
        self._of_options = signature.of_options(self._options)
        self._kept = Kept(bound)
        self._registered: dict[str, None] = {}

    def load(
        self,
        model: nn.Module,
        example_inputs: Any,
        example_kwargs: Mapping[str, Any] | None = None,
        *,
        strategy: str | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> CachedRunner:
        """The runner of a model for calls like the example's; captured, saved and loaded where there is none yet.

        Args:
            model: The model, in the mode that it is to be captured in; it is left as it is.
            example_inputs: A tensor (one argument), a tuple or list of arguments, or a mapping of keyword arguments.
            example_kwargs: Keyword arguments beside a tensor, tuple or list.
            strategy: A strategy's name, instead of the cache's.
            options: Entries of Inductor's config, instead of the cache's.

        Raises:
            UsageError: The inputs cannot be keyed, or there is no such strategy or option.
            RunnerError: The model could not be captured, saved or loaded.
        """
        if type(example_inputs) is tuple and example_kwargs is None:
            args, kwargs = example_inputs, _NO_KWARGS
        else:
            args, kwargs = signature.arguments(example_inputs, example_kwargs)
        name = strategy or self._strategy or making.default_strategy()
        if options is None:
            options, of_options = self._options, self._of_options
        else:
            of_options = signature.of_options(options)
        inputs, tensors = signature.of_call(args, kwargs)
        layout = weights.walk(model)
        key: Key = (id(model), name, of_options, _INFERENCE(), inputs)
        if modes := _FUNCTION_MODES():  # a default device is one, and what Dynamo's guard on modes does not tell
            key = *key, modes, str(torch.get_default_device())
        found = self._kept.find(key, tensors, model, layout)
        if found is not None:
            return found
        ties = signature.ties(tensors)
        if ties is not None:
            key = *key, ties
            tensors = [tensors[place] for place in sorted(set(ties))]
            found = self._kept.find(key, tensors, model, layout)
            if found is not None:
                return found
        with _CAPTURING:
            layout = weights.walk(model)  # another thread may have captured, and changed, it meanwhile
            found = self._kept.find(key, tensors, model, layout)
            if found is not None:
                return found
            if id(model) in _captured_now:
                raise UsageError(f"{type(model).__qualname__} asks for a runner of itself while it is captured")
            metadata = signature.metadata(tensors)
            folder = self._kept.missed(name)
            _captured_now.add(id(model))
            try:
                # What is in a mapping that is no pytree node, those who run the model do not see.
                with snapshot.preserved(signature.tensors_of((args, kwargs))):
                    made = making.make(name, model, args, kwargs, options, folder)
            except BaseException:
                shutil.rmtree(folder, ignore_errors=True)
                raise
            finally:
                _captured_now.discard(id(model))
            self._registered.update(dict.fromkeys(made.registered))
            return self._kept.put(key, metadata, model, layout, made, folder)

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def hits(self) -> int:
        return self._kept.hits

    @property
    def misses(self) -> int:
        return self._kept.misses

    @property
    def evictions(self) -> int:
        """How many runners made room for others."""
        return self._kept.evictions

    @property
    def registered(self) -> tuple[str, ...]:
        """Dataclasses that are pytree nodes for the rest of the process because of this cache, ``module:qualname``."""
        return tuple(self._registered)

    def clear(self) -> None:
        """Drop all runners and their files; the counts stay."""
        self._kept.clear()


PROCESS_WIDE = ModelRunnerCache()
"""The cache that ``ModelRunnerCache.load``, called on the class, uses."""
