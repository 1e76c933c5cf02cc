"""Compiler caches that travel with an artifact, so that a first load elsewhere compiles nothing.

What ships with torch's own formats does not spare the C++ compiles on a CPU: kernels are built again, and the
instruction set is probed with the compiler. Both are found in Inductor's cache folder where it has them, under names
made from the compiler's command line: from the paths of torch and of Python's headers, and from what the compiler says
of its version.
"""

from __future__ import annotations

import functools
import os
import re
import shlex
import shutil
import subprocess
import sysconfig
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import is_dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from pcbench import torch_api
from pcbench.errors import ArtifactError, UnavailableError
from pcbench.manifest import ASKED, Caches, Manifest
from pcbench.runner.artifact import Artifact
from pcbench.strategies import Runner, Strategy

_FOLDER = "caches"
_NEEDED = ("*.so", "*.so.load_ok")
"""Libraries, and that they were tried; sources and graphs are written again by a load, from the artifact."""

_PLAIN = {"cpp_cache_precompile_headers": False}
"""A precompiled header takes 150 MB and a compiler, and is part of the command line that caches are keyed by."""

_BY_NAME = re.compile(r"\w[\w.+-]*")

_held = threading.RLock()
"""Environment variables and Inductor's config are the process's, not a thread's."""


def _renew() -> None:
    global _held  # whoever held the lock is not in a forked child
    _held = threading.RLock()


os.register_at_fork(after_in_child=_renew)


def alone() -> threading.RLock:
    """A lock to hold while a strategy captures or loads: no other of pcbench's does so in this process meanwhile.

    A thread that compiles without pcbench is not kept from it.
    """
    return _held


def saving(strategy: Strategy, manifest: Manifest) -> AbstractContextManager[Callable[[Path], Caches] | None]:
    """A context to capture and save in, whose answer gathers what was compiled in it; None where nothing is.

    Raises:
        UnavailableError: The artifact is for a GPU, whose kernels are not gathered.
    """
    if not strategy.machine_code:
        return nullcontext()
    if manifest.platform.device != "cpu":
        raise UnavailableError(f"compiler caches are carried for cpu alone, and this is for {manifest.platform.device}")
    return _capturing()


@contextmanager
def _capturing() -> Iterator[Callable[[Path], Caches]]:
    """Inductor's cache folder is a new one meanwhile, and the instruction set is probed anew, into that folder."""
    with alone(), torch_api.get("fresh_cache")(), torch_api.get("inductor_config").patch(_PLAIN):
        _forget()
        place = Path(os.environ["TORCHINDUCTOR_CACHE_DIR"])
        yield lambda artifact: _gather(place, artifact / _FOLDER)


def _forget() -> None:
    """Let torch ask the compiler and probe the instruction set anew: it keeps the answers as long as the process.

    An instruction set that was probed keeps the compiler's options that it found, and with AMX the next probe is built
    with those, under another name than in a process that probes for the first time.
    """
    for name in ("cpp_builder", "cpu_vec_isa"):
        module = torch_api.get(name)
        classes = (each for each in vars(module).values() if isinstance(each, type))
        for owner in (module, *(each for each in classes if each.__module__ == module.__name__)):
            for kept in tuple(vars(owner).values()):
                if isinstance(kept, functools._lru_cache_wrapper):
                    kept.cache_clear()
                elif isinstance(kept, list):
                    kept[:] = [_anew(each) for each in kept]


def _anew(each: Any) -> Any:
    return replace(each) if is_dataclass(each) and not isinstance(each, type) else each


def _gather(place: Path, into: Path) -> Caches:
    for pattern in _NEEDED:
        for path in sorted(place.glob(f"??/{pattern}")):
            target = into / path.relative_to(place)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
    compiler: str = torch_api.get("cpp_compiler")()
    told = {word: _said(compiler, word) for word in ASKED}
    return Caches(*_paths(), compiler, told)


def _paths() -> tuple[str, str]:
    return str(Path(torch.__file__).parent), sysconfig.get_path("include")


