"""What is kept of deployed loads and workers when measuring ends early or a condition cannot be made."""

from __future__ import annotations

from pathlib import Path

import pytest

from pcbench import deployment, sampling
from pcbench.asking import Setting
from pcbench.commands._deploying import Deploying, measure
from pcbench.commands._rounds import Measured, Plan
from pcbench.conditions import MOVED, READ_ONLY
from pcbench.errors import UnavailableError
from pcbench.samples import Capture, Outcome
from pcbench.status import Status

PLAN = Plan(Setting("mlp"), ("export",), ("cold",), 2)


@pytest.fixture
def deploying() -> Deploying:
    return Deploying(Measured(PLAN, {"export": Capture(Status.OK)}), (MOVED, READ_ONLY), 2)


def test_what_was_not_reached_has_no_row(deploying: Deploying, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(deployment, "load", interrupted)
    monkeypatch.setattr(sampling, "load_workers", interrupted)
    with pytest.raises(KeyboardInterrupt):
        measure(deploying, tmp_path, "AVX2", lambda what: None)
    deploying.conditions = ()
    with pytest.raises(KeyboardInterrupt):
        measure(deploying, tmp_path, "AVX2", lambda what: None)

    assert deploying.deployed_rows() == ()
    assert deploying.worker_rows() == ()


def test_a_condition_that_cannot_be_made_costs_its_own_cell_only(
    deploying: Deploying, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def load(*asked: object) -> deployment.Deployed:
        if READ_ONLY in asked:
            raise UnavailableError("root may write everywhere")
        return deployment.Deployed(Outcome(Status.OK))

    monkeypatch.setattr(deployment, "load", load)
    deploying.workers = 0
    measure(deploying, tmp_path, "AVX2", lambda what: None)

    assert [(row.condition, row.status, row.reason) for row in deploying.deployed_rows()] == [
        (MOVED, Status.OK, None),
        (READ_ONLY, Status.UNAVAILABLE, "root may write everywhere"),
    ]
