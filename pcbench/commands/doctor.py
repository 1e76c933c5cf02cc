"""``pcbench doctor``: what this installation can do, tried for real."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pcbench import asking, discovery, machine, processes, sampling, torch_envs
from pcbench.analysis.columns import aligned, grouped
from pcbench.asking import Setting
from pcbench.commands import Command
from pcbench.commands._builds import Build, add_env_argument, builds
from pcbench.commands._progress import Step, steps
from pcbench.errors import PcbenchError
from pcbench.samples import EAGER
from pcbench.status import Status

SCHEMA = 1


@dataclass(frozen=True)
class Finding:
    """One thing that was tried: OK, or UNAVAILABLE with its reason; ``detail`` says which one was found."""

    name: str
    status: Status
    reason: str | None = None
    detail: str | None = None


@dataclass(frozen=True)
class Examined:
    """What one torch build can do.

    Attributes:
        build: What the build is called.
        facts: Versions and machine facts, by name.
        missing: Names of torch that pcbench uses and this torch lacks, as sentences.
    """

    build: str
    facts: dict[str, Any]
    missing: list[str]
    tools: list[Finding]
    strategies: list[Finding]

    @property
    def torch(self) -> Finding:
        return self.tools[0]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare doctor's arguments."""
    add_env_argument(parser)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")


def run(args: argparse.Namespace) -> int:
    """Try everything and print it; 2 when torch itself does not work, in any build."""
    names = discovery.strategy_names()
    with builds(args) as found, steps(len(found) * (1 + len(names))) as step:
        examined = [_examine(build, names, step if len(found) == 1 else _named(build, step)) for build in found]
    if args.json:
        told = [_json(one) for one in examined]
        together = {"schema": SCHEMA, "builds": [{"name": one.build} | told[i] for i, one in enumerate(examined)]}
        print(json.dumps(told[0] if len(told) == 1 else together, indent=1))
    elif len(examined) == 1:
        _print(examined[0])
    else:
        _print_together(examined)
    return 0 if all(one.torch.status is Status.OK for one in examined) else 2


def _named(build: Build, step: Step) -> Step:
    return lambda what: step(f"{build.name}: {what}")


def _examine(build: Build, names: Sequence[str], step: Step) -> Examined:
    setting = build.setting(Setting(EAGER))
    with processes.scratch() as folder:
        step("torch, compiler, counters")
        try:
            messages = asking.ask(setting, {"do": "describe", "strategy": EAGER})
            found = next(m for m in messages if "facts" in m)
        except PcbenchError as error:
            python = sys.version.split()[0] if build.name == torch_envs.THIS else None
            found = {"facts": {"python": python}, "counters": "torch does not work", "missing": []}
            torch = Finding("torch", Status.UNAVAILABLE, error.problem)
        else:
            torch = Finding("torch", Status.OK, detail=f"{found['facts']['torch']} (git {found['facts']['torch_git']})")
        strategies = []
        for name in names:
            step(f"trying {name} on a tiny model")
            tried = sampling.probe(setting, name, folder / "caches")
            strategies.append(Finding(name, tried.status, tried.reason, tried.summary))
    return Examined(build.name, found["facts"], found["missing"], [torch, *_tools(found)], strategies)


def _tools(found: dict[str, Any]) -> list[Finding]:
    facts = found["facts"]
    counters = found["counters"]
    gpu = facts.get("gpu")
    return [
        _present("triton", facts.get("triton"), "triton is not installed"),
        compiler(),
        _present("valgrind", shutil.which("valgrind"), "there is no valgrind on the PATH"),
        Finding("hardware counters", Status.OK if counters is None else Status.UNAVAILABLE, counters),
        _present("GPU", gpu, "torch sees no GPU"),
    ]


def compiler() -> Finding:
    """Whether the C++ compiler that Inductor calls compiles a file: $CXX, else g++ (clang++ on macOS)."""
    wanted = os.environ.get("CXX") or ("clang++" if sys.platform == "darwin" else "g++")
    name = "C++ compiler"
    path = shutil.which(wanted)
    if path is None:
        return Finding(name, Status.UNAVAILABLE, f"there is no {wanted} on the PATH")
    with processes.scratch() as folder:
        (folder / "try.cpp").write_text("#include <vector>\nint main() { return (int)std::vector<int>(0).size(); }\n")
        command = [path, "try.cpp", "-o", "try"]
        try:
            ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
        except subprocess.TimeoutExpired:
            return Finding(name, Status.UNAVAILABLE, f"{path} did not compile a file of two lines in a minute")
        except OSError as error:
            return Finding(name, Status.UNAVAILABLE, f"{path} cannot be run: {error.strerror}")
    if ended.returncode != 0:
        said = ended.stderr.strip().splitlines() or ["it printed nothing"]
        return Finding(name, Status.UNAVAILABLE, f"{path} does not compile: {said[-1]}")
    return Finding(name, Status.OK, detail=path)


def _present(name: str, detail: str | None, reason: str) -> Finding:
    return Finding(name, Status.OK, detail=detail) if detail else Finding(name, Status.UNAVAILABLE, reason)


def _json(examined: Examined) -> dict[str, Any]:
    facts = examined.facts
    return {
        "schema": SCHEMA,
        "torch": facts.get("torch"),
        "torch_git": facts.get("torch_git"),
        "triton": facts.get("triton"),
        "python": facts["python"],
        "machine": machine.describe() | {"isa": facts.get("isa")},
        "tools": [asdict(tool) for tool in examined.tools],
        "missing_torch_names": examined.missing,
        "strategies": [{"name": s.name, "status": s.status, "reason": s.reason} for s in examined.strategies],
    }


def _print(examined: Examined) -> None:
    described = machine.describe()
    print(f"{_python(examined)} on {described['cpu']}, {described['num_cpu']} CPUs, {described['ram']}")
    for title, findings in (("tools", examined.tools), ("strategies", examined.strategies)):
        print(f"\n{title}")
        for finding in findings:
            print(f"  {finding.name:<20} {finding.status:<12} {finding.reason or finding.detail or ''}".rstrip())
    for sentence in examined.missing:
        print(f"\nmissing: {sentence}")


def _print_together(examined: Sequence[Examined]) -> None:
    """A column of status per build, then what was found and why something is not there."""
    described = machine.describe()
    print(f"{described['cpu']}, {described['num_cpu']} CPUs, {described['ram']}\n")
    columns = [[f.status.value for f in (*one.tools, *one.strategies)] for one in examined]
    names = [f.name for f in (*examined[0].tools, *examined[0].strategies)]
    rows = [("", *(one.build for one in examined)), *zip(names, *columns, strict=True)]
    print("\n".join(aligned(rows)))
    said = []
    print()
    for one in examined:
        print(f"{one.build}: torch {one.torch.detail or one.torch.reason}, {_python(one)}".rstrip())
        said += [(one.build, f"{f.name}: {f.reason}") for f in (*one.tools[1:], *one.strategies) if f.reason]
        said += [(one.build, f"missing: {sentence}") for sentence in one.missing]
    print("\n" + "\n".join(grouped(said)))


def _python(examined: Examined) -> str:
    return f"Python {examined.facts['python'] or 'unknown'}"


COMMAND = Command(
    help="what this installation can do: torch, compiler, counters, GPU, and each strategy, tried for real",
    add_arguments=add_arguments,
    run=run,
)
