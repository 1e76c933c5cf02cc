"""Has asv measure a commit for a night."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from asv import util  # type: ignore[import-untyped]

from pcbench import processes, sidecar
from pcbench.analysis.context import sidecar_path
from pcbench.analysis.records import LEFT_OUT
from pcbench.commands import _asv_process
from pcbench.commands._night_ground import PROFILE, Ground, torch_of
from pcbench.errors import PcbenchError

_FEW = "PCBENCH_FEW"
_CONF = ".asv.nightly.conf.json"
_WHY = "the night's budget; a later night has its turn"


def measure(
    ground: Ground,
    commit: str,
    *,
    only: Sequence[str] = (),
    without: Sequence[str] = (),
    few: Sequence[str] = (),
    again: bool = False,
    limit_s: float | None = None,
) -> _asv_process.Ending | None:
    """Run the suite, or some of its benchmarks, on a commit; None where it selects none.

    Args:
        few: The benchmarks that are repeated less.
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
    # A suite that knows the word takes fewer samples of these; all in one run, since benchmarks share processes.
    fewer = {_FEW: ",".join(few)} if few else {}
    with _configured(ground) as config:
        ending = _asv_process.run(
            [*config, *words],
            root=ground.root,
            results=ground.results,
            log=ground.log,
            variables={PROFILE: ground.profile, **fewer},
            limit_s=limit_s,
            inherited=(*(() if ground.lock is None else (ground.lock,)), *processes.handed_now()),
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


def tell_left_out(ground: Ground, commit: str, benchmarks: Collection[str]) -> None:
    """Say in the sidecar of each result of a commit which cases the budget left out."""
    if not benchmarks:
        return
    cases = [name for name in _asv_process.case_names(ground.results) if name.partition("(")[0] in benchmarks]
    for entry in ground.entries():
        beside = sidecar_path(entry.path)
        if entry.commit == commit and ground.torch in (None, entry.torch) and beside.is_file():
            for case in cases:
                sidecar.add(beside, case, LEFT_OUT, _WHY)


def clean(root: Path) -> None:
    """Take away the configuration that a killed night left."""
    (root / _CONF).unlink(missing_ok=True)


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
