"""The values that guards look at, at their places in the trees of all frames, and copies of parts of these trees."""

from __future__ import annotations

import functools
import itertools
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pcbench import torch_api
from pcbench.guard_samples import ROOT
from pcbench.guards.census import Node, normalised, tree
from pcbench.guards.subjects import Frame, Subject

_VARIABLE = re.compile(r"\b([LG])\['([^']*)'\]")
_MODULE = re.compile(r"\._modules\['([^']*)'\]")


@dataclass(frozen=True, eq=False)
class Value:
    """A value that is guarded.

    Attributes:
        name: Its place, as the census names it.
        frame: The frame that looks at it, and its number from 1.
        path: The nodes from its frame's root to it, itself included.
        step: By what it is reached, as the census counts it: an accessor's type, or dict keys or values.
        parent: None for a root.
    """

    name: str
    frame: Frame
    number: int
    path: tuple[Node, ...]
    step: str
    parent: Value | None

    @property
    def node(self) -> Node:
        return self.path[-1]

    @property
    def module(self) -> str:
        """Its module, or what holds it where there is none; with the frame's number after the first."""
        name = module_of(self.node.manager.get_source())
        return name if self.number == 1 else f"{name} (frame {self.number})"


def values_of(subject: Subject) -> Iterator[Value]:
    """All values, each frame's root first, and each below its parent."""
    names: Counter[str] = Counter()
    for number, frame in enumerate(subject.frames, 1):
        below: list[tuple[Node, str, Value | None]] = [(tree(frame.manager.root), "", None)]
        while below:
            node, step, parent = below.pop()
            source = normalised(node.manager.get_source()) or ROOT
            names[source] += 1
            name = source if names[source] == 1 else f"{source} #{names[source]}"
            value = Value(name, frame, number, (*(parent.path if parent else ()), node), step, parent)
            yield value
            steps = [f"accessors: {type(accessor).__name__}" for accessor in node.manager.get_accessors()]
            steps += [f"dict {child.role}s" for child in node.children[len(steps) :]]
            below += [(child, step, value) for child, step in zip(node.children, steps, strict=True)][::-1]


def module_of(source: str) -> str:
    """``self.encoder.0`` for what torch calls ``L['self']._modules['encoder']._modules['0'].eps``.

    Where no module is on the way, the variable; ``globals`` for whatever is reached through globals.
    """
    found = _VARIABLE.search(source)
    if found is None or found[1] == "G":
        return "globals" if found or source == "G" else ROOT
    return ".".join((found[2], *_MODULE.findall(source)))


def guards_of(nodes: Iterable[Node]) -> list[Any]:
    """The guards of some nodes, torch's objects; those in two places are there twice."""
    return list(itertools.chain.from_iterable(node.manager.get_leaf_guards() for node in nodes))


def related(nodes: Iterable[Node]) -> bool:
    """Whether a guard among theirs looks at several values."""
    relational = torch_api.get("relational_guard")
    return any(isinstance(guard, relational) for guard in guards_of(nodes))


def check_of(frame: Frame, kept: Collection[Node]) -> Callable[[], object] | str:
    """A check of a copy of some nodes of a frame's tree, the root among them, or what it refuses the call for.

    A copy has the same guards, not the same state: what torch noted at the tree's own checks is not in it.
    """
    managers = {id(node.manager) for node in kept}  # torch hands its filter the objects that the tree holds
    copy = frame.manager.root.clone_manager(lambda manager: id(manager) in managers)
    # Twice: a relational guard that was not reset refuses the second.
    if copy.check(frame.f_locals) and copy.check(frame.f_locals):
        check: Callable[[], object] = functools.partial(copy.check, frame.f_locals)
        return check
    return "; ".join(copy.check_verbose(frame.f_locals).verbose_code_parts) or "it does not say for what"


def empty_check(f_locals: Mapping[str, Any]) -> Callable[[], object]:
    """A check of no guards."""
    return functools.partial(torch_api.get("root_guard_manager")().check, f_locals)
