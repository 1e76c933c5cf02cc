"""Compiler caches that travel with an artifact: a first load elsewhere compiles nothing, and no other cache changes."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
import torch
import warm
from torch import nn

from pcbench import compilers, deployment, manifest, sampling, torch_api
from pcbench.asking import Setting
from pcbench.conditions import NO_COMPILER
from pcbench.errors import ArtifactError, PcbenchError, UnavailableError
from pcbench.manifest import Caches, Manifest
from pcbench.runner import artifact, bundled, shipping
from pcbench.runner.artifact import Artifact
from pcbench.samples import BUNDLED
from pcbench.status import Status
from pcbench.strategies import Strategy

_PATHS = {"torch_path": str(Path(torch.__file__).parent), "python_include": bundled._paths()[1]}
CACHES = Caches(**_PATHS, compiler="g++", answers={"--version": "g++ 99\n", "-v": "gcc version 99\n"})

SAVES = """
import sys, torch, pcbench
from pcbench import torch_api
torch_api.get("cpu_vec_isa").valid_vec_isa_list()  # torch does not probe it again in this process
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU()).eval()
with torch.no_grad():
    pcbench.save(model, torch.ones(2, 8), sys.argv[1], strategy="cache_artifacts", with_caches=True)
"""

LOADS = """
import os, sys, torch, pcbench
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU()).eval()
places = [os.environ[name] for name in ("PATH", "TORCHINDUCTOR_CACHE_DIR")]
with torch.no_grad():
    runner = pcbench.load(sys.argv[1], model)
    first, second = runner(torch.ones(2, 8)), runner(torch.ones(2, 8))
    assert torch.allclose(first, model(torch.ones(2, 8))) and torch.equal(first, second)
assert [os.environ[name] for name in ("PATH", "TORCHINDUCTOR_CACHE_DIR")] == places
"""


FORKS = """
import os, threading
from pcbench.runner import bundled
held, done = threading.Event(), threading.Event()

def hold():
    with bundled.alone():
        held.set()
        done.wait()

threading.Thread(target=hold).start()
held.wait()
child = os.fork()
if child == 0:
    os._exit(not bundled.alone().acquire(timeout=20))
done.set()
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""


@pytest.mark.slow
@pytest.mark.xdist_group("bundled")
def test_an_artifact_with_caches_loads_where_there_is_no_compiler(tmp_path: Path) -> None:
    setting, folder = Setting("mlp"), tmp_path / "c"
    captured = sampling.capture(setting, "precompile_inductor", folder, with_caches=True)
    assert (captured.status, captured.reason) == (Status.OK, None)

    outcome = sampling.load(setting, "precompile_inductor", folder, BUNDLED)
    without = deployment.load(setting, "precompile_inductor", folder, NO_COMPILER, "AVX2", BUNDLED)

    assert (outcome.status, outcome.reason) == (Status.OK, None)
    assert (without.outcome.status, without.outcome.reason, without.wrote) == (Status.OK, None, ())


@pytest.mark.slow
@pytest.mark.xdist_group("bundled")
def test_a_process_that_has_compiled_before_saves_all_that_a_first_load_needs(
    tmp_path: Path, warm_caches: warm.Warm
) -> None:
    known = os.environ | {"TORCHINDUCTOR_CACHE_DIR": str(warm_caches("cache_artifacts") / "caches" / "inductor")}
    subprocess.run([sys.executable, "-c", SAVES, str(tmp_path / "a")], check=True, env=known)
    empty, other = tmp_path / "empty", compilers.path_without(os.environ["PATH"], tmp_path / "path")
    empty.mkdir()

    without = known | {"PATH": other, "TORCHINDUCTOR_CACHE_DIR": str(empty)}
    subprocess.run(
        [sys.executable, "-W", "error::UserWarning:pcbench", "-c", LOADS, str(tmp_path / "a")], check=True, env=without
    )

    assert list(empty.rglob("*.so")) == []


def test_options_that_a_probe_of_the_instruction_set_found_are_forgotten_before_the_next() -> None:
    known = torch_api.get("cpu_vec_isa").supported_vec_isa_list
    bundled._forget()  # what other tests have had compiled
    before = [isa.build_arch_flags() for isa in known]
    for isa in known:
        isa._is_avx512_bf16_supported = isa._is_amx_fp16_supported = True
    assert [isa.build_arch_flags() for isa in known] != before

    bundled._forget()
    assert [isa.build_arch_flags() for isa in known] == before


def opened(tmp_path: Path, caches: Caches | None) -> Artifact:
    """An artifact as it is after it was opened; its only library is a file that says so."""
    payload = tmp_path / "private" / "artifact"
    (payload / "caches" / "ab").mkdir(parents=True)
    (payload / "caches" / "ab" / "kernel.so").write_text("a library")
    made = Manifest("toy", "baked", artifact.here(), False, (), (), "f", manifest.listed(payload), caches)
    return Artifact(tmp_path / "saved", made, payload)


