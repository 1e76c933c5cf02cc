"""Whether two runs may be compared: what they ran on must be the same, or is taken out of the question."""

from __future__ import annotations

from collections.abc import Collection

from pcbench.analysis.records import Run

VARIABLE = {"torch": ("torch", "torch_git", "triton")}
"""What ``--vary`` takes out of what must match."""

_PROFILE = "PCBENCH_PROFILE"
_MACHINE = ("name", "cpu", "num_cpu", "arch", "gpu")
_CONTEXT = (
    *("torch", "torch_git", "triton", "python", "threads", "isa"),
    *("gpu", "driver", "compiler", "profile", "flags"),
)
_WORDS = {
    "name": "machine",
    "num_cpu": "number of CPUs",
    "arch": "architecture",
    "gpu": "GPU",
    "cpu": "CPU",
    "torch_git": "torch's git version",
    "threads": "number of threads",
    "isa": "instruction set",
    "compiler": "C++ compiler",
}


def difference(baseline: Run, candidate: Run, vary: Collection[str] = ()) -> str | None:
    """Why two runs cannot be compared, or None where they can.

    Args:
        vary: Names of :data:`VARIABLE`: what may differ.
    """
    for name in _MACHINE:
        one, other = getattr(baseline.machine, name), getattr(candidate.machine, name)
        if one != other:
            return _sentence(name, one, other)
    if baseline.context is None and candidate.context is None:
        # Without sidecars the environment's name is all that tells of Python and requirements.
        one, other = (_without(run.environment, vary) for run in (baseline, candidate))
        return None if one == other else _sentence("environment", one, other)
    if baseline.context is None or candidate.context is None:
        without = baseline if baseline.context is None else candidate
        return f"the result of {without.commit[:8]} has no readable sidecar: what it ran on is unknown"
    allowed = {field for name in vary for field in VARIABLE[name]}
    # A suite that has no profiles has none in its environments' names, whatever the variable said.
    profiles = any(_PROFILE in run.environment for run in (baseline, candidate))
    for name in _CONTEXT:
        if name == "profile" and not profiles:
            continue
        one, other = getattr(baseline.context, name), getattr(candidate.context, name)
        if one != other and name not in allowed:
            return _sentence(name, one, other)
    return None


def load_of(run: Run, most: float) -> str | None:
    """That other work was running when a run began, in words; None where it was below ``most`` a CPU, or is unknown."""
    load = None if run.context is None else run.context.load_average
    cpus = run.machine.num_cpu
    if load is None or cpus is None or not cpus.isdigit() or load < most * int(cpus):
        return None
    return f"the machine was busy when {run.commit[:8]} was measured, load {load:.1f} on {cpus} CPUs"


def _without(environment: str, vary: Collection[str]) -> str:
    """An environment's name without what may differ, as asv writes it: ``-torch2.14.1``."""
    named = {field for name in vary for field in VARIABLE[name]}
    return "-".join(part for part in environment.split("-") if not part.startswith(tuple(named)))


def _sentence(name: str, one: object, other: object) -> str:
    return f"another {_WORDS.get(name, name)}: {_told(one)} in the baseline, {_told(other)} now"


def _told(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key}={each}" for key, each in sorted(value.items())) or "none"
    return "unknown" if value is None or value == "" else str(value)
