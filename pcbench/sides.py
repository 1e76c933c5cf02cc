"""The two sides of a comparison: which code and which interpreter, made ready so that fresh processes can measure it.

A side is a commit, a folder (another checkout, or any folder with the measured packages), or ``env:NAME``, an
interpreter. The user's tree, index and refs are left alone: a commit is checked out into a folder of the comparison,
in a repository of its own that borrows the objects. The suite is the working tree's on both sides.
"""

from __future__ import annotations

import fcntl
import functools
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pcbench import interpreters, processes, side_trees, torch_envs
from pcbench.errors import PcbenchError, UnavailableError, UsageError
from pcbench.paired import Side

ENV = "env:"
"""What the name of a side that is an interpreter starts with."""

_PAGE = 4096
_FACTS = """
import importlib.metadata as m, importlib.util as u
def version(name):
    try: return m.version(name)
    except m.PackageNotFoundError: return None
tell(triton=version("triton"), runner=u.find_spec("asv_runner") is not None)
"""


@dataclass(frozen=True)
class Suite:
    """What asv.conf.json says of measuring.

    Attributes:
        benchmarks: The suite's folder, in the working tree.
        packages: Each measured package and its folder in a checkout; none where the checkout's root is on the path.
        pythons: Interpreters by name, ``shared_pythons``, which come before those of ``pcbench env``.
        timeout_s: Limit of a benchmark that states none.
    """

    benchmarks: Path
    packages: Mapping[str, str] = field(default_factory=dict)
    pythons: Mapping[str, str] = field(default_factory=dict)
    timeout_s: float = 60.0


@dataclass(frozen=True)
class Asked:
    """A side as :func:`prepare` is asked for it."""

    what: str
    env: str | None = None
    commit: str = "HEAD"


@dataclass(frozen=True)
class Ready:
    """A side that fresh processes can measure, while its folder lasts.

    Attributes:
        python: The interpreter's path.
        folder: The side's own: captures, compiler caches and what ``setup_cache`` makes last for the comparison.
        variables: Environment variables for its processes, beside those of this one; None takes one away.
    """

    side: Side
    python: str
    folder: Path
    suite: Suite
    variables: Mapping[str, str | None]

    def environment(self, seed: int) -> dict[str, str]:
        """The environment of a process with this hash seed."""
        mixed = {**os.environ, **self.variables, "PYTHONHASHSEED": str(seed)}
        found = {name: value for name, value in mixed.items() if value is not None}
        # Both lie below the stack and move it, and with it times by percents: both sides have the same remainder.
        size = len(self.python) + len(str(self.folder)) + sum(len(os.fsencode(f"{k}={v}")) for k, v in found.items())
        return {**found, "PCBENCH_PADDING": "-" * (-size % _PAGE)}


def prepare(
    root: Path, what: str, suite: Suite, folder: Path, *, env: str | None = None, commit: str = "HEAD"
) -> Ready:
    """Make a side ready.

    Args:
        root: The repository's folder that holds asv.conf.json.
        what: Anything that git takes as a commit; else a folder, from the current one; or ``env:NAME``.
        folder: Made for this side alone; the caller removes it, with all that is in it, when nothing runs any more.
        env: The interpreter of a commit or a folder, by its name or its torch version; by default the running one.
        commit: The code of a side that is an interpreter.

    Raises:
        UsageError: It is neither, or names two interpreters.
        PcbenchError: It cannot be checked out, or its interpreter cannot be used.
    """
    if what.startswith(ENV) and env is not None:
        raise UsageError(f"{what} names an interpreter, and so does --env {env}", hint="give one of them")
    env, code = (what.removeprefix(ENV), commit) if what.startswith(ENV) else (env, what)
    name, python = _interpreter(env, suite)
    held = _held(name, python)
    folder.mkdir(parents=True)
    whole = resolve(root, code)
    if whole is not None:
        tree = side_trees.checked_out(root, whole, folder / "tree")
    elif what.startswith(ENV) or not Path(code).is_dir():
        raise UsageError(
            f"there is no side {code}: neither a commit of the repository in {root} nor a folder",
            hint="a side is a commit, a folder (another checkout) or env:NAME (`pcbench env list` shows them)",
        )
    else:
        tree = Path(code).resolve()
        whole = side_trees.clean_commit(tree, suite.packages)
    exposed = side_trees.exposed(tree, suite.packages, folder / "packages", python)
    side = Side(what, whole, name, **held)
    return Ready(side, python, folder, suite, _variables(root, tree, exposed, folder))


