"""Every private or moving name of torch that pcbench uses, with the releases on which it was seen to work.

Nothing else in pcbench spells a private torch name: it asks :func:`get`. ``pcbench doctor`` lists what is missing.
"""

from __future__ import annotations

import importlib
import sys
from functools import cache
from pathlib import Path
from typing import Any

import torch

from pcbench.errors import UnavailableError
from pcbench.torch_names import NAMES, WORDS

MARKED_DIMS, MARKED_RANGES = "_dynamo_dynamic_indices", "_dynamo_dynamic_range"
"""Attributes by which ``mark_dynamic`` leaves its marks on a tensor: a set of dims, and a set of ``dim, min, max``."""

OTHER_MARKS = ("_dynamo_unbacked_indices", "_dynamo_weak_dynamic_indices", "_dynamo_static_indices")
"""Attributes by which Dynamo's other marks are left: sets of dims."""

PRECOMPILE_TABLES = ("_backend_artifacts_by_key", "_dynamo_cache_entries")
"""Where PrecompileContext keeps what it records for the whole process."""

GUARD_FAILURES = ("GuardManager check failed", "Guard failed:")
"""What the message of a loaded function, or of an exported program, holds when its guards refuse the call."""

COMPILED_GRAPHS = "__compiled_fn"
"""How the globals that hold a function's compiled graphs begin."""

COMPILER_FAILURES = ("InvalidCxxCompiler", "CppCompileError")
"""Names of the errors by which Inductor says that no C++ compiler works."""


def frames_compiled() -> int:
    """How many frames Dynamo has compiled in this process; worth what ``require_counters("frames")`` says."""
    return int(get("dynamo_counters")["stats"]["unique_graphs"]) if _counts() else 0


def cache_misses() -> int:
    """How often a graph was in no cache of Inductor's or AOTAutograd's, or could not be looked up or kept there.

    Worth what ``require_counters("fxgraph", "aot_autograd")`` says.
    """
    if not _counts():
        return 0
    counters = get("dynamo_counters")
    caches = (counters["inductor"], "fxgraph_cache"), (counters["aot_autograd"], "autograd_cache")
    return sum(int(group[f"{name}_{end}"]) for group, name in caches for end in ("miss", "bypass"))


def _counts() -> bool:
    """Whether Dynamo is imported: before, nothing is compiled, and the import takes seconds."""
    return NAMES["dynamo_counters"].module in sys.modules


@cache
def require_counters(*keys: str) -> None:
    """Make sure that torch's counters are those that are read here: one of another name would stay 0.

    The source of torch is looked up, once per process.

    Raises:
        UnavailableError: This torch lacks :data:`WORDS` of these keys.
    """
    lacking = [reason for reason in map(lacking_word, keys) if reason is not None]
    if lacking:
        raise UnavailableError(
            f"whether torch compiled something again is unknown: {'; '.join(lacking)}",
            hint=f"seen in torch {', '.join(NAMES['dynamo_counters'].verified)}",
        )


def version() -> str:
    """The installed torch's version, without its local part: ``2.14.1`` for ``2.14.1+cu130``."""
    return torch.__version__.split("+")[0]


def get(name: str) -> Any:
    """The object behind one of :data:`NAMES`.

    Raises:
        UnavailableError: This torch has no such name.
    """
    known = NAMES[name]
    try:
        value: Any = importlib.import_module(known.module)
        for part in filter(None, known.attribute.split(".")):
            value = getattr(value, part)
    except (ImportError, AttributeError) as error:
        where = ".".join(filter(None, (known.module, known.attribute)))
        raise UnavailableError(
            f"this torch has no {where}, needed for {known.used_for}", hint=f"seen in torch {', '.join(known.verified)}"
        ) from error
    return value


def holder(name: str) -> tuple[Any, str]:
    """What holds the object behind one of :data:`NAMES`, and the attribute that it is there.

    Raises:
        UnavailableError: This torch has no such name.
    """
    get(name)
    known = NAMES[name]
    *path, attribute = known.attribute.split(".")
    value: Any = importlib.import_module(known.module)
    for part in path:
        value = getattr(value, part)
    return value, attribute


def lacking_word(key: str) -> str | None:
    """The reason why what needs :data:`WORDS` of this key is unknown on this torch; None where all of them are there.

    Nothing is imported: a parent package would be seconds and memory that are not the measured process's own.
    """
    for word in WORDS[key]:
        file = Path(torch.__file__).parent.joinpath(*word.module.split(".")[1:]).with_suffix(".py")
        try:
            source = file.read_text(encoding="utf-8")
        except FileNotFoundError:
            return f"torch {version()} has no source of a module {word.module}"
        except (OSError, UnicodeDecodeError):
            return f"the source of {word.module} cannot be read, so whether it has {word.text} is unknown"
        if f'"{word.text}' not in source:
            return f"torch {version()} has no {word.text} in {word.module}"
    return None


def missing() -> list[str]:
    """Of :data:`NAMES`, those that this torch lacks, as sentences."""
    sentences = []
    for name in NAMES:
        try:
            get(name)
        except UnavailableError as error:
            sentences.append(error.problem)
    return sentences
