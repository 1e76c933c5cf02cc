"""A measured process's answer when it is asked to check a claim."""

from __future__ import annotations

import importlib
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pcbench import timing
from pcbench.claims import ClaimOutcome
from pcbench.contract import DiffersError
from pcbench.errors import UnavailableError
from pcbench.strategies import one_line

Emit = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class Request:
    """What the process was asked for.

    Attributes:
        target: The claim's program, as ``package.module.function``.
        cwd: Of no account here.
    """

    target: str
    threads: int
    cwd: str


def claim(request: Request, clock: timing.PhaseClock, emit: Emit) -> None:  # noqa: ARG001  # one signature for all requests
    """Emit the claim's outcome, and the evidence as one line."""
    outcome, evidence = outcome_of(request.target, emit)
    emit({"claim": {"outcome": outcome, "evidence": " ".join(evidence.split())}})


def outcome_of(program: str, emit: Emit = lambda message: None) -> tuple[ClaimOutcome, str]:
    """What becomes of a claim in this process."""
    module, _, name = program.rpartition(".")
    try:
        emit({"stage": f"importing {module}"})
        function = getattr(importlib.import_module(module), name)
        emit({"stage": f"running {name}"})
        evidence = function()
    except DiffersError as error:
        return ClaimOutcome.DIFFERS, error.problem
    except UnavailableError as error:
        return ClaimOutcome.UNAVAILABLE, error.problem
    except Exception as error:  # a program may raise anything: what it did not foresee tells nothing of the claim
        traceback.print_exc()
        return ClaimOutcome.CRASHED, f"{one_line(error)} ({_place(error)})"
    if isinstance(evidence, str) and evidence:
        return ClaimOutcome.HOLDS, evidence
    return ClaimOutcome.CRASHED, f"it returned {evidence!r} instead of its evidence"


def _place(error: BaseException) -> str:
    """Where the claims' code was when it raised: its innermost line, else torch's."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [
        frame for frame in frames if Path(frame.filename).parent == Path(__file__).parent and frame.name != "outcome_of"
    ]
    last = [*frames, *own][-1]
    return f"line {last.lineno} of {Path(last.filename).name}"
