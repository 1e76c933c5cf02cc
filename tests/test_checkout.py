"""A process that was told which checkout to measure refuses another's code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import pcbench
from pcbench import checkout
from pcbench.errors import PcbenchError

MEASURE = "from pcbench import tracking; tracking.first_output_seconds('mlp', 'eager', 'cold')"


@pytest.fixture
def links(tmp_path: Path) -> Path:
    """A checkout's two packages as asv's environment exposes them; they are no copies of this pcbench."""
    for package in checkout.PACKAGES:
        (tmp_path / "checkout" / package).mkdir(parents=True)
        (tmp_path / "checkout" / package / "__init__.py").write_text("")
        (tmp_path / "links").mkdir(exist_ok=True)
        (tmp_path / "links" / package).symlink_to(tmp_path / "checkout" / package)
    return tmp_path / "links"


def test_code_from_elsewhere_is_refused(links: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PCBENCH_CHECKOUT", str(links))

    with pytest.raises(PcbenchError, match="refused to measure: pcbench is imported from"):
        checkout.refuse_other_code()


def test_the_checkout_s_own_code_is_measured_through_links_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pcbench").symlink_to(Path(pcbench.__file__).parent)
    monkeypatch.setenv("PCBENCH_CHECKOUT", str(tmp_path))

    checkout.refuse_other_code()


def test_without_a_checkout_to_measure_any_code_will_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PCBENCH_CHECKOUT", raising=False)

    checkout.refuse_other_code()


CHILD = ["-m", "pcbench.child", json.dumps({"do": "probe", "started": 0.0}), "--answer-fd", "2"]


@pytest.mark.parametrize("command", [["-c", MEASURE], CHILD], ids=["suite", "child"])
def test_an_isolated_python_refuses_to_measure_an_installation(links: Path, command: list[str]) -> None:
    env = os.environ | {"PCBENCH_CHECKOUT": str(links), "PYTHONPATH": str(links)}

    done = subprocess.run([sys.executable, "-I", *command], env=env, capture_output=True, text=True, check=False)

    assert "refused to measure: pcbench is imported from" in done.stderr
