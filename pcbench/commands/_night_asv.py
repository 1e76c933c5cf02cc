"""Has asv measure a commit for a night."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from asv import util  # type: ignore[import-untyped]

from pcbench.commands import _asv_process
from pcbench.commands._night_ground import PROFILE, Ground, torch_of
from pcbench.errors import PcbenchError

_REPETITIONS, _REPEATED = "PCBENCH_REPETITIONS", "PCBENCH_REPEATED"
_CONF = ".asv.nightly.conf.json"


def measure(
    ground: Ground,
    commit: str,
    *,
    only: Sequence[str] = (),
    without: Sequence[str] = (),
    repeated: Sequence[str] | None = None,
    again: bool = False,
    limit_s: float | None = None,
) -> _asv_process.Ending | None:
    """Run the suite, or some of its benchmarks, on a commit; None where it selects none.

    Args:
        repeated: The benchmarks that are repeated as often as ever, where all others are less; None where all are.
        again: An earlier run was interrupted: what it measured is not measured again.

    Raises:
        PcbenchError: asv could not measure.
    """
    words = ["run", f"{commit}^!", "--machine", ground.machine, "--record-samples", "--show-stderr"]
    if only:
        words += ["--bench", rf"^(?:{_any(only)})(?:\(|$)"]
    if without:
        words += ["--bench", rf"^(?!(?:{_any(without)})(?:\(|$))"]
    if again:
        words.append("--skip-existing-successful")
    # A suite that knows the words takes fewer samples; all of it in one run, since its benchmarks share processes.
    fewer = {} if repeated is None else {_REPETITIONS: "few", _REPEATED: ",".join(repeated)}
    with _configured(ground) as config:
        ending = _asv_process.run(
            [*config, *words],
            root=ground.root,
            results=ground.results,
            log=ground.log,
            variables={PROFILE: ground.profile, **fewer},
            limit_s=limit_s,
            inherited=() if ground.lock is None else (ground.lock,),
        )
    if ending.interrupted and not ending.out_of_time:
        raise KeyboardInterrupt
    if ending.returncode not in (0, 2) and not ending.out_of_time:
        said = [line.strip() for line in ground.log.read_text().splitlines() if line.strip()]
        if any("No benchmarks selected" in line for line in said):
            return None
        raise PcbenchError(
            f"asv ended early: {said[-1] if said else 'it said nothing'}", hint=f"all that it said is in {ground.log}"
        )
    return ending


@contextmanager
def _configured(ground: Ground) -> Iterator[list[str]]:
    """Words for asv that select the build of a night over builds: its matrix may name others, and not this one.

    Such a configuration has to lie at the top of the checkout: asv works where it lies.
    """
    if ground.env is None:
        yield []
        return
    told: dict[str, Any] = util.load_json(str(ground.root / "asv.conf.json"), js_comments=True)
    matrix: dict[str, Any] = told.get("matrix") or {}
    if {"req", "env", "env_nobuild"} & set(matrix):
        matrix = {**matrix, "req": {**matrix.get("req", {}), "torch": [ground.env]}}
    else:
        matrix = {**matrix, "torch": [ground.env]}
    python, _ = torch_of(ground.conf, ground.env)
    told |= {"matrix": matrix, "shared_pythons": {ground.env: python}}
    path = ground.root / _CONF
    try:
        path.write_text(json.dumps({name: value for name, value in told.items() if name not in ("include", "exclude")}))
        yield ["--config", str(path)]
    finally:
        path.unlink(missing_ok=True)


def _any(names: Sequence[str]) -> str:
    return "|".join(re.escape(name) for name in names)
