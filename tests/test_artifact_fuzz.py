"""Damaged artifacts of every strategy: none is taken, none runs its code, each refusal says which check it was.

The full run is ``python tests/fuzz_artifacts.py --variants 1000``.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import artifact_bases
import fuzz_artifacts
import pytest
import torch
import warm

import pcbench
from pcbench import vetting

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("fuzz"), pytest.mark.filterwarnings("ignore:.*is not checked")]

SEED, VARIANTS = 0, 100


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, warm_caches: warm.Warm) -> Iterator[Path]:
    """The artifacts that are damaged; the key that signed them is this user's meanwhile."""
    folder = tmp_path_factory.mktemp("fuzz")
    for strategy in ("aot_compile", "aoti"):
        for kept, into in (("inductor", "caches"), ("tmp", "tmp")):
            shutil.copytree(warm_caches(strategy) / "caches" / kept, folder / into, dirs_exist_ok=True)
    threads = torch.get_num_threads()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in fuzz_artifacts.environment(folder).items():
            patch.setenv(name, value)
        fuzz_artifacts.prepare(folder)
        torch.set_num_threads(1)
        yield folder
    torch.set_num_threads(threads)


def test_no_damaged_artifact_is_taken_and_no_refused_one_runs_its_code(made: Path) -> None:
    counts, faults = fuzz_artifacts.run(made, SEED, range(VARIANTS))

    assert faults == []
    assert sum(outcomes.total() for outcomes in counts.values()) == VARIANTS
    assert set().union(*counts.values()) > {"format", "signature", "paths", "files", "extra", "platform", "passed"}


def test_the_code_of_an_armed_artifact_runs_when_it_is_loaded_as_it_was_signed(made: Path) -> None:
    assert fuzz_artifacts.fired(made) == dict.fromkeys(artifact_bases.STRATEGIES, True)


def test_a_check_that_looked_away_would_be_noticed(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vetting, "_require_signature", lambda *_: None)
    monkeypatch.setattr(vetting, "_copy", lambda top, name, file, folder, into: into.touch())
    monkeypatch.setattr(fuzz_artifacts, "load", lambda made, folders, trust: dict.fromkeys(folders, "right"))

    _, faults = fuzz_artifacts.run(made, SEED, range(50))
    taken = {fault.split(", ")[2] for fault in faults if fault.endswith(": was taken")}
    assert taken >= {"bits of a file", "a file cut short"}


def test_a_variant_is_that_of_its_seed_and_number(made: Path, tmp_path: Path) -> None:
    said = []
    for place in (tmp_path / "a", tmp_path / "b"):
        each, rng = fuzz_artifacts.variant(SEED, 7)
        place.mkdir()
        folder = fuzz_artifacts.make(made, place, each, rng)
        said.append((each, {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}))

    assert said[0] == said[1]


@pytest.mark.parametrize("rows", [1, 3, 9])
def test_aoti_refuses_other_sizes_than_those_it_was_compiled_for(made: Path, rows: int) -> None:
    with torch.no_grad():
        runner = pcbench.load(made / "clean" / "aoti")
        with pytest.raises(RuntimeError, match=f"expected: 2, but got: {rows}"):
            runner(torch.ones(rows, 4))
