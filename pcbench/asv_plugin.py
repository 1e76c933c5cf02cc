"""asv environment ``shared``: one prebuilt interpreter per torch build, a checkout per commit, no build, no install.

In asv.conf.json::

    "environment_type": "shared",
    "plugins": [".pcbench.asv_plugin"],
    "shared_pythons": {"2.15.0": "/envs/torch215/bin/python"},      (optional: see below)
    "matrix": {"req": {"torch": ["2.15.0"]},                        (optional)
               "env_nobuild": {"PCBENCH_PROFILE": ["quick", "full"]}},
    "measured_packages": {"pcbench": "pcbench", "pcbench_kernels": "kernels"}

A torch of the matrix is a key of ``shared_pythons``. Without these, an environment of ``pcbench env`` serves, by its
name or its torch's version, or the running interpreter, where it has this torch or none is asked for.

Without ``measured_packages`` the root of the checkout is on the path. With it, only a folder of links to these packages
of the commit; a package that the commit lacks cannot be imported, even where an installation has it.
"""

from __future__ import annotations

import fcntl
import functools
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

from asv import environment, util  # type: ignore[import-untyped]
from asv.console import log  # type: ignore[import-untyped]

from pcbench import asv_run, machine, sidecar, torch_envs
from pcbench.asv_interpreters import chosen, plain
from pcbench.errors import PcbenchError

_MEASURES = ("run", "setup_cache", "run_server")

# One lock per folder: environments that differ in env_nobuild share theirs, and are of one asv.
_LOCKS: dict[Path, IO[str]] = {}

# The environments of `pcbench env` that this process measures with, kept until it ends.
_HELD = ExitStack()

_LACKING = '''"""Stands for a package that the measured commit lacks: no installed one is measured in its place."""

raise ModuleNotFoundError("this commit has no folder {folder}", name={name!r})
'''


def setup() -> None:
    """What asv calls when it loads the plugin: a machine that is about to measure, and unknown to asv, is described."""
    asv_run.write_files_whole()
    if {"run", "continuous", "find"}.isdisjoint(sys.argv[1:]):
        return
    try:
        machine.ensure(asv_run.named_machine())
    except (OSError, ValueError) as error:
        log.warning(f"pcbench could not write ~/.asv-machine.json: {error}")


