"""What a call is keyed by: its inputs, the modes that it is made in, and options. Made of hashable builtins alone.

This runs on every look-up, so it is flat and does no more than it must; ``bench_runner_cache`` says what it costs.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import torch

from pcbench import torch_api
from pcbench.errors import UsageError

Key = tuple[Any, ...]

_MARKS = (torch_api.MARKED_DIMS, torch_api.MARKED_RANGES, *torch_api.OTHER_MARKS)
_TENSOR = torch.Tensor
_BY_VALUE = frozenset((bool, int, str, bytes, torch.dtype, torch.device, torch.layout, torch.memory_format))
_BY_TEXT = frozenset((float, complex))  # 0.0 == -0.0, and nan != nan


def arguments(example_inputs: Any, example_kwargs: Mapping[str, Any] | None) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Args and kwargs of the call that the example inputs stand for.

    A tensor is one argument; a tuple or list, all of them; a mapping, dict or not, keyword arguments.

    Raises:
        UsageError: They are something else, or keywords are given twice or are no strings.
    """
    kind = type(example_inputs)
    if isinstance(example_inputs, (tuple, list)):
        args, kwargs = tuple(example_inputs), example_kwargs
    elif isinstance(example_inputs, torch.Tensor):
        args, kwargs = (example_inputs,), example_kwargs
    elif not isinstance(example_inputs, Mapping):
        raise UsageError(
            f"example inputs are a {kind.__name__}",
            hint="give a tensor, a tuple or list of arguments, or a mapping of keyword arguments",
        )
    elif example_kwargs is not None:
        raise UsageError("keyword arguments are given twice", hint="give a tuple of arguments and example_kwargs")
    else:
        args, kwargs = (), example_inputs
    if not kwargs:
        return args, {}
    named = dict(kwargs)
    for name in named:
        if not isinstance(name, str):
            raise UsageError(f"the keyword {name!r:.60} is no string", hint="name the model's parameters")
    return args, named


def of_call(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Key | int, Sequence[torch.Tensor]]:
    """The key of a call's inputs, and the tensors whose :func:`metadata` and :func:`ties` are compared beside it.

    The key of plain tensors without keywords is their number, which hashes fastest. Any other holds the structure,
    leaves that are no tensors by type and value, and types of tensors. A tensor with Dynamo's marks is keyed whole: by
    dtype, device, dispatch keys, marks, sizes and strides. A dim marked dynamic does not key by its size unless that is
    0 or 1, and then strides key as contiguous, channels last, or as they are.
    Contents of tensors do not key, nor does the order of keywords; that of a mapping's items does.

    Raises:
        UsageError: A leaf cannot be keyed.
    """
    if not kwargs:
        for value in args:
            if type(value) is not _TENSOR or value.__dict__:
                break
        else:
            return len(args), args
    out: list[Any] = [len(args)]
    plain: list[torch.Tensor] = []
    marked: list[torch.Tensor] = []
    for value in args:
        _add(value, out, plain, marked)
    for name in sorted(kwargs):
        out.append(name)
        _add(kwargs[name], out, plain, marked)
    if marked:
        out.append(ties(marked))
    if out == [len(args), *[_TENSOR] * len(args)]:  # plain but for attributes that are no marks
        return len(args), plain
    return tuple(out), plain


def tensors_of(inputs: Any) -> list[torch.Tensor]:
    """All tensors that :func:`of_call` finds, those in mappings that are no pytree nodes among them.

    Raises:
        UsageError: A leaf cannot be keyed.
    """
    found: list[torch.Tensor] = []
    _add(inputs, [], found, found)
    return found


def ties(tensors: Sequence[torch.Tensor]) -> tuple[int, ...] | None:
    """For each tensor the first place where it occurs; None where none occurs twice."""
    ids = list(map(id, tensors))
    return None if len(set(ids)) == len(ids) else tuple(map(ids.index, ids))


class Metadata(NamedTuple):
    """``same`` tells of as many tensors whether they are like those it was made of; it holds ``kinds`` by address."""

    same: Callable[..., bool]
    kinds: tuple[type, ...]


