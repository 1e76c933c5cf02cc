"""A small artifact of each strategy, and the same one armed: loaded and called, it writes a file.

``python tests/artifact_bases.py FOLDER`` makes both, ``FOLDER/clean/STRATEGY`` and ``FOLDER/armed/STRATEGY``.
"""

from __future__ import annotations

import hashlib
import json
import pickle
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import torch
from torch import nn

import pcbench
from pcbench import manifest, signing, torch_api
from pcbench.manifest import Manifest

STRATEGIES = (
    "cache_artifacts",  # the first: captures before it in a process change the keys of its entries
    "export",
    "aoti",
    "aot_compile",
    "precompile_eager",
    "precompile_inductor",
    "caching_precompile",
)
CANARY = "PCBENCH_TESTS_CANARY"
"""The environment variable that names the file that an armed artifact writes when its code runs."""

_PYTHON = f"import os; open(os.environ[{CANARY!r}], 'a').close()"
_C = f"""
#include <stdio.h>
#include <stdlib.h>
__attribute__((constructor)) static void fire(void) {{ fclose(fopen(getenv("{CANARY}"), "a")); }}
"""


def build() -> nn.Module:
    """The model of every artifact; the same weights in each process."""
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 4), nn.ReLU()).eval()


def inputs() -> torch.Tensor:
    return torch.linspace(-1, 1, 8).reshape(2, 4)


class _Fires:
    def __reduce__(self) -> tuple[Callable[[str], None], tuple[str]]:
        return exec, (_PYTHON,)


def signed_again(folder: Path, *, digests: bool = True) -> None:
    """Give the artifact the signature of its manifest as it is now; with ``digests``, list its files anew before."""
    path = folder / manifest.FILE
    if digests:
        whole = replace(read(folder), files=manifest.listed(folder))
        path.write_bytes(manifest.text_of(whole))
    (folder / manifest.SIGNATURE).write_text(signing.sign(path.read_bytes()))


def read(folder: Path) -> Manifest:
    return manifest.parse((folder / manifest.FILE).read_bytes(), folder)


def make(folder: Path) -> None:
    """Save a clean and an armed artifact of each strategy."""
    torch.set_num_threads(1)
    for name in STRATEGIES:
        with torch.no_grad():
            pcbench.save(build(), inputs(), folder / "clean" / name, strategy=name)
        shutil.copytree(folder / "clean" / name, folder / "armed" / name)
        ARM[name](folder / "armed" / name)
        signed_again(folder / "armed" / name)


def _arm_entry(folder: Path) -> None:
    (folder / "entry.pickle").write_bytes(pickle.dumps(_Fires()))


def _arm_function(folder: Path) -> None:
    """The pickle behind the file's magic words and version."""
    path = folder / "function.bin"
    whole = path.read_bytes()
    path.write_bytes(whole[: whole.index(b"\x80")] + pickle.dumps(_Fires()))


def _arm_python(folder: Path) -> None:
    """The source, and the digest of it that torch keeps with the cache."""
    code, cache = folder / "code.py", folder / "cache.bin"
    source = code.read_text() + f"\n{_PYTHON}\n"
    code.write_text(source)
    envelope = torch.load(cache, weights_only=True)
    torch.save(envelope | {"code_hash": hashlib.sha256(source.encode()).hexdigest()}, cache)


def _arm_cache_artifacts(folder: Path) -> None:
    """Each entry that torch unpickles when the first call looks for it."""
    path, manager = folder / "artifacts.bin", torch_api.get("cache_artifacts")
    found = manager.deserialize(path.read_bytes())
    with manager.with_fresh_cache():
        for kind, entries in found.items():
            for entry in entries:
                manager.record_artifact(kind, entry.key, pickle.dumps(_Fires()))
        saved = torch.compiler.save_cache_artifacts()
    assert saved is not None
    path.write_bytes(saved[0])


def _arm_export(folder: Path) -> None:
    """The weights, as pickles: the archive's own table says which are."""

    def edit(name: str, content: bytes) -> bytes:
        if name.endswith("_weights_config.json"):
            table = json.loads(content)
            for entry in table["config"].values():
                entry["use_pickle"] = True
            return json.dumps(table).encode()
        return pickle.dumps(_Fires()) if "/weights/weight_" in name else content

    rewritten(folder / "model.pt2", edit)


def _arm_aoti(folder: Path) -> None:
    """Its library, by one with a constructor."""
    with tempfile.TemporaryDirectory() as place:
        source, library = Path(place, "canary.c"), Path(place, "canary.so")
        source.write_text(_C)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
        content = library.read_bytes()
    rewritten(folder / "model.pt2", lambda name, old: content if name.endswith(".so") else old)


def rewritten(path: Path, edit: Callable[[str, bytes], bytes]) -> None:
    """Write the archive again, with the content of each entry as ``edit`` makes it of its name and content."""
    with zipfile.ZipFile(path) as archive:
        entries = [(entry.filename, archive.read(entry)) for entry in archive.infolist()]
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in entries:
            archive.writestr(name, edit(name, content))


ARM: dict[str, Callable[[Path], None]] = {
    "export": _arm_export,
    "aoti": _arm_aoti,
    "aot_compile": _arm_function,
    "precompile_eager": _arm_python,
    "precompile_inductor": _arm_python,
    "cache_artifacts": _arm_cache_artifacts,
    "caching_precompile": _arm_entry,
}


if __name__ == "__main__":
    make(Path(sys.argv[1]))