class Shared(environment.Environment):  # type: ignore[misc]  # asv has no types
    """See the module."""

    tool_name = "shared"
    matches_python_fallback = False

    def __init__(
        self, conf: Any, python: str, requirements: dict[str, str], tagged: dict[tuple[str, str], str]
    ) -> None:
        profile = tagged.get(("nobuild", "PCBENCH_PROFILE"))
        wanted = os.environ.get("PCBENCH_PROFILE") or "quick"
        if profile is not None and profile != wanted:
            raise environment.EnvironmentUnavailable(
                f"profile {wanted}; PCBENCH_PROFILE={profile} selects the {profile} one"
            )
        table: Mapping[str, str] = getattr(conf, "shared_pythons", {})
        self._interpreter = chosen(python, requirements.get("torch", ""), table)
        self._results = Path(conf.results_dir).resolve()
        self._packages: Mapping[str, str] = getattr(conf, "measured_packages", {})
        self._measured: str | None = None
        self._benchmark = ""
        versions = {"torch": self._interpreter.torch, "triton": self._interpreter.triton}
        # asv's own constructor reads _requirements, through dir_name, before it sets it.
        self._requirements = {name: version for name, version in versions.items() if version is not None}
        super().__init__(conf, self._interpreter.python, self._requirements, tagged)
        self._links = Path(self._path) / "packages"

    @classmethod
    def matches(cls, python: str) -> bool:  # noqa: ARG003  # only "environment_type" or -E chooses it
        return False

    def check_presence(self) -> bool:
        return Path(self._path).is_dir()

    def _setup(self) -> None:
        Path(self._path).mkdir(parents=True, exist_ok=True)

    def find_executable(self, executable: str) -> str:
        return self._interpreter.path if executable == "python" else str(util.which(executable))

    def create(self) -> None:
        super().create()
        path = Path(self._path).resolve()
        if path not in _LOCKS:
            lock = (path / "lock").open("w")
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise util.UserError(f"another asv run uses the checkout in {path}; wait for it to end") from None
            _LOCKS[path] = lock
        if self._interpreter.env is not None:
            _hold(self._interpreter.env)

    def install_project(self, conf: Any, repo: Any, commit_hash: str) -> None:  # noqa: ARG002  # asv's signature
        self.create()
        if self.installed_commit_hash != commit_hash or not Path(self._build_root).is_dir():
            self._set_installed_commit_hash(None)
            self.checkout_project(repo, commit_hash)
            self._expose()
            self._set_installed_commit_hash(commit_hash)

    def _expose(self) -> None:
        """Make the folder of links anew for the checkout as it is now."""
        shutil.rmtree(self._links, ignore_errors=True)
        self._links.mkdir()
        for package, folder in self._packages.items():
            source = self._tree() / folder
            if source.is_dir():
                (self._links / package).symlink_to(source, target_is_directory=True)
            else:
                (self._links / package).mkdir()
                text = _LACKING.format(folder=folder, name=package)
                (self._links / package / "__init__.py").write_text(text)
        # asv's checkout has no bytecode; compiling it would fall on the first sample's clock.
        linked = [str(self._links / package) for package in self._packages]
        if linked:
            subprocess.run([self._interpreter.path, "-P", "-m", "compileall", "-qq", *linked], check=False)

    def _tree(self) -> Path:
        return Path(self._build_root) / (self._repo_subdir or "")

    def run(self, args: list[str], **kwargs: Any) -> Any:
        commit = self.installed_commit_hash
        # With two environments in one folder, asv skips the installation in the second, and leaves it the old hash.
        self._set_commit_hash(commit)
        exposed = str(self._links if self._packages else self._tree())
        env = dict(kwargs.pop("env", None) or os.environ) | self._global_env_vars
        # A child of a benchmark sees PYTHONPATH alone; PYTHONSAFEPATH keeps the folder that it starts in off its path.
        env |= {"PYTHONPATH": exposed, "ASV_PYTHONPATH": exposed, "PYTHONSAFEPATH": "1"}
        env |= {"PCBENCH_CHECKOUT": exposed, "PCBENCH_TREE": str(self._tree())}
        if args[1] in _MEASURES and commit is not None:
            env |= self._begin(commit, args, env)
        try:
            return util.check_output([self._interpreter.path, *args], env=env, **kwargs)
        except KeyboardInterrupt:
            asv_run.keep_measured(self._results)
            raise

    def _begin(self, commit: str, args: list[str], env: Mapping[str, str]) -> dict[str, str]:
        """Prepare to measure a commit, once in a row; the variables that the measured process is given."""
        place = Path(self._path) / "measured"
        folder = place / f"{commit[:8]}-{env.get('PCBENCH_PROFILE', 'all')}"
        context = asv_run.context_path(self._results)
        first = self._measured != commit
        if first:
            self._measured = commit
            shutil.rmtree(place, ignore_errors=True)
            for name in ("store", "caches"):
                (folder / name).mkdir(parents=True)
        found = {
            "PCBENCH_STORE": str(folder / "store"),
            "TORCHINDUCTOR_CACHE_DIR": str(folder / "caches" / "inductor"),
            "TRITON_CACHE_DIR": str(folder / "caches" / "triton"),
        }
        named = args[3] if args[1] == "run" else None
        if named is not None:
            if named.partition("-")[0] != self._benchmark:
                self._benchmark = named.partition("-")[0]
                asv_run.keep_done(self._results)
            found["PCBENCH_BENCHMARK"] = self._benchmark
            asv_run.tell_progress(commit, self.name, named)
        if context is not None:
            if first:
                threads = asv_run.affinity(args) or len(os.sched_getaffinity(0))
                sidecar.begin(context, self._head(commit, threads, env))
            if named is not None:
                sidecar.forget(context, asv_run.case_of(named))
            found["PCBENCH_CONTEXT"] = str(context)
        return found

    def _head(self, commit: str, threads: int, env: Mapping[str, str]) -> dict[str, Any]:
        load = os.getloadavg()[0]
        facts = _torch_facts(self._interpreter.path, frozenset(plain(env).items()))
        host = {"threads": threads, "driver": machine.gpu_driver(), "load_average": load}
        return {"commit": commit, "environment": self.name, "profile": env.get("PCBENCH_PROFILE"), **facts, **host}


@functools.cache
def _hold(env: str) -> None:
    try:
        _HELD.enter_context(torch_envs.held(env))
    except PcbenchError as error:
        raise util.UserError(str(error)) from None


@functools.cache
def _torch_facts(path: str, env: frozenset[tuple[str, str]]) -> dict[str, Any]:
    script = str(Path(__file__).with_name("torch_facts.py"))
    found: dict[str, Any] = json.loads(subprocess.check_output([path, "-P", script], env=dict(env), text=True))
    return found
