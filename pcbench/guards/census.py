"""What a subject's guards are, counted: exact, and the same in every process."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch

from pcbench import timing, torch_api
from pcbench.guard_samples import EPILOGUE, PYTHON_GUARDS, ROOT, Census, Place
from pcbench.guards import subjects
from pcbench.guards.guarded import guarded
from pcbench.guards.request import BUILDING, Emit, Request
from pcbench.guards.subjects import Frame, Subject

_QUESTION = re.compile(r"(is|has)_\w+")
_ADDRESS = re.compile(r"0x[0-9a-f]+|\d{9,}")
_UNIQUE = re.compile(r"[0-9a-f]{8}(_[0-9a-f]{4}){3}_[0-9a-f]{12}|(?<=__builtins_dict___)\d+")


@dataclass
class Node:
    """A manager in the tree of guards.

    Attributes:
        manager: torch's, with ``get_source()``.
        depth: 0 at the root.
        role: ``root``, ``child``, ``key`` or ``value``: of a dict's manager.
    """

    manager: Any
    depth: int
    role: str
    children: list[Node] = field(default_factory=list)

    def walk(self) -> Iterator[Node]:
        """The node itself and all below it."""
        yield self
        for child in self.children:
            yield from child.walk()


def tree(root: Any) -> Node:
    """All managers below a frame's ``manager.root``.

    A dict's children are its keys' and values' managers, and, as for all others, those of its accessors.
    """
    top = Node(root, 0, "root")
    pending = [top]
    while pending:
        node = pending.pop()
        below = [(child, "child") for child in node.manager.get_child_managers()]
        if isinstance(node.manager, torch_api.get("dict_manager")):
            for _, (key, value) in sorted(node.manager.get_key_value_managers().items()):
                below += [(one, role) for one, role in ((key, "key"), (value, "value")) if one is not None]
        node.children = [Node(manager, node.depth + 1, role) for manager, role in below]
        pending += node.children
    return top


def guard_census(request: Request, clock: timing.PhaseClock, emit: Emit) -> None:  # noqa: ARG001  # one signature for all requests
    """Emit the census of the target."""
    emit({"stage": BUILDING})
    target = guarded(request.target, request.size, Path(request.cwd))
    emit({"stage": "compiling"})
    with subjects.compiled(target) as subject:
        found = asdict(census(subject))
    emit({"census": found, "torch": torch.__version__, "torch_git": torch.version.git_version})


def census(subject: Subject) -> Census:
    """Count everything that the guards of all frames expose."""
    counts: Counter[str] = Counter()
    unknown: dict[str, str] = {}
    places: dict[str, Place] = {}
    for frame in subject.frames:
        for source, place in _count_frame(frame, counts, unknown):
            again = itertools.count(2)
            name = source
            while name in places:
                name = f"{source} #{next(again)}"
            places[name] = place
    counts["frames"] = len(subject.frames)
    counts["cache entries"] = sum(
        len(torch_api.get("cache_entries")(code)) for code in {f.code for f in subject.frames}
    )
    _count_metrics(len(subject.frames), counts, unknown)
    return Census(dict(sorted(counts.items())), places, unknown)


def _count_frame(frame: Frame, counts: Counter[str], unknown: dict[str, str]) -> Iterator[tuple[str, Place]]:
    """Count a frame's guards; the places of its tree, by source."""
    nodes = list(tree(frame.manager.root).walk())
    counts["depth"] = max(counts["depth"], *(node.depth for node in nodes))
    for node in nodes:
        manager = node.manager
        counts["managers"] += 1
        counts[f"managers: {type(manager).__name__}"] += 1
        if node.role in ("key", "value"):
            counts[f"dict {node.role}s"] += 1
        for accessor in manager.get_accessors():
            counts["accessors"] += 1
            counts[f"accessors: {type(accessor).__name__}"] += 1
        for guard in manager.get_leaf_guards():
            _count_guard(guard, counts)
        answers = _answers(manager, unknown)
        for question, answer in answers.items():
            counts[f"answers: {question}"] += answer
        types = sorted(type(guard).__name__ for guard in manager.get_leaf_guards())
        yes = sorted(question for question, answer in answers.items() if answer)
        yield normalised(manager.get_source()) or ROOT, Place(tuple(types), tuple(yes))
    epilogue = frame.manager.root.get_epilogue_lambda_guards()
    for guard in epilogue:
        _count_guard(guard, counts)
    counts["epilogue guards"] += len(epilogue)
    if epilogue:
        yield EPILOGUE, Place(tuple(sorted(type(guard).__name__ for guard in epilogue)))
    counts["code parts"] += len(frame.manager.code_parts)
    counts["code bytes"] += sum(len(normalised(part).encode()) for part in frame.manager.code_parts)
    differential = frame.manager.diff_guard_root
    counts["differential guards"] += 0
    if differential is not None:
        counts["differential guards"] += sum(len(n.manager.get_leaf_guards()) for n in tree(differential).walk())


def _count_guard(guard: Any, counts: Counter[str]) -> None:
    kind = type(guard).__name__
    counts["guards"] += 1
    counts[f"guards: {kind}"] += 1
    counts["guards in Python" if kind in PYTHON_GUARDS else "guards in C++"] += 1
    counts["relational guards"] += isinstance(guard, torch_api.get("relational_guard"))


def _answers(manager: Any, unknown: dict[str, str]) -> dict[str, bool]:
    """Each question that a manager of this torch answers with yes or no; whatever else it has may change it."""
    found = {}
    for name in filter(_QUESTION.fullmatch, dir(manager)):
        try:
            answer = getattr(manager, name)()
        except TypeError as error:
            unknown[f"answers: {name}"] = f"it takes arguments: {str(error).partition(chr(10))[0]}"
            continue
        if isinstance(answer, bool):
            found[name] = answer
        else:
            unknown[f"answers: {name}"] = f"it answers with a {type(answer).__name__}"
    return found


def normalised(code: str) -> str:
    """Guard code without what differs from process to process: addresses, and names that torch makes unique."""
    return _ADDRESS.sub("#", _UNIQUE.sub("#", code))


def _count_metrics(frames: int, counts: Counter[str], unknown: dict[str, str]) -> None:
    """What torch's own metrics of the last compilations say."""
    told = [metrics for metrics in torch_api.get("compilation_metrics")() if metrics.guard_count is not None]
    for name in ("guard_count", "shape_env_guard_count"):
        if len(told) < frames:
            unknown[f"metrics: {name}"] = f"torch kept metrics of {len(told)} of {frames} compilations"
        else:
            counts[f"metrics: {name}"] = sum(getattr(metrics, name) for metrics in told[-frames:])
