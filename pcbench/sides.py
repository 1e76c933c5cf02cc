"""The two sides of a comparison: which code and which interpreter, made ready so that fresh processes can measure it.

A side is a commit, a folder (another checkout, or any folder with the measured packages), or ``env:NAME``, an
interpreter. The user's tree, index and refs are left alone: a commit is checked out into a folder of the comparison,
in a repository of its own that borrows the objects. The suite is the working tree's on both sides.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pcbench import interpreters, torch_envs
from pcbench.errors import PcbenchError, UnavailableError, UsageError
from pcbench.paired import Side

ENV = "env:"
"""What the name of a side that is an interpreter starts with."""

_PAGE = 4096
_LACKING = '''"""Stands for a package that the measured code lacks: no installed one is measured in its place."""

raise ModuleNotFoundError("this side has no folder {folder}", name={name!r})
'''
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
        tree = _checked_out(root, whole, folder / "tree")
    elif what.startswith(ENV) or not Path(code).is_dir():
        raise UsageError(
            f"there is no side {code}: neither a commit of the repository in {root} nor a folder",
            hint="a side is a commit, a folder (another checkout) or env:NAME (`pcbench env list` shows them)",
        )
    else:
        tree = Path(code).resolve()
        whole = _clean_commit(tree, suite)
    exposed = _exposed(tree, suite, folder / "packages", python)
    side = Side(what, whole, name, **held)
    return Ready(side, python, folder, suite, _variables(root, tree, exposed, folder))


def resolve(root: Path, commit: str) -> str | None:
    """The whole hash of a commit; None where git takes it for none."""
    return _git(root, "rev-parse", "--quiet", "--verify", "--end-of-options", f"{commit}^{{commit}}")


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
        yield


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


def _held(name: str, python: str) -> dict[str, Any]:
    """The versions of Python, torch and triton of an interpreter that can measure."""
    found = interpreters.told(python, _FACTS)
    if not found["runner"]:
        raise UnavailableError(f"the interpreter {name} has no asv_runner", hint=f"pip install asv-runner in {python}")
    # torch's own word for its version, as sidecars have it; its metadata may leave out which build it is.
    return {"python": found["python"], "torch": interpreters.facts(python).torch, "triton": found["triton"]}


def _checked_out(root: Path, commit: str, place: Path) -> Path:
    """The folder of a commit that stands where ``root`` stands in the repository."""
    objects = _git(root, "rev-parse", "--path-format=absolute", "--git-path", "objects")
    prefix = _git(root, "rev-parse", "--show-prefix")
    place.mkdir()
    if objects is None or prefix is None or _git(place, "init", "-q", "--template=", ".") is None:
        raise PcbenchError(f"git cannot borrow the objects of {root}")
    # A worktree would be an entry in the user's repository, and stay there when this process is killed.
    (place / ".git" / "objects" / "info").mkdir(parents=True, exist_ok=True)
    (place / ".git" / "objects" / "info" / "alternates").write_text(f"{objects}\n")
    words = ["git", "checkout", "-q", "--detach", commit]
    done = subprocess.run(words, cwd=place, env=_plain_git(), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["git said nothing"])[-1]
        raise PcbenchError(f"commit {commit[:8]} cannot be checked out: {last}")
    return place / prefix


def _clean_commit(tree: Path, suite: Suite) -> str | None:
    """The commit that a folder is a checkout of; None where it is none, or what is measured there was changed."""
    whole = resolve(tree, "HEAD")
    paths = [folder for folder in suite.packages.values() if (tree / folder).exists()] or ["."]
    return whole if whole is not None and _git(tree, "status", "--porcelain", "--", *paths) == "" else None


def _exposed(tree: Path, suite: Suite, links: Path, python: str) -> Path:
    """The folder to import from: the tree, or one of links to its measured packages, as asv's environment has it."""
    if not suite.packages:
        return tree
    links.mkdir()
    for package, folder in suite.packages.items():
        if (tree / folder).is_dir():
            (links / package).symlink_to(tree / folder, target_is_directory=True)
        else:
            (links / package).mkdir()
            text = _LACKING.format(folder=folder, name=package)
            (links / package / "__init__.py").write_text(text)
    # A fresh checkout has no bytecode; compiling it would fall on the first pair's clock.
    compiled = [str(links / package) for package in suite.packages]
    subprocess.run([python, "-P", "-m", "compileall", "-qq", *compiled], check=False)
    return links


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


def _plain_git() -> dict[str, str]:
    """The environment without what a git hook has in it: it would name the user's repository."""
    return {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}


def _git(folder: Path, *words: str) -> str | None:
    """What git says in a folder, or None where it fails."""
    done = subprocess.run(["git", *words], cwd=folder, env=_plain_git(), capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None
