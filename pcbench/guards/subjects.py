"""A function compiled here, with the guards that Dynamo made for it and the locals that they check."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch

from pcbench import torch_api
from pcbench.errors import PcbenchError, UsageError
from pcbench.guards.guarded import Guarded


@dataclass(frozen=True)
class Frame:
    """A frame that Dynamo compiled.

    Attributes:
        manager: Its guards, torch's ``GuardManagerWrapper``.
        code: The code that was compiled; ``manager.cache_entry.code`` is what it became.
        f_locals, f_globals: What the guards look at: the frame's locals, by name, and its globals.
    """

    manager: Any
    code: types.CodeType
    f_locals: dict[str, Any]
    f_globals: dict[str, Any]

    def check(self) -> bool:
        """Whether the guards take the call that they were made for."""
        return bool(self.checking()())

    def checking(self) -> Callable[[], object]:
        """The check that a call makes: ``manager.check`` has Python around it, another in each torch."""
        check: Callable[[], object] = partial(self.manager.root.check, self.f_locals)
        return check

    def direct(self) -> Callable[[], object]:
        """A call of the compiled bytecode that checks no guard."""
        code = self.manager.cache_entry.code
        cells = tuple(types.CellType(self.f_locals[name]) for name in code.co_freevars)
        function = types.FunctionType(code, self.f_globals, code.co_name, None, cells)
        names = iter(code.co_varnames)
        args = [self.f_locals[next(names)] for _ in range(code.co_argcount)]
        kwargs = {name: self.f_locals[name] for name in [next(names) for _ in range(code.co_kwonlyargcount)]}
        if code.co_flags & inspect.CO_VARARGS:
            args += self.f_locals[next(names)]
        if code.co_flags & inspect.CO_VARKEYWORDS:
            kwargs |= self.f_locals[next(names)]
        return lambda: function(*args, **kwargs)


@dataclass(frozen=True)
class Subject:
    """A compiled function, its inputs, and the frames that a call of it runs, in the order of their compilation.

    Attributes:
        backend: What it was compiled with.
        compiled: What ``torch.compile`` gave.
    """

    guarded: Guarded
    backend: Any
    compiled: Callable[..., Any]
    frames: tuple[Frame, ...]

    def call(self) -> object:
        """Call it as its user does."""
        return self.compiled(*self.guarded.args, **self.guarded.kwargs)

    def require_valid(self) -> None:
        """Make sure that the guards still take their call: a check that refuses ends early, and takes no time.

        Raises:
            PcbenchError: They do not.
        """
        for frame in self.frames:
            told = frame.manager.root.check_verbose(frame.f_locals)
            if not told.result:
                raise PcbenchError(f"its guards refuse the call that they took before: {told.verbose_code_parts}")

    def checking(self) -> Callable[[], object]:
        """The checks of all frames as one call, with as little around it as can be."""
        return all_of([frame.checking() for frame in self.frames])


def all_of(calls: Sequence[Callable[[], object]]) -> Callable[[], object]:
    """Calls as one."""
    return calls[0] if len(calls) == 1 else lambda: [call() for call in calls]


@contextmanager
def compiled(guarded: Guarded, backend: Any = None, **options: Any) -> Iterator[Subject]:
    """Compile it, call it, and hand over its frames; its modes and config hold inside, and there alone.

    Args:
        backend: As ``torch.compile`` takes it; None for graphs that answer from memory (:func:`canned`), or, where
            gradients flow, for the graphs as they are: a backward needs its forward anew.
        options: More of what ``torch.compile`` takes.

    Raises:
        UnavailableError: This torch does not show its guards in the way that is known here.
        UsageError: The call raised, or nothing was compiled.
        PcbenchError: A call changes what its guards look at.
    """
    backend = backend or ("eager" if guarded.grad else canned)
    options = {"dynamic": guarded.dynamic} | options
    with torch.set_grad_enabled(guarded.grad), torch_api.get("dynamo_config").patch(**guarded.config):
        function = torch.compile(guarded.function, backend=backend, **options)
        with _frames() as frames:
            try:
                function(*guarded.args, **guarded.kwargs)
                made = len(frames)
                function(*guarded.args, **guarded.kwargs)
            except Exception as error:  # a stranger's code may raise anything: its own error is said
                raise UsageError(f"its compiled call raised {type(error).__name__}: {error}") from error
        if not frames:
            raise UsageError("Dynamo compiled no frame of it: it has no guards", hint="TORCH_LOGS=dynamo says why")
        _refuse_changing(frames, made)
        yield Subject(guarded, backend, function, tuple(frames[:made]))


def _refuse_changing(frames: Sequence[Frame], made: int) -> None:
    """Refuse a function that changes what its guards look at: it has no hit.

    Args:
        made: How many of the frames the first call compiled; the second call was the same.
    """
    hint = "it changes what they look at: give inputs and a model that a call leaves as they are"
    if len(frames) > made:
        raise PcbenchError("its guards refuse a second call like the first", hint=hint)
    if not all(frame.check() for frame in frames):
        raise PcbenchError("its guards refuse the call that they were made for", hint=hint)


def canned(graph: Callable[..., Any], inputs: Sequence[Any]) -> Callable[..., Any]:  # noqa: ARG001  # a backend's signature
    """A backend whose graphs run once and then answer what they answered: a call costs what is around its graphs."""
    answers: list[Any] = []

    def answer(*args: Any) -> Any:
        if not answers:
            answers.append(graph(*args))
        return answers[0]

    return answer


@contextmanager
def _frames() -> Iterator[list[Frame]]:
    """The frames that are compiled inside.

    Containers are copied: a call may change those that it got, after its guards were made.
    """
    found: list[Frame] = []

    def see(manager: Any, f_locals: Mapping[str, Any], builder: Any) -> None:
        kept = {name: value.copy() if type(value) in (dict, list) else value for name, value in f_locals.items()}
        found.append(Frame(manager, builder.f_code, kept, builder.scope["G"]))

    holder, attribute = torch_api.holder("guard_hook")
    before = getattr(holder, attribute)
    setattr(holder, attribute, see)
    try:
        yield found
    finally:
        setattr(holder, attribute, before)
