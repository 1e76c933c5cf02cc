"""What an asv run has in hand, and does not hand to its environments: the result, its file, its selection.

asv 0.6 gives an environment neither the machine's name nor the result, and drops a commit's results when it is
interrupted. All of it is in the local variables of asv's functions that are on the stack; ``tests/test_asv_plugin.py``
holds this against the pinned asv.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from asv import commands, runner, util  # type: ignore[import-untyped]

from pcbench import sidecar, whole_files

_PLAIN = "_pcbench_write_json"


def named_machine() -> str | None:
    """The machine that asv's command line names, or None."""
    words = sys.argv[1:]
    if not any(word.startswith(("--machine", "-m")) for word in words):
        return None
    try:
        args, _ = commands.make_argparser()[0].parse_known_args(words)
    except SystemExit:
        return None
    return getattr(args, "machine", None)


def context_path(results: Path) -> Path | None:
    """The sidecar of the result that is being measured; None where asv will not store one."""
    whole = _locals("run_benchmarks")
    if whole is None or _skips_saving():
        return None
    name: str | None = whole["results"]._filename
    return None if name is None else (results / name).with_suffix(".context")


def affinity(args: list[str]) -> int | None:
    """The number of CPUs that asv pins a measured process to, or None."""
    extra = json.loads(args[4]) if args[1] == "run" else {}
    pinned = extra.get("cpu_affinity")
    return len(pinned) if pinned else None


def case_of(named: str) -> str:
    """The sidecar's name of the case that asv measures now as ``named``, ``benchmark-index``."""
    part = _locals("run_benchmark")
    name, _, index = named.partition("-")
    if part is None or not index:
        return name
    return _case(name, list(itertools.product(*part["benchmark"]["params"]))[int(index)])


def tell_progress(commit: str, environment: str, named: str) -> None:
    """Append to the file PCBENCH_PROGRESS, if there is one, that a process starts for a benchmark (``name-index``)."""
    file = os.environ.get("PCBENCH_PROGRESS")
    if file:
        name, _, index = named.partition("-")
        line = {"commit": commit, "environment": environment, "benchmark": name, "index": int(index or 0)}
        with Path(file).open("a") as stream:
            stream.write(json.dumps(line) + "\n")


def write_files_whole() -> None:
    """Make asv write its files aside, then put them in place: it truncates them first, and a disk may be full."""
    if hasattr(util, _PLAIN):
        return
    plain = util.write_json
    setattr(util, _PLAIN, plain)

    def write_json(path: str, *args: Any, **kwargs: Any) -> None:
        with whole_files.aside(Path(path)) as beside:
            plain(str(beside), *args, **kwargs)

    util.write_json = write_json


def keep_done(results: Path) -> None:
    """Store what the present run has measured of its commit up to now: a killed asv stores nothing itself."""
    whole = _locals("run_benchmarks")
    if whole is None or _skips_saving() or whole["results"]._filename is None or not whole["benchmark_durations"]:
        return
    whole["results"].save(str(results))


def keep_measured(results: Path) -> None:
    """Store what an interrupted run has measured of the present commit; where that is nothing, leave no files of it."""
    whole, part = _locals("run_benchmarks"), _locals("run_benchmark")
    if whole is None or part is None or _skips_saving() or whole["results"]._filename is None:
        return
    found, benchmark = whole["results"], part["benchmark"]
    done = [i for i in range(len(part["result"])) if part["selected_idx"] is None or i in part["selected_idx"]]
    combinations = list(itertools.product(*benchmark["params"]))
    left = len(combinations) - len(part["result"])
    if done and left:
        told = runner.BenchmarkResult(
            # None is asv's word for failed; NaN would mean that they do not apply, and --skip-existing skips that.
            result=part["result"] + [None] * left,
            samples=part["samples"] + [None] * left,
            number=part["number"] + [None] * left,
            errcode=part["errcode"],
            stderr=part["stderr"],
            profile=None,
        )
        stored = benchmark["name"] in found.get_result_keys({benchmark["name"]: benchmark})
        found.add_result(
            benchmark, told, whole["started_at"], selected_idx=done, record_samples=whole["record_samples"]
        )
        context = context_path(results)
        if context is not None and not stored:
            for params in combinations[-left:]:
                case = _case(benchmark["name"], params)
                sidecar.add(context, case, "INTERRUPTED", "the run was interrupted before this case")
    if done or whole["benchmark_durations"]:
        found.save(str(results))
        return
    context = context_path(results)
    if context is not None and not (results / found._filename).is_file():
        context.unlink(missing_ok=True)


def _case(benchmark: str, params: Sequence[str]) -> str:
    plain = ", ".join(param.strip("'") for param in params)
    return f"{benchmark}({plain})" if params else benchmark


def _skips_saving() -> bool:
    return any(frame.get("skip_save") is True for frame in _frames())


def _locals(function: str) -> Mapping[str, Any] | None:
    """The local variables of the nearest call of asv's ``runner.function``, or None."""
    code = getattr(runner, function).__code__
    frame = sys._getframe()
    while frame is not None:
        if frame.f_code is code:
            return frame.f_locals
        frame = frame.f_back  # type: ignore[assignment]  # the outermost has none
    return None


def _frames() -> list[Mapping[str, Any]]:
    found = []
    frame = sys._getframe()
    while frame is not None:
        found.append(frame.f_locals)
        frame = frame.f_back  # type: ignore[assignment]  # as above
    return found
