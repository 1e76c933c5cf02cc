"""``caching_precompile``, an option of Dynamo: what one ``torch.compile`` made, Dynamo's part too, as one entry.

torch keeps such entries in a folder of its cache, by the function's name and line. Here the entry is the artifact: a
load installs it as torch would, without that folder. C++ kernels are in it as sources alone.
"""

from __future__ import annotations

import pickle
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from torch import nn

from pcbench import snapshot, torch_api
from pcbench.errors import ArtifactError
from pcbench.strategies import Runner, Strategy, _marked, round_trip, weak_runner
from pcbench.strategies._compiled import compiled, needs_no_grad, own_function

_FILE = "entry.pickle"


def capture(model: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, bool]:
    """torch's entry for a compiled function of ``(model, args, kwargs)``, and whether inputs were marked.

    The model is called once, and left as it was.

    Raises:
        ArtifactError: torch made no entry that can be installed.
        Exception: torch's own, for a model whose guards or code it cannot serialise.
    """
    function = own_function()
    # torch looks for an entry of that name in its cache folder before it compiles: this name it cannot find.
    function.__qualname__ = f"{function.__name__}_{uuid.uuid4().hex}"
    strict = torch_api.get("dynamo_config").patch(caching_precompile=True, strict_precompile=True)
    with strict, _empty_context() as context, snapshot.preserved(model, args, kwargs):
        compiled(function)(model, args, kwargs)
        entries, _ = context.create_cache_entries()
    installable = [
        e for e in entries.values() if all(code.guarded_codes and not code.bypassed for code in e.dynamo.codes)
    ]
    if len(installable) != 1:
        raise ArtifactError(
            f"caching_precompile made {len(entries)} entries for this model, {len(installable)} of them installable",
            hint=needs_no_grad(model) or "TORCH_LOGS=+dynamo says what it dropped",
        )
    return installable[0], _marked.has_marks(args, kwargs)


def save(captured: tuple[Any, bool], folder: Path) -> None:
    """Write the entry."""
    (folder / _FILE).write_bytes(pickle.dumps(captured))


def load(folder: Path, model: nn.Module) -> Runner:
    """A function with the entry's code and guards; inputs that they refuse are compiled, as torch does.

    The compiled graph stays among the globals of the function's module, under a name that all loads of the artifact
    share.

    Raises:
        RuntimeError: The model's source is another than at the capture.
    """
    entry, marked = pickle.loads((folder / _FILE).read_bytes())
    function = own_function()
    package = torch_api.get("compile_package")(function, entry.dynamo)
    package.install(entry.backends)
    call = compiled(function)
    return weak_runner(model, _marked.taking_marks(call) if marked else call)


@contextmanager
def _empty_context() -> Iterator[Any]:
    """PrecompileContext, which is one for the process, without what others recorded; they find it again afterwards."""
    context = torch_api.get("precompile_context")
    tables = [getattr(context, name) for name in torch_api.PRECOMPILE_TABLES]
    kept = [dict(table) for table in tables]
    context.clear()
    try:
        yield context
    finally:
        for table, entries in zip(tables, kept, strict=True):
            table.clear()
            table.update(entries)


STRATEGY = Strategy(
    summary="caching_precompile: torch.compile's Dynamo entry with its Inductor code",
    weights="passed",
    probe=lambda: round_trip(capture, save, load),
    capture=capture,
    save=save,
    load=load,
    imports=("dynamo", "inductor", "compile_package"),
    takes_options=True,
)
