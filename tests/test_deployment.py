"""Each condition of ``--deploy`` holds in the process that loads, and what the load does to the artifact is told."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from users_model import Write

from pcbench import deployment, manifest, sampling, signing
from pcbench.asking import Setting
from pcbench.conditions import (
    ALL,
    CONDITIONS,
    LESSER_CPU,
    MOVED,
    NO_COMPILER,
    OTHER_OWNER,
    READ_ONLY,
)
from pcbench.errors import UnavailableError, UsageError
from pcbench.samples import EAGER
from pcbench.status import Status

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("deployment")]

LOOKING = """
import json, pathlib, shutil, sys
request = json.loads(sys.argv[1])
folder = pathlib.Path(request["artifact"])
if request["do"] == "load":
    try:
        (folder / "try").touch()
        (folder / "try").unlink()
        written = True
    except PermissionError:
        written = False
    FOUND.write_text(json.dumps({
        "written": written, "owner": folder.stat().st_uid, "compiler": shutil.which("g++"), "ls": shutil.which("ls"),
        "isa": torch.backends.cpu.get_cpu_capability(), "folder": str(folder),
    }))
"""


@pytest.fixture
def captured(write: Write, tmp_path: Path) -> tuple[Setting, Path, Path]:
    found = tmp_path / "found.json"
    setting = write(LOOKING.replace("FOUND", f"pathlib.Path({str(found)!r})"))
    capture = sampling.capture(setting, "export", tmp_path / "c", keep_state=True)
    assert (capture.status, capture.reason) == (Status.OK, None)
    return setting, tmp_path / "c", found


def test_each_condition_holds_where_the_artifact_is_loaded_or_says_why_it_cannot(
    captured: tuple[Setting, Path, Path],
) -> None:
    setting, folder, found = captured
    isa = torch.backends.cpu.get_cpu_capability()
    seen: dict[str, dict[str, Any]] = {}
    lacking: dict[str, str] = {}
    for condition in CONDITIONS:
        try:
            loaded = deployment.load(setting, "export", folder, condition, isa)
        except UnavailableError as error:
            lacking[condition] = error.problem
            continue
        assert (loaded.outcome.status, loaded.outcome.reason, loaded.wrote) == (Status.OK, None, ())
        seen[condition] = json.loads(found.read_text())

    assert {MOVED, NO_COMPILER} <= set(seen)
    assert all("root" in lacking[c] for c in lacking if c != LESSER_CPU)
    assert not any(str(folder) in there["folder"] for there in seen.values())
    assert [c for c in seen if not seen[c]["written"]] == [c for c in (READ_ONLY, OTHER_OWNER, ALL) if c in seen]
    assert [c for c in seen if seen[c]["owner"] != os.getuid()] == [c for c in (OTHER_OWNER, ALL) if c in seen]
    assert [c for c in seen if seen[c]["compiler"] is None] == [c for c in (NO_COMPILER, ALL) if c in seen]
    assert all(there["ls"] for there in seen.values())
    assert [c for c in seen if seen[c]["isa"] != isa] == [c for c in (LESSER_CPU,) if c in seen]
    assert (folder / "artifact").is_dir()


@pytest.mark.skipif(os.geteuid() != 0, reason="permission bits hold for everybody but root")
def test_permission_bits_that_do_not_hold_for_root_make_a_condition_unavailable(
    captured: tuple[Setting, Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    setting, folder, _ = captured
    for prefix, told in ((("env",), "did not take that away"), (("no-such-program",), "cannot take that away")):
        monkeypatch.setattr(deployment, "_AS_ANYBODY", prefix)
        with pytest.raises(UnavailableError, match=told):
            deployment.load(setting, "export", folder, READ_ONLY, "AVX2")


def test_machine_code_for_a_better_cpu_is_refused_in_words(captured: tuple[Setting, Path, Path]) -> None:
    setting, folder, _ = captured
    path = folder / "artifact" / manifest.FILE
    made = manifest.parse(path.read_bytes(), path)
    text = manifest.text_of(replace(made, platform=replace(made.platform, isa="AVX2")))
    path.write_bytes(text)
    path.with_name(manifest.SIGNATURE).write_text(signing.sign(text))

    refused = deployment.load(setting, "export", folder, LESSER_CPU, "AVX2").outcome
    assert refused.status is Status.LOAD_FAILED
    assert "the artifact was compiled for AVX2, this machine has DEFAULT" in str(refused.reason)


def test_a_condition_that_cannot_be_made_here_says_why(captured: tuple[Setting, Path, Path]) -> None:
    setting, folder, _ = captured

    with pytest.raises(UnavailableError, match="no instruction set below this machine's DEFAULT"):
        deployment.load(setting, "export", folder, LESSER_CPU, "DEFAULT")
    assert (folder / "artifact").is_dir()


def test_a_load_that_writes_into_its_artifact_is_told(write: Write, tmp_path: Path) -> None:
    body = "import json, sys, pathlib\nrequest = json.loads(sys.argv[1])\n"
    body += "if request['do'] == 'load': (pathlib.Path(request['artifact']) / 'left').touch()\n"
    setting = write(body)
    sampling.capture(setting, "precompile_eager", tmp_path / "c", keep_state=True)

    loaded = deployment.load(setting, "precompile_eager", tmp_path / "c", MOVED, "AVX2")
    assert loaded.wrote == ("left",)


def test_workers_load_at_once_over_one_folder_of_caches(write: Write, tmp_path: Path) -> None:
    log = tmp_path / "log"
    body = f"with open({str(log)!r}, 'a') as log: log.write(os.environ['TMPDIR'] + chr(10))\n"
    body += "time.sleep(0.5)\n"
    outcomes = sampling.load_workers(write(body), EAGER, None, "cold", 3)

    assert [outcome.status for outcome in outcomes] == [Status.OK] * 3
    folders = log.read_text().split()
    assert len(folders) == 3
    assert len(set(folders)) == 1


@pytest.mark.timeout(120)
def test_an_error_among_workers_ends_the_others(write: Write, tmp_path: Path) -> None:
    first = str(tmp_path / "first")
    setting = write(f"try:\n    os.mkdir({first!r})\nexcept FileExistsError:\n    time.sleep(500)\nelse:\n    broken\n")

    with pytest.raises(UsageError, match="name 'broken' is not defined"):
        sampling.load_workers(replace(setting, timeout_s=500), EAGER, None, "cold", 2)