def _said(compiler: str, word: str) -> str:
    command, env = [*shlex.split(compiler), word], os.environ | {"LC_ALL": "C"}
    return subprocess.check_output(command, stderr=subprocess.STDOUT, text=True, env=env)


def load(found: Artifact, strategy: Strategy, model: nn.Module) -> Runner:
    """The runner of an opened artifact from the caches that it carries.

    They are copied to a private folder, to which Inductor's is set while the strategy loads; where it compiles when it
    is first called, then again. The artifact, and the user's own caches, stay as they are.

    Raises:
        UnavailableError: It carries no caches, or they were made for another place.
    """
    usable = unusable(found)
    if usable is not None:
        raise UnavailableError(usable)
    with _in_effect(found):
        runner = strategy.load(found.payload, model)
    return _first_within(found, runner) if strategy.retraces else runner


def unusable(found: Artifact) -> str | None:
    """Why the artifact's caches are of no use here; None where they are."""
    made = found.manifest.caches
    if made is None:
        return f"{found.folder} carries no compiler caches: save it with them"
    torch_path, python_include = _paths()
    for what, then, now in (
        ("torch", made.torch_path, torch_path),
        ("Python's headers", made.python_include, python_include),
    ):
        if then != now:
            return (
                f"the compiler caches in {found.folder} were made with {what} in {then}, and here that is {now}: "
                "they are keyed by this path"
            )
    return None


def _first_within(found: Artifact, runner: Runner) -> Runner:
    called = threading.Event()

    def run(*args: Any, **kwargs: Any) -> Any:
        if called.is_set():
            return runner(*args, **kwargs)
        with alone():
            if called.is_set():  # by the thread that had the lock before
                return runner(*args, **kwargs)
            with _in_effect(found):
                output = runner(*args, **kwargs)
            called.set()
        return output

    return run


@contextmanager
def _in_effect(found: Artifact) -> Iterator[None]:
    made = found.manifest.caches
    assert made is not None
    private = found.payload.parent
    with alone():
        caches, tools = private / "inductor", private / "bin"
        try:
            _lay_out(found.payload / _FOLDER, caches)
            _stand_in(made, tools)
        except OSError as error:
            raise ArtifactError(
                f"the compiler caches of {found.folder} could not be copied to {private}: {error.strerror}",
                hint="set TMPDIR to a folder with room for the artifact",
            ) from error
        env = {
            "TORCHINDUCTOR_CACHE_DIR": str(caches),
            "PATH": f"{tools}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        }
        config = torch_api.get("inductor_config")
        _forget()
        try:
            with _set(env), config.patch({**_PLAIN, "cpp.cxx": (None, made.compiler)}):
                yield
        finally:
            _forget()


def _lay_out(carried: Path, caches: Path) -> None:
    """Copy the caches, whole or not at all."""
    if caches.exists():
        return
    aside = caches.with_name(f"{caches.name}.new")
    shutil.rmtree(aside, ignore_errors=True)
    if carried.is_dir():
        shutil.copytree(carried, aside)
    aside.mkdir(exist_ok=True)
    aside.rename(caches)


def _stand_in(made: Caches, tools: Path) -> None:
    """A program with the compiler's name that tells the version of that which built the caches.

    Whatever else it is asked for, it hands to this machine's compiler of that name, if there is one. A compiler that
    Inductor calls by a path, or by several words, has none: it must be here, and of the same version.
    """
    tools.mkdir(exist_ok=True)
    if not _BY_NAME.fullmatch(made.compiler):
        return
    for word, text in made.answers.items():
        (tools / f"said{word}").write_text(text, encoding="utf-8")
    real = shutil.which(made.compiler)
    otherwise = f'exec {shlex.quote(real)} "$@"' if real else "echo there is no compiler here >&2; exit 127"
    here = shlex.quote(str(tools))
    script = f'#!/bin/sh\ncase "$*" in --version|-v) cat {here}/"said$*";; *) {otherwise};; esac\n'
    (tools / made.compiler).write_text(script, encoding="utf-8")
    (tools / made.compiler).chmod(0o700)


@contextmanager
def _set(env: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in env}
    os.environ.update(env)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
