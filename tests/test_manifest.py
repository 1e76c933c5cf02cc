import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pcbench import manifest
from pcbench.errors import ArtifactError
from pcbench.manifest import Caches, File, Manifest, Platform

HERE = Platform("2.15.0", "abc", "3.9.0", "3.11.7", "cpu", "AVX2", "x86_64", 2, ("avx2", "fma3"))
CACHES = Caches("/torch", "/include", "g++", {"--version": "13", "-v": "13.1"})
MADE = Manifest("aoti", "baked", HERE, False, ("float32[2]:[1]",), (), "f", {"payload": File(7, "ab")}, CACHES)
PATH = Path("artifact", manifest.FILE)


def check(made: Manifest = MADE, here: Platform = HERE, strategy: str = "aoti") -> None:
    manifest.check(Path("artifact"), made, strategy, here)


@pytest.mark.parametrize("made", [MADE, replace(MADE, caches=None), replace(MADE, dataclasses=("a:B",), grad=True)])
def test_a_manifest_is_read_back_as_it_was_written(made: Manifest) -> None:
    assert manifest.parse(manifest.text_of(made), PATH) == made
    check(made)


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
        (replace(HERE, features=("fma3",)), "compiled on a CPU with avx2, which this one lacks"),
    ],
)
def test_an_artifact_for_something_else_is_refused_with_what_differs(here: Platform, words: str) -> None:
    with pytest.raises(ArtifactError, match=words):
        check(here=here)


def test_an_artifact_for_a_gpu_is_refused_where_there_is_none() -> None:
    with pytest.raises(ArtifactError, match="was saved for cuda, this process has none"):
        check(replace(MADE, platform=replace(HERE, device="cuda")))


def test_a_process_with_a_gpu_takes_an_artifact_for_the_cpu() -> None:
    check(here=replace(HERE, device="cuda"))


def test_a_machine_with_more_instructions_takes_the_artifact() -> None:
    check(here=replace(HERE, isa="AVX512", features=("amx", "avx2", "fma3")))


def test_another_strategys_artifact_is_refused() -> None:
    with pytest.raises(ArtifactError, match="saved by strategy aoti, not export"):
        check(strategy="export")


def test_an_artifact_of_a_strategy_that_is_not_known_is_refused() -> None:
    with pytest.raises(ArtifactError, match="saved by strategy 'aoti2', which this pcbench does not have") as refused:
        check(replace(MADE, strategy="aoti2"), strategy="aoti2")

    assert refused.value.layer == "platform"


def test_what_is_listed_is_each_file_with_its_size_and_digest(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "payload").write_bytes(b"weights")
    for name in manifest.OWN_FILES:
        (tmp_path / name).touch()

    digest = hashlib.sha256(b"weights").hexdigest()
    assert manifest.listed(tmp_path) == {"below/payload": File(7, digest)}


@pytest.mark.parametrize(
    "text",
    [
        *(b"", b"{", b"[]", b'{"format": 3}', b'{"format": 3, "platform": 3}', b"null", b"7", b'"format"', b"\xff"),
        *(b"[" * 100_000, b'{"format": ' + b"[" * 100_000, b'{"format": 1' + b"0" * 5000 + b"}"),
    ],
)
def test_a_damaged_manifest_is_refused(text: bytes) -> None:
    with pytest.raises(ArtifactError, match=r"artifact/manifest\.json is damaged: ") as refused:
        manifest.parse(text, PATH)

    assert refused.value.layer == "format"
    assert len(str(refused.value)) < 400


@pytest.mark.parametrize("version", [2, 4, "3", None, [3], True])
def test_a_manifest_of_another_format_is_refused(version: object) -> None:
    with pytest.raises(ArtifactError, match=r"has format .*, this pcbench reads 3"):
        manifest.parse(_edited(lambda fields: fields.update(format=version)), PATH)


FIELDS = [(name,) for name in json.loads(manifest.text_of(MADE)) if name != "format"]
FIELDS += [("platform", name) for name in json.loads(manifest.text_of(MADE))["platform"]]
FIELDS += [("caches", name) for name in json.loads(manifest.text_of(MADE))["caches"]]
FIELDS += [
    ("files", "payload"),
    ("files", "payload", "bytes"),
    ("files", "payload", "sha256"),
    ("caches", "answers", "-v"),
]


@pytest.mark.parametrize("field", FIELDS, ids=" ".join)
def test_a_field_of_another_type_is_refused(field: tuple[str, ...]) -> None:
    for wrong in (1.5, {"more": 1}, [[]], [None], "x" if field[-1] in _NO_TEXTS else 7.0):
        with pytest.raises(ArtifactError, match="is damaged: "):
            manifest.parse(_edited(_set(field, wrong)), PATH)


@pytest.mark.parametrize("text", ["a\x1b[2J", "a\nb", "\ud800", "a" * 5000])
@pytest.mark.parametrize("field", [("strategy",), ("platform", "torch"), ("caches", "compiler")], ids=" ".join)
def test_a_field_that_is_no_line_of_text_is_refused(field: tuple[str, ...], text: str) -> None:
    with pytest.raises(ArtifactError, match="is damaged: a field is no line of text"):
        manifest.parse(_edited(_set(field, text)), PATH)


_NO_TEXTS = ("inputs", "dataclasses", "features", "threads", "bytes", "grad", "files", "platform", "caches", "answers")


@pytest.mark.parametrize("field", FIELDS, ids=" ".join)
def test_a_field_that_is_missing_is_refused_and_so_is_one_more(field: tuple[str, ...]) -> None:
    if field[-1] not in ("payload", "-v"):
        with pytest.raises(ArtifactError, match="is damaged: "):
            manifest.parse(_edited(_without(field)), PATH)
    if field[0] != "files" and field[-1] != "-v":
        with pytest.raises(ArtifactError, match="is damaged: "):
            manifest.parse(_edited(_set((*field[:-1], "more"), 1)), PATH)


def test_what_a_stranger_wrote_reaches_no_terminal_as_it_is() -> None:
    text = manifest.text_of(MADE).replace(b'"bytes"', b'"\\u001b[2J"')

    with pytest.raises(ArtifactError) as caught:
        manifest.parse(text, Path("manifest.json"))
    assert str(caught.value).isprintable()


def _edited(edit: Callable[[dict[str, Any]], object]) -> bytes:
    fields = json.loads(manifest.text_of(MADE))
    edit(fields)
    return json.dumps(fields).encode()


def _set(field: tuple[str, ...], value: object) -> Callable[[dict[str, Any]], object]:
    return lambda fields: _holder(fields, field).update({field[-1]: value})


def _without(field: tuple[str, ...]) -> Callable[[dict[str, Any]], object]:
    return lambda fields: _holder(fields, field).pop(field[-1])


def _holder(fields: dict[str, Any], field: tuple[str, ...]) -> dict[str, Any]:
    for name in field[:-1]:
        fields = fields[name]
    return fields
