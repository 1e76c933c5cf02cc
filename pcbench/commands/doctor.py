"""``pcbench doctor``: what this installation can do, tried for real."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from dataclasses import asdict, dataclass
from typing import Any

from pcbench import asking, discovery, machine, processes, sampling
from pcbench.asking import Setting
from pcbench.commands import Command
from pcbench.commands._progress import steps
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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare doctor's arguments."""
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")


def run(args: argparse.Namespace) -> int:
    """Try everything and print it; 2 when torch itself does not work."""
    setting, names = Setting(EAGER), discovery.strategy_names()
    with steps(1 + len(names)) as step, processes.scratch() as folder:
        step("torch, compiler, counters")
        try:
            messages = asking.ask(setting, {"do": "describe", "strategy": EAGER})
            found = next(m for m in messages if "facts" in m)
        except PcbenchError as error:
            found = {"facts": {"python": sys.version.split()[0]}, "counters": "torch does not work", "missing": []}
            torch = Finding("torch", Status.UNAVAILABLE, error.problem)
        else:
            torch = Finding("torch", Status.OK, detail=f"{found['facts']['torch']} (git {found['facts']['torch_git']})")
        tools = [torch, *_tools(found)]
        strategies = []
        for name in names:
            step(f"trying {name} on a tiny model")
            tried = sampling.probe(setting, name, folder / "caches")
            strategies.append(Finding(name, tried.status, tried.reason, tried.summary))
    if args.json:
        print(json.dumps(_json(found, tools, strategies), indent=1))
    else:
        _print(found, tools, strategies)
    return 0 if torch.status is Status.OK else 2


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


def _json(found: dict[str, Any], tools: list[Finding], strategies: list[Finding]) -> dict[str, Any]:
    facts = found["facts"]
    return {
        "schema": SCHEMA,
        "torch": facts.get("torch"),
        "torch_git": facts.get("torch_git"),
        "triton": facts.get("triton"),
        "python": facts["python"],
        "machine": machine.describe() | {"isa": facts.get("isa")},
        "tools": [asdict(tool) for tool in tools],
        "missing_torch_names": found["missing"],
        "strategies": [{"name": s.name, "status": s.status, "reason": s.reason} for s in strategies],
    }


def _print(found: dict[str, Any], tools: list[Finding], strategies: list[Finding]) -> None:
    described = machine.describe()
    print(f"Python {found['facts']['python']} on {described['cpu']}, {described['num_cpu']} CPUs, {described['ram']}")
    for title, findings in (("tools", tools), ("strategies", strategies)):
        print(f"\n{title}")
        for finding in findings:
            print(f"  {finding.name:<20} {finding.status:<12} {finding.reason or finding.detail or ''}".rstrip())
    for sentence in found["missing"]:
        print(f"\nmissing: {sentence}")


COMMAND = Command(
    help="what this installation can do: torch, compiler, counters, GPU, and each strategy, tried for real",
    add_arguments=add_arguments,
    run=run,
)