def metadata(tensors: Sequence[torch.Tensor]) -> Metadata:
    """What tells types, dtypes, devices, sizes, strides and dispatch keys; no tensor may occur twice.

    Dispatch keys tell layout, inference, conjugation and the like. ``requires_grad`` counts where grad mode is on. Of
    tensors that are not all different, ``same`` says False.

    Raises:
        UsageError: A tensor has no strides or sizes of its own, as sparse and nested ones, or has inner tensors.
    """
    kinds = tuple(map(type, tensors))
    if not tensors:
        return Metadata(lambda: True, kinds)
    for tensor in tensors:
        _refuse_opaque(tensor)
    try:
        shapes, strides = [list(t.shape) for t in tensors], [list(t.stride()) for t in tensors]
    except RuntimeError as error:  # a nested tensor has neither
        raise UsageError(f"an input or weight cannot be keyed: {error}", hint="give plain tensors") from error
    # Without sizes and strides torch 2.11 to 2.15 end in a segmentation fault.
    guards = torch_api.get("tensor_guards")(*tensors, dynamic_dims_sizes=shapes, dynamic_dims_strides=strides)
    return Metadata(guards.check, kinds)


def mode() -> Callable[[], bool]:
    """What tells whether the state of torch that a captured graph depends on is as it is now.

    That is grad and autocast mode, CPU threads, default dtype, deterministic algorithms and the precision of matrix
    products, as Dynamo's own guard on global state has them; inference mode, which looks like no grad to it, is not.
    Not seen: what else is set in Inductor's or Dynamo's config.
    """
    same: Callable[[], bool] = torch_api.get("state_guard")().check
    return same


def of_options(options: Mapping[str, Any] | None) -> Key:
    """The key of entries of Inductor's config.

    Raises:
        UsageError: A value cannot be keyed.
    """
    if not options:
        return ()
    out: list[Any] = []
    for name in sorted(options):
        out.append(name)
        _add(options[name], out, [], [])
    return tuple(out)


def _add(value: Any, out: list[Any], plain: list[torch.Tensor], marked: list[torch.Tensor]) -> None:
    kind = type(value)
    if isinstance(value, torch.Tensor):
        if value.__dict__ and any(mark in value.__dict__ for mark in _MARKS):
            out.append(_marked(value))
            marked.append(value)
        else:
            out.append(kind)
            plain.append(value)
    elif value is None or kind in _BY_VALUE:
        out += (kind, value)
    elif kind in _BY_TEXT:
        out += (kind, repr(value))
    elif kind is tuple or kind is list or (isinstance(value, tuple) and hasattr(kind, "_fields")):
        out += (kind, len(value))
        for child in value:
            _add(child, out, plain, marked)
    elif dataclasses.is_dataclass(kind):
        out.append(kind)
        for field in dataclasses.fields(kind):
            _add(getattr(value, field.name), out, plain, marked)
    elif isinstance(value, Mapping):
        out += (kind, len(value))
        for name, child in value.items():
            _add(name, out, plain, marked)
            _add(child, out, plain, marked)
    elif isinstance(value, enum.Enum):
        out += (kind, value.name)
    elif kind is torch.Size:
        out += (kind, value)
    else:
        raise UsageError(
            f"an input or option of type {kind.__module__}.{kind.__qualname__} cannot be keyed",
            hint="tensors, numbers, strings, None, enums, dtypes, devices, tuples, lists, mappings and dataclasses can",
        )


def _marked(tensor: torch.Tensor) -> Key:
    """The whole key of a tensor with marks: what the marks leave free of its sizes and strides, and the marks."""
    _refuse_opaque(tensor)
    dims, spans, *others = (tensor.__dict__.get(mark, ()) for mark in _MARKS)
    layout: Any = tensor.stride()
    if dims and tensor.is_contiguous():
        layout = "contiguous"
    elif dims and tensor.dim() == 4 and tensor.is_contiguous(memory_format=torch.channels_last):
        layout = "channels last"
    return (
        type(tensor),
        tensor.dtype,
        tensor.device,
        tensor.requires_grad,
        torch_api.get("dispatch_keys")(tensor).raw_repr(),
        tuple("any" if dim in dims and size > 1 else size for dim, size in enumerate(tensor.shape)),
        layout,
        tuple(sorted((span.dim, repr(span.min), repr(span.max)) for span in spans)),
        *(tuple(sorted(marks)) for marks in (dims, *others)),
    )


def _refuse_opaque(tensor: torch.Tensor) -> None:
    kind = type(tensor)
    if kind is not _TENSOR and hasattr(kind, "__tensor_flatten__"):
        raise UsageError(f"a {kind.__name__} has inner tensors, which are not seen", hint="give plain tensors")
    if tensor.layout is not torch.strided:
        raise UsageError(f"tensors of layout {tensor.layout} cannot be keyed", hint="make them dense")
