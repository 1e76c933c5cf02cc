from dataclasses import replace
from pathlib import Path

import pytest

from pcbench import manifest
from pcbench.errors import ArtifactError
from pcbench.manifest import Manifest, Platform

HERE = Platform("2.15.0", "abc", "3.9.0", "3.11.7", "cpu", "AVX2", "x86_64", 2)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    artifact = tmp_path / "artifact"
    artifact.mkdir()
    (artifact / "payload").write_bytes(b"weights")
    made = Manifest("aoti", "baked", HERE, False, ("float32[2]:[1]",), (), "f", manifest.digests(artifact))
    manifest.write(artifact, made)
    return artifact


def check(folder: Path, here: Platform = HERE, strategy: str = "aoti") -> None:
    manifest.check(folder, manifest.read(folder), strategy, here)


def test_a_manifest_is_read_back_as_it_was_written(folder: Path) -> None:
    read = manifest.read(folder)

    assert (read.strategy, read.platform, read.inputs) == ("aoti", HERE, ("float32[2]:[1]",))
    check(folder)


@pytest.mark.parametrize(
    ("here", "words"),
    [
        (replace(HERE, torch="2.14.1"), "saved with torch 2.15.0, this is 2.14.1"),
        (replace(HERE, torch_git="def"), "torch's commit abc, this is def"),
        (replace(HERE, triton=None), "triton 3.9.0, this is None"),
        (replace(HERE, python="3.12.1"), "Python 3.11.7, this is 3.12.1"),
        (replace(HERE, threads=4), r"2 CPU threads, this process has 4 .*torch.set_num_threads\(2\)"),
        (replace(HERE, isa="DEFAULT"), "compiled for AVX2, this machine has DEFAULT"),
        (replace(HERE, arch="aarch64"), "compiled for x86_64, this machine is aarch64"),
        (replace(HERE, isa="SVE256"), "compiled for AVX2"),
    ],
)
def test_an_artifact_for_something_else_is_refused_with_what_differs(folder: Path, here: Platform, words: str) -> None:
    with pytest.raises(ArtifactError, match=words):
        check(folder, here)


def test_an_artifact_for_a_gpu_is_refused_where_there_is_none(folder: Path) -> None:
    path = folder / manifest.FILE
    path.write_text(path.read_text().replace('"device": "cpu"', '"device": "cuda"'))

    with pytest.raises(ArtifactError, match="was saved for cuda, this process has none"):
        check(folder)


def test_a_process_with_a_gpu_takes_an_artifact_for_the_cpu(folder: Path) -> None:
    check(folder, replace(HERE, device="cuda"))


def test_a_machine_with_more_instructions_takes_the_artifact(folder: Path) -> None:
    check(folder, replace(HERE, isa="AVX512"))


def test_another_strategys_artifact_is_refused(folder: Path) -> None:
    with pytest.raises(ArtifactError, match="saved by strategy aoti, not export"):
        check(folder, strategy="export")


def test_a_changed_file_is_refused(folder: Path) -> None:
    (folder / "payload").write_bytes(b"weightz")

    with pytest.raises(ArtifactError, match="payload was changed"):
        check(folder)


def test_a_missing_file_is_refused(folder: Path) -> None:
    (folder / "payload").unlink()

    with pytest.raises(ArtifactError, match="lacks its file payload"):
        check(folder)


def test_a_file_that_was_added_is_refused(folder: Path) -> None:
    (folder / "more").touch()

    with pytest.raises(ArtifactError, match="more is not part of the artifact"):
        check(folder)


def test_a_folder_without_a_manifest_is_no_artifact(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match=r"it has no manifest\.json"):
        manifest.read(tmp_path)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": 2}', '{"format": 2, "platform": 3}', "null"])
def test_a_damaged_manifest_is_refused(folder: Path, text: str) -> None:
    (folder / manifest.FILE).write_text(text)

    with pytest.raises(ArtifactError, match="is damaged"):
        manifest.read(folder)


def test_a_manifest_of_a_later_format_is_refused(folder: Path) -> None:
    path = folder / manifest.FILE
    path.write_text(path.read_text().replace('"format": 2', '"format": 3'))

    with pytest.raises(ArtifactError, match="has format 3, this pcbench reads 2"):
        manifest.read(folder)
