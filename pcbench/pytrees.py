"""Dataclasses as pytree nodes: most of torch's front-ends see only through types that its registry knows."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Iterable
from typing import Any

import torch

from pcbench import torch_api
from pcbench.errors import ArtifactError, UnavailableError


def tensors(tree: Any) -> list[torch.Tensor]:
    """The tensors among the leaves of ``tree``; nested dataclasses, registered or not, are looked into."""
    found: list[torch.Tensor] = []
    for leaf in torch_api.get("pytree").tree_leaves(tree):
        if isinstance(leaf, torch.Tensor):
            found.append(leaf)
        elif _is_dataclass(leaf):
            found.extend(tensors([getattr(leaf, f.name) for f in dataclasses.fields(leaf)]))
    return found


def register(tree: Any) -> tuple[str, ...]:
    """Register the dataclasses in ``tree``, nested ones too, for the rest of this process.

    Returns:
        The names (``module:qualname``) of all dataclasses in the tree.

    Raises:
        UnavailableError: A class is local to a function, so that no other process could find it.
    """
    seen: dict[str, type] = {}
    _classes(tree, seen)
    for name, cls in seen.items():
        if "<locals>" in name:
            raise UnavailableError(
                f"{name} is defined inside a function, so a process that loads cannot import it",
                hint="define the dataclass at the top of its module",
            )
        _register(name, cls)
    return tuple(seen)


def register_named(names: Iterable[str]) -> None:
    """Register in this process what :func:`register` registered in the one that captured.

    Raises:
        ArtifactError: A class cannot be imported here.
    """
    for name in names:
        module_name, _, qualname = name.partition(":")
        try:
            found: Any = importlib.import_module(module_name)
            for part in qualname.split("."):
                found = getattr(found, part)
            if not (dataclasses.is_dataclass(found) and isinstance(found, type)):
                raise TypeError(f"it is no dataclass but {found!r:.60}")
        except (ImportError, AttributeError, ValueError, TypeError) as error:
            raise ArtifactError(
                f"the artifact needs the dataclass {name}, which cannot be imported here: {error}",
                hint="load it where the model's own module is importable",
            ) from error
        _register(name, found)


def _classes(tree: Any, seen: dict[str, type]) -> None:
    """Collect the dataclasses in ``tree``, one level at a time: a registered one is no leaf any more."""
    if _is_dataclass(tree):
        cls = type(tree)
        seen[f"{cls.__module__}:{cls.__qualname__}"] = cls
        children = [getattr(tree, f.name) for f in dataclasses.fields(tree)]
    else:
        children = torch_api.get("pytree").tree_leaves(tree, is_leaf=lambda node: node is not tree)
    for child in children:
        if child is not tree:
            _classes(child, seen)


def _register(name: str, cls: type) -> None:
    pytree = torch_api.get("pytree")
    if cls not in pytree.SUPPORTED_NODES:
        pytree.register_dataclass(cls, serialized_type_name=name)


def _is_dataclass(value: Any) -> bool:
    return dataclasses.is_dataclass(value) and not isinstance(value, type)
