"""Asks the worker processes of a side: which cases the suite has, and what they measure."""

from __future__ import annotations

import itertools
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pcbench import processes
from pcbench.analysis.asv_suite import Benchmark, plain, read_suite
from pcbench.analysis.records import Case
from pcbench.errors import PcbenchError
from pcbench.processes import Ending, Message
from pcbench.sides import Ready

_WORKER = Path(processes.__file__).with_name("pair_worker")
_AS = "pcbench_pair"  # the name that the worker has in its process: `pcbench` there is what it measures
_LIST_S = 600.0
_START_S = 300.0  # a suite may import torch first
_GRACE_S = 10.0

Plan = Mapping[str, int]


@dataclass(frozen=True)
class Listed:
    """A case of the working tree's suite.

    Attributes:
        index: Which of the benchmark's cases it is; None where it has one.
        timed: Whether asv times it in blocks of calls.
        cache_key: Which ``setup_cache`` it needs, if any; its own limit is ``cache_s``.
    """

    case: Case
    benchmark: Benchmark
    index: int | None
    timeout_s: float
    cache_key: str | None = None
    cache_s: float = 60.0
    timed: bool = False

    @property
    def unit(self) -> str:
        return self.benchmark.unit

    @property
    def versioned(self) -> tuple[str, str]:
        """As :attr:`pcbench.paired.Paired.versioned` has it."""
        return (str(self.case), self.benchmark.version)


@dataclass(frozen=True)
class Told:
    """What one process said of a case: its number in the case's unit, or why it has none.

    Attributes:
        seconds: Wall seconds that the case took in all.
        blocks: Seconds per call of its blocks, where it is timed in blocks, and ``plan``, how they were laid out.
    """

    value: float | None = None
    seconds: float = 0.0
    blocks: Sequence[float] = ()
    plan: Plan | None = None
    skipped: str | None = None
    failed: str | None = None


@dataclass
class Answers:
    """What the process of a side said, by case id, and the blocks of its controls, in seconds."""

    told: dict[str, Told] = field(default_factory=dict)
    control: list[float] = field(default_factory=list)


@dataclass
class Ends:
    """One process's ends of the pipes by which two take turns; it inherits them, or they are closed.

    Attributes:
        heard, said: The descriptors; None once they are given away.
        stopped: Set where no further process is to be started.
    """

    heard: int
    said: int
    first: bool
    cpu: int
    given: bool = False
    stopped: bool = False

    def give(self) -> tuple[int, ...]:
        """The descriptors, once; nothing afterwards."""
        given, self.given = self.given, True
        return () if given else (self.heard, self.said)


def listed(ready: Ready) -> tuple[Listed, ...]:
    """All cases of the suite, as asv finds them with this side's interpreter and code.

    Raises:
        PcbenchError: The suite cannot be imported there.
    """
    messages, ending = _ask(ready, {"do": "list"}, 0, _LIST_S)
    found = next((message["benchmarks"] for message in messages if "benchmarks" in message), None)
    if found is None:
        raise PcbenchError(f"the suite {ready.suite.benchmarks} cannot be read with {ready.side.name}: {_why(ending)}")
    described: dict[str, dict[str, Any]] = {each["name"]: each for each in found}
    return tuple(
        case for name, benchmark in read_suite(described).items() for case in _cases(ready, benchmark, described[name])
    )


def _cases(ready: Ready, benchmark: Benchmark, described: Mapping[str, Any]) -> list[Listed]:
    combinations = list(itertools.product(*described["params"]))
    limit = float(described.get("timeout") or ready.suite.timeout_s)
    return [
        Listed(
            Case(described["name"], tuple(zip(benchmark.param_names, map(plain, params), strict=True))),
            benchmark,
            index if described["params"] else None,
            limit,
            described.get("setup_cache_key"),
            float(described.get("setup_cache_timeout") or limit),
            described.get("type") == "time",
        )
        for index, params in enumerate(combinations)
    ]