def looking(seen: list[str], *, retraces: bool = False) -> Strategy:
    """A strategy whose load and runner tell where Inductor's caches are, and what the compiler says of itself."""

    def look() -> None:
        place = Path(os.environ["TORCHINDUCTOR_CACHE_DIR"])
        said = subprocess.run(["g++", "--version"], capture_output=True, text=True, check=True).stdout
        (place / "written").touch()
        seen.append(f"{place / 'ab' / 'kernel.so'}: {(place / 'ab' / 'kernel.so').exists()}, {said.strip()}")

    def load(folder: Path, model: nn.Module) -> object:  # noqa: ARG001
        look()
        return look

    return Strategy("a toy", "baked", lambda: None, lambda *_: None, lambda *_: None, load, retraces=retraces)


def test_a_load_finds_the_caches_in_a_private_folder_and_the_process_has_its_own_back(tmp_path: Path) -> None:
    found, seen, before = opened(tmp_path, CACHES), [], dict(os.environ)

    bundled.load(found, looking(seen), nn.Module())

    assert seen == [f"{tmp_path}/private/inductor/ab/kernel.so: True, g++ 99"]
    assert dict(os.environ) == before
    assert set(manifest.listed(found.payload)) == {"caches/ab/kernel.so"}


@pytest.mark.parametrize(("retraces", "looks"), [(True, 2), (False, 1)])
def test_what_compiles_at_the_first_call_has_the_caches_then_and_no_later(
    tmp_path: Path, retraces: bool, looks: int
) -> None:
    seen: list[str] = []
    runner = bundled.load(opened(tmp_path, CACHES), looking(seen, retraces=retraces), nn.Module())
    if retraces:
        runner()

    assert [line.endswith("True, g++ 99") for line in seen] == [True] * looks


def test_the_stand_in_hands_other_questions_to_this_machines_compiler(tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    bundled._stand_in(CACHES, tools)
    ask = [str(tools / "g++"), "-dumpmachine"]

    assert subprocess.check_output(ask) == subprocess.check_output(["g++", "-dumpmachine"])
    assert subprocess.run([ask[0], "-v"], capture_output=True, text=True, check=True).stdout == "gcc version 99\n"


@pytest.mark.parametrize(
    ("caches", "words"),
    [
        (None, "carries no compiler caches"),
        (replace(CACHES, torch_path="/elsewhere/torch"), "made with torch in /elsewhere/torch"),
        (replace(CACHES, python_include="/elsewhere/include"), "made with Python's headers in /elsewhere/include"),
    ],
)
def test_caches_for_another_place_are_not_used_and_that_is_said(
    tmp_path: Path, caches: Caches | None, words: str
) -> None:
    with pytest.raises(UnavailableError, match=words):
        bundled.load(opened(tmp_path, caches), looking([]), nn.Module())


def test_a_copy_that_fails_is_told_and_the_next_load_has_all_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fills_the_disk(source: Path, target: Path) -> None:  # noqa: ARG001
        target.mkdir()
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    found, seen = opened(tmp_path, CACHES), []
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "copytree", fills_the_disk)
        with pytest.raises(ArtifactError, match="No space left"):
            bundled.load(found, looking(seen), nn.Module())
    bundled.load(found, looking(seen), nn.Module())

    assert [line.endswith("True, g++ 99") for line in seen] == [True]


@pytest.mark.parametrize("compiler", ["/usr/bin/g++", "ccache g++", "..", ""])
def test_a_compiler_that_is_no_plain_name_has_no_stand_in(tmp_path: Path, compiler: str) -> None:
    bundled._stand_in(replace(CACHES, compiler=compiler), tmp_path / "bin")

    assert list((tmp_path / "bin").iterdir()) == []


def test_torch_asks_the_compiler_anew_before_and_after_a_load_with_caches(tmp_path: Path) -> None:
    version = torch_api.get("cpp_builder").get_compiler_version_info
    before, said = version("g++"), []

    def load(folder: Path, model: nn.Module) -> object:  # noqa: ARG001
        said.append(version("g++"))
        return said

    bundled.load(opened(tmp_path, CACHES), replace(looking([]), load=load), nn.Module())

    assert "gcc version 99" in said[0]
    assert version("g++") == before != said[0]


def test_a_forked_child_does_not_wait_for_a_thread_of_its_parents() -> None:
    subprocess.run([sys.executable, "-W", "ignore", "-c", FORKS], check=True, timeout=120)


def test_caches_are_for_the_cpu_alone(tmp_path: Path) -> None:
    made = opened(tmp_path, None).manifest
    elsewhere = replace(made, platform=replace(made.platform, device="cuda"))

    with pytest.raises(UnavailableError, match="carried for cpu alone, and this is for cuda"):
        bundled.saving(looking([]), elsewhere)


@pytest.mark.parametrize(("mode", "refused"), [(0o777, True), (0o775, True), (0o755, False)])
def test_compiler_caches_that_others_can_write_to_are_not_taken_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int, refused: bool
) -> None:
    (tmp_path / "inductor").mkdir()
    (tmp_path / "inductor").chmod(mode)
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "inductor"))

    with pytest.raises(PcbenchError, match="other users can write") if refused else nullcontext():
        shipping._require_own_caches(looking([]))
