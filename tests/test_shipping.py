"""``pcbench.save`` and ``pcbench.load``: what is refused, what trust skips and says, and what becomes of the files."""

from __future__ import annotations

import gc
import json
import os
import stat
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import artifact_bases as bases
import pytest
import torch
from torch import nn

import pcbench
from pcbench import manifest, signing
from pcbench.errors import ArtifactError, UsageError

pytestmark = pytest.mark.filterwarnings("default")  # torch's own; what pcbench warns of is asked for

LOAD = """
import sys, torch, artifact_bases, pcbench
torch.set_num_threads(1)
with torch.no_grad():
    model, x = artifact_bases.build(), artifact_bases.inputs()
    assert torch.allclose(pcbench.load(sys.argv[1], model)(x), model(x))
"""


@pytest.fixture(autouse=True)
def one_thread_without_gradients() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with torch.no_grad():
        yield
    torch.set_num_threads(threads)


def save(folder: Path, strategy: str = "precompile_eager") -> Path:
    return pcbench.save(bases.build(), bases.inputs(), folder, strategy=strategy).folder


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An artifact that no test changes."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with torch.no_grad():
        folder = save(tmp_path_factory.mktemp("shipped") / "model")
    torch.set_num_threads(threads)
    return folder


def right(folder: Path, *, trust: bool = False) -> bool:
    model, x = bases.build(), bases.inputs()
    return torch.allclose(pcbench.load(folder, model, trust=trust)(x), model(x))


def test_what_is_saved_is_signed_and_can_be_read_by_its_user_alone(shipped: Path) -> None:
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (shipped, *shipped.rglob("*"))}

    assert modes == {
        "model": 0o700,
        "code.py": 0o600,
        "cache.bin": 0o600,
        "manifest.json": 0o600,
        "manifest.sig": 0o600,
    }
    assert right(shipped)


@pytest.mark.slow
def test_another_process_loads_it(shipped: Path) -> None:
    env = os.environ | {"PYTHONPATH": str(Path(__file__).parent)}

    subprocess.run([sys.executable, "-W", "ignore", "-c", LOAD, shipped], env=env, check=True)


def test_a_folder_that_is_there_is_not_written_to(shipped: Path, tmp_path: Path) -> None:
    for there in (shipped, tmp_path):
        before = sorted(there.iterdir())
        with pytest.raises(ArtifactError, match=r"exists already .remove it, or save under another name"):
            save(there)
        assert sorted(there.iterdir()) == before


def test_a_save_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(signing, "sign", full)
    with pytest.raises(ArtifactError, match=r"could not be written: No space left on device .nothing of it was kept"):
        save(tmp_path / "model")

    assert list(tmp_path.iterdir()) == []


def test_what_another_key_signed_is_refused_and_loads_with_trust_that_says_so(
    shipped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = tmp_path / "key"
    key.touch(0o600)
    key.write_text("k" * 64)
    monkeypatch.setenv(signing.KEYFILE, str(key))

    with pytest.raises(ArtifactError, match="was signed with the key") as refused:
        right(shipped)
    assert refused.value.layer == "signature"
    with pytest.warns(UserWarning, match="is not checked, and loading it runs its code"):
        assert right(shipped, trust=True)


def test_without_trust_nothing_is_warned_of(shipped: Path) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        right(shipped)

    assert not [warning for warning in caught if "is not checked" in str(warning.message)]


def test_trust_skips_no_other_check(tmp_path: Path) -> None:
    folder = save(tmp_path / "model")
    (folder / "code.py").write_text("raise SystemExit")

    with (
        pytest.warns(UserWarning, match="is not checked"),
        pytest.raises(ArtifactError, match=r"code\.py was changed") as refused,
    ):
        right(folder, trust=True)
    assert refused.value.layer == "files"


@pytest.mark.parametrize("trust", [False, True])
def test_a_refused_artifact_runs_no_code_and_a_trusted_one_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trust: bool
) -> None:
    folder, canary = save(tmp_path / "model"), tmp_path / "canary"
    monkeypatch.setenv(bases.CANARY, str(canary))
    bases.ARM["precompile_eager"](folder)
    bases.signed_again(folder)
    (folder / manifest.SIGNATURE).unlink()
    if trust:
        with pytest.warns(UserWarning, match="is not checked"):
            assert right(folder, trust=True)
    else:
        with pytest.raises(ArtifactError, match="is not signed"):
            right(folder)

    assert canary.exists() == trust


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("torch", "1.0", "was saved with torch 1.0, this is"),
        ("threads", 64, r"64 CPU threads, this process has 1 .*torch.set_num_threads\(64\)"),
        ("device", "cuda:9", "was saved for cuda:9, this process has none"),
    ],
)
def test_what_was_made_elsewhere_is_refused(tmp_path: Path, field: str, value: object, words: str) -> None:
    folder = save(tmp_path / "model")
    path = folder / manifest.FILE
    fields = json.loads(path.read_text())
    fields["platform"][field] = value
    path.write_text(json.dumps(fields))
    bases.signed_again(folder, digests=False)

    with pytest.raises(ArtifactError, match=words) as refused:
        right(folder)
    assert refused.value.layer == "platform"


def test_an_unknown_strategy_is_refused_as_any_other_artifact(tmp_path: Path) -> None:
    folder = save(tmp_path / "model")
    path = folder / manifest.FILE
    path.write_text(path.read_text().replace('"precompile_eager"', '"precompile_other"'))
    bases.signed_again(folder, digests=False)

    with pytest.raises(ArtifactError, match="'precompile_other', which this pcbench does not have"):
        right(folder)


def test_gradients_are_as_they_were_at_the_save(shipped: Path) -> None:
    with torch.enable_grad(), pytest.raises(ArtifactError, match=r"without gradients, .*torch\.no_grad\(\)"):
        right(shipped)


def test_a_strategy_whose_weights_are_passed_asks_for_the_model(shipped: Path) -> None:
    with pytest.raises(UsageError, match="takes them from the model"):
        pcbench.load(shipped)


def test_an_artifact_with_baked_weights_needs_no_model(tmp_path: Path) -> None:
    runner = pcbench.load(save(tmp_path / "model", "export"))

    assert torch.allclose(runner(bases.inputs()), bases.build()(bases.inputs()))


def test_what_becomes_of_the_folder_after_a_load_changes_nothing(tmp_path: Path) -> None:
    folder, model, x = save(tmp_path / "model"), bases.build(), bases.inputs()
    runner = pcbench.load(folder, model)
    for path in folder.iterdir():
        path.write_text("raise SystemExit")

    assert torch.allclose(runner(x), model(x))


def test_the_private_copy_is_gone_with_the_runner_and_after_a_refusal(
    shipped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    runner = pcbench.load(shipped, bases.build())
    assert len(list(tmp_path.iterdir())) == 1
    del runner
    with torch.enable_grad(), pytest.raises(ArtifactError):
        pcbench.load(shipped, bases.build())
    gc.collect()

    assert list(tmp_path.iterdir()) == []


def test_an_artifact_without_a_signature_is_refused(tmp_path: Path) -> None:
    pcbench.save(bases.build(), bases.inputs(), tmp_path / "model", strategy="export")
    (tmp_path / "model" / "manifest.sig").unlink()

    with pytest.raises(ArtifactError, match="is not signed"):
        pcbench.load(tmp_path / "model")


def test_a_strategy_that_there_is_not_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no strategy 'exprt' .did you mean 'export'"):
        pcbench.save(nn.Linear(2, 2), torch.ones(1, 2), tmp_path / "model", strategy="exprt")