def resolve(root: Path, commit: str) -> str | None:
    """The whole hash of a commit; None where git takes it for none."""
    return side_trees.resolve(root, commit)


@contextmanager
def both(root: Path, suite: Suite, folder: Path, baseline: Asked, candidate: Asked) -> Iterator[tuple[Ready, Ready]]:
    """Make the two sides of a comparison ready, and keep their interpreters meanwhile; raises as :func:`prepare`.

    Args:
        folder: The comparison's own; the caller removes it.
    """
    # Names of one length: the size of a process's environment moves its stack, and with it its times.
    one, other = (
        prepare(root, asked.what, suite, folder / name, env=asked.env, commit=asked.commit)
        for name, asked in (("a", baseline), ("b", candidate))
    )
    with kept(one, other):
        yield one, other


@contextmanager
def kept(*sides: Ready) -> Iterator[None]:
    """Keep the environments of ``pcbench env`` that the sides use from being removed or remade meanwhile."""
    names = {ready.side.env for ready in sides if ready.side.env not in (torch_envs.THIS, *ready.suite.pythons)}
    with ExitStack() as stack:
        for name in sorted(names):
            stack.enter_context(torch_envs.held(name))
        yield


@contextmanager
def alone(root: Path) -> Iterator[None]:
    """Keep other commands that measure in pairs out of this checkout: each would see the other's load.

    The processes that it measures hold the lock, too: they may outlive a command that is killed.

    Raises:
        PcbenchError: One is at it.
    """
    path = root / ".asv" / "measuring.lock"
    path.parent.mkdir(exist_ok=True)
    with path.open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise PcbenchError(f"another command measures in {root}", hint="wait for it to end") from None
        try:
            with processes.handed(lock.fileno()):
                yield
        finally:
            fcntl.flock(lock, fcntl.LOCK_UN)


def _interpreter(env: str | None, suite: Suite) -> tuple[str, str]:
    """The name and the path of an interpreter, as asv's environment ``shared`` finds it."""
    if env is None and len(suite.pythons) == 1:
        env = next(iter(suite.pythons))
    if env is not None and env in suite.pythons:
        return env, os.path.expandvars(suite.pythons[env])
    if env is None and suite.pythons:
        raise UsageError(
            f"shared_pythons in asv.conf.json has several interpreters: {', '.join(suite.pythons)}",
            hint="--env NAME chooses one",
        )
    found = torch_envs.find(env or torch_envs.THIS)
    return found.name, found.python


@functools.cache  # importing torch takes seconds, and a night makes many sides ready
def _held(name: str, python: str) -> dict[str, Any]:
    """The versions of Python, torch and triton of an interpreter that can measure."""
    found = interpreters.told(python, _FACTS)
    if not found["runner"]:
        raise UnavailableError(f"the interpreter {name} has no asv_runner", hint=f"pip install asv-runner in {python}")
    # torch's own word for its version, as sidecars have it; its metadata may leave out which build it is.
    return {"python": found["python"], "torch": interpreters.facts(python).torch, "triton": found["triton"]}


def _variables(root: Path, tree: Path, exposed: Path, folder: Path) -> dict[str, str | None]:
    for name in ("store", "inductor", "triton"):
        (folder / name).mkdir()
    return {
        "PYTHONPATH": str(exposed),
        "PYTHONSAFEPATH": "1",
        "PYTHONHOME": None,
        "PCBENCH_CHECKOUT": str(exposed),
        "PCBENCH_TREE": str(tree),
        "PCBENCH_STORE": str(folder / "store"),
        "PCBENCH_CONTEXT": str(folder / "context"),
        "PCBENCH_ONE_SAMPLE": "1",
        "TORCHINDUCTOR_CACHE_DIR": str(folder / "inductor"),
        "TRITON_CACHE_DIR": str(folder / "triton"),
        "ASV_CONF_DIR": str(root),
    }
