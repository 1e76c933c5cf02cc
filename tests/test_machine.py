"""The machine file that asv reads."""

from __future__ import annotations

import json
import platform
from pathlib import Path

from pcbench import machine


def test_a_missing_file_gets_a_complete_entry_that_no_new_kernel_changes(tmp_path: Path) -> None:
    file = tmp_path / "machines.json"

    name = machine.ensure(path=file)

    stored = json.loads(file.read_text())
    assert name == platform.node()
    assert stored["version"] == 1
    assert set(stored[name]) == {"machine", "os", "arch", "cpu", "num_cpu", "ram", "gpu"}
    assert stored[name]["os"] == platform.system()
    assert stored[name]["ram"].endswith("GB")


def test_a_user_s_entry_is_never_changed(tmp_path: Path) -> None:
    file = tmp_path / "machines.json"
    text = json.dumps({"mine": {"machine": "mine", "cpu": "special"}, "version": 1})
    file.write_text(text)

    assert machine.ensure("mine", file) == "mine"
    assert file.read_text() == text


def test_a_lone_entry_under_another_name_stays_the_one_that_asv_takes(tmp_path: Path) -> None:
    file = tmp_path / "machines.json"
    file.write_text(json.dumps({"lab": {"machine": "lab"}, "version": 1}))

    assert machine.ensure(path=file) == "lab"
    assert set(json.loads(file.read_text())) == {"lab", "version"}


def test_a_named_machine_is_added_beside_the_others(tmp_path: Path) -> None:
    file = tmp_path / "machines.json"
    file.write_text(json.dumps({"lab": {"machine": "lab"}, "version": 1}))

    assert machine.ensure("ci", file) == "ci"
    assert set(json.loads(file.read_text())) == {"lab", "ci", "version"}
