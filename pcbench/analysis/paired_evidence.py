"""What lies in files of pairs beside results: what was measured of a candidate, and pairs of the same code."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from pcbench.analysis.asv_suite import Benchmark
from pcbench.analysis.judge import Evidence
from pcbench.analysis.paired_verdicts import SameCode, same_code_of
from pcbench.analysis.policy import Policy
from pcbench.analysis.records import Run
from pcbench.paired import SUFFIX, Paired, read


def evidence(result: Path, candidate: Run, suite: Mapping[str, Benchmark], policy: Policy) -> Evidence:
    """What was measured in pairs of a candidate, by the suite's versions, whose result is at this path."""
    beside = result.with_suffix(SUFFIX)
    if not beside.is_file():
        return Evidence()
    paired: dict[str, list[Paired]] = {}
    problems: list[str] = []
    for one in read(beside, problems):
        benchmark = suite.get(one.case.partition("(")[0])
        if not one.is_canary and benchmark is not None and one.version in ("", benchmark.version):
            paired.setdefault(one.case, []).append(one)
    torch = None if candidate.context is None else candidate.context.torch
    record = same_code(newest_pairs(result.parent, policy.record_files), torch, problems)
    return Evidence(paired, record, tuple(problems))


def newest_pairs(machine: Path, count: int) -> list[Path]:
    """The files of pairs in a machine's folder that were written last."""
    files = sorted(machine.glob(f"*{SUFFIX}"), key=lambda file: (file.stat().st_mtime, file.name))
    return files[-count:]


def same_code(files: Iterable[Path], torch: str | None, problems: list[str]) -> SameCode:
    """ln ratios of pairs of the same code with this torch: what canaries on a machine have measured.

    Args:
        problems: Takes what cannot be read, in sentences.
    """
    return same_code_of(one for file in files for one in read(file, problems) if torch in (None, one.baseline.torch))
