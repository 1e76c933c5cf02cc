"""Compiler caches that travel with an artifact, so that a first load elsewhere compiles nothing.

What ships with torch's own formats does not spare the C++ compiles on a CPU: kernels are built again, and the
instruction set is probed with the compiler. Both are found in Inductor's cache folder where it has them, under names
made from the compiler's command line: from the paths of torch and of Python's headers, and from what the compiler says
of its version.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import nn

from pcbench import torch_api
from pcbench.errors import UnavailableError
from pcbench.manifest import Caches
from pcbench.runner.artifact import Artifact
from pcbench.strategies import Runner, Strategy

_FOLDER = "caches"
_NEEDED = ("*.so", "*.so.load_ok")
"""Libraries, and that they were tried; sources and graphs are written again by a load, from the artifact."""

_PLAIN = {"cpp_cache_precompile_headers": False}
"""A precompiled header takes 150 MB and a compiler, and is part of the command line that caches are keyed by."""

_PROBE = "from pcbench import torch_api; torch_api.get('isa_list')()"

_ONE_AT_A_TIME = threading.RLock()
"""Environment variables are the process's, not a thread's."""


@contextlib.contextmanager
def capturing() -> Iterator[Callable[[Path], Caches]]:
    """Capture and save in this context; the answer gathers what was compiled in it into an artifact's folder.

    Inductor's cache folder is a new one meanwhile, so that nothing but this capture's work is in it.
    """
    probed = torch_api.get("isa_list").cache_info().currsize > 0
    with _ONE_AT_A_TIME, torch_api.get("fresh_cache")(), torch_api.get("inductor_config").patch(_PLAIN):
        place = Path(os.environ["TORCHINDUCTOR_CACHE_DIR"])
        if probed:  # torch probes the instruction set once in a process, and has done so for another folder
            subprocess.run([sys.executable, "-P", "-c", _PROBE], check=True)

        def gather(artifact: Path) -> Caches:
            return _gather(place, artifact / _FOLDER)

        yield gather


def _gather(place: Path, into: Path) -> Caches:
    for pattern in _NEEDED:
        for path in sorted(place.glob(f"??/{pattern}")):
            target = into / path.relative_to(place)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
    compiler: str = torch_api.get("cpp_compiler")()
    told = {word: _said(compiler, word) for word in ("--version", "-v")}
    return Caches(*_paths(), compiler, told)


def _paths() -> tuple[str, str]:
    return str(Path(torch.__file__).parent), sysconfig.get_path("include")


def _said(compiler: str, word: str) -> str:
    command, env = [*shlex.split(compiler), word], os.environ | {"LC_ALL": "C"}
    return subprocess.check_output(command, stderr=subprocess.STDOUT, text=True, env=env)


def load(found: Artifact, strategy: Strategy, model: nn.Module) -> Runner:
    """The runner of an opened artifact, which carries caches, from those.

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
        with _in_effect(found):
            output = runner(*args, **kwargs)
        called.set()
        return output

    return run


@contextlib.contextmanager
def _in_effect(found: Artifact) -> Iterator[None]:
    made = found.manifest.caches
    assert made is not None
    private = found.payload.parent
    with _ONE_AT_A_TIME:
        caches, tools = private / "inductor", private / "bin"
        if not caches.exists():
            carried = found.payload / _FOLDER
            if carried.is_dir():
                shutil.copytree(carried, caches)
            caches.mkdir(exist_ok=True)
            _stand_in(made, tools)
        env = {
            "TORCHINDUCTOR_CACHE_DIR": str(caches),
            "PATH": f"{tools}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        }
        config = torch_api.get("inductor_config")
        with _set(env), config.patch({**_PLAIN, "cpp.cxx": (None, made.compiler)}):
            yield


def _stand_in(made: Caches, tools: Path) -> None:
    """A program with the compiler's name that tells the version of that which built the caches.

    Whatever else it is asked for, it hands to this machine's compiler of that name, if there is one.
    """
    tools.mkdir()
    if Path(made.compiler).name != made.compiler:  # it is called by its path
        return
    for word, text in made.answers.items():
        (tools / f"said{word}").write_text(text, encoding="utf-8")
    real = shutil.which(made.compiler)
    otherwise = f'exec {shlex.quote(real)} "$@"' if real else "echo there is no compiler here >&2; exit 127"
    here = shlex.quote(str(tools))
    script = f'#!/bin/sh\ncase "$*" in --version|-v) cat {here}/"said$*";; *) {otherwise};; esac\n'
    (tools / made.compiler).write_text(script, encoding="utf-8")
    (tools / made.compiler).chmod(0o700)


@contextlib.contextmanager
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