def measured(
    ready: Ready, cases: Sequence[Listed], plans: Mapping[str, Plan], seed: int, ends: Ends | None = None
) -> Answers:
    """Measure cases, one after another, in a fresh process with this hash seed.

    A case that takes its process down fails, and those after it get another process, which takes turns with none.

    Args:
        ends: By which the first process takes turns with the other side's, which is started at the same time.
    """
    found = Answers()
    left = []
    try:
        for case in cases:
            folder, problem = _folder(ready, case)
            if problem is None:
                left.append((case, folder))
            else:
                found.told[str(case.case)] = Told(failed=problem)
        while left and not (ends is not None and ends.stopped):
            left = _some(ready, left, plans, seed, ends, found)
    finally:
        for descriptor in () if ends is None else ends.give():
            os.close(descriptor)
    return found


def _some(
    ready: Ready,
    left: Sequence[tuple[Listed, Path]],
    plans: Mapping[str, Plan],
    seed: int,
    ends: Ends | None,
    found: Answers,
) -> list[tuple[Listed, Path]]:
    """Measure cases in one process, as far as it gets; those that it did not get to."""
    given = () if ends is None else ends.give()
    request: dict[str, Any] = {"do": "measure", "cases": [_asked(case, folder, plans) for case, folder in left]}
    if ends is not None and given:
        request["turns"] = {"heard": ends.heard, "said": ends.said, "first": ends.first, "cpu": ends.cpu}
    limit_s = _START_S + sum(case.timeout_s + 2 * _GRACE_S for case, _ in left)
    messages, ending = _ask(ready, request, seed, limit_s, inherited=given)
    for message in messages:
        if "control" in message:
            found.control += message["control"]
        elif "case" in message:
            found.told[message["case"]] = Told(**{k: v for k, v in message.items() if k != "case"})
    rest = [(case, folder) for case, folder in left if str(case.case) not in found.told]
    if not rest:
        return []
    started = next((message["starts"] for message in reversed(messages) if "starts" in message), None)
    ended = [str(case.case) for case, _ in rest] if started is None else [started]
    found.told |= {case: Told(failed=_why(ending)) for case in ended}
    return [(case, folder) for case, folder in rest if str(case.case) not in ended]


def _asked(case: Listed, folder: Path, plans: Mapping[str, Plan]) -> dict[str, Any]:
    return {
        "id": str(case.case),
        "name": case.case.benchmark,
        "index": case.index,
        "folder": str(folder),
        "timeout_s": case.timeout_s,
        "plan": plans.get(str(case.case)),
    }


def _folder(ready: Ready, case: Listed) -> tuple[Path, str | None]:
    """The folder that a case runs in, with what its ``setup_cache`` made; or why there is none. Made once a side."""
    folder = ready.folder / f"in-{re.sub(r'[^A-Za-z0-9.-]', '_', case.cache_key or 'no cache')}"
    problem = folder.with_suffix(".problem")
    if not folder.is_dir():
        folder.mkdir()
        if case.cache_key is not None:
            request = {"do": "cache", "name": case.case.benchmark}
            messages, ending = _ask(ready, request, 0, _START_S + case.cache_s, folder)
            if not any("done" in message for message in messages):
                problem.write_text(f"its setup_cache: {_why(ending)}")
    return folder, problem.read_text() if problem.is_file() else None


def _ask(
    ready: Ready,
    request: Mapping[str, Any],
    seed: int,
    limit_s: float,
    cwd: Path | None = None,
    inherited: Sequence[int] = (),
) -> tuple[list[Message], Ending]:
    asked = ready.folder / "request.json"
    asked.write_text(json.dumps({"suite": str(ready.suite.benchmarks), **request}))
    links = ready.folder / "worker"
    if not links.is_dir():
        links.mkdir()
        (links / _AS).symlink_to(_WORKER, target_is_directory=True)
    env = ready.environment(seed)
    messages: list[Message] = []
    ending = processes.run(
        [ready.python, "-P", "-m", _AS, str(asked)],
        env={**env, "PYTHONPATH": os.pathsep.join(filter(None, (env.get("PYTHONPATH"), str(links))))},
        cwd=cwd or ready.folder,
        timeout_s=limit_s,
        on_message=messages.append,
        grace_s=_GRACE_S,
        inherited=inherited,
    )
    return messages, ending


def _why(ending: Ending) -> str:
    return "it ran past its limit" if ending.timed_out else f"its process {ending.sentence()}"
